// Short ways to write requirements, taints, tolerations and host ports.
//
//   PlacementRules{.selectors = {LabelIn("disk", {"ssd"})},
//                  .tolerations = {Tolerates(NoExecute("down"), 300)}}
//
// Threads: values.

#ifndef SLUICE_TESTS_UTIL_RULES_BUILDER_H_
#define SLUICE_TESTS_UTIL_RULES_BUILDER_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "sluice/state/placement_rules.h"

namespace sluice {

inline LabelRequirement LabelIn(std::string key,
                                std::vector<std::string> values) {
  return {std::move(key), LabelOperator::kIn, std::move(values)};
}
inline LabelRequirement LabelNotIn(std::string key,
                                   std::vector<std::string> values) {
  return {std::move(key), LabelOperator::kNotIn, std::move(values)};
}
inline LabelRequirement LabelExists(std::string key) {
  return {std::move(key), LabelOperator::kExists, {}};
}
inline LabelRequirement LabelDoesNotExist(std::string key) {
  return {std::move(key), LabelOperator::kDoesNotExist, {}};
}
inline LabelRequirement LabelAbove(std::string key, int64_t bound) {
  return {std::move(key), LabelOperator::kGreaterThan, {StrCat(bound)}};
}
inline LabelRequirement LabelBelow(std::string key, int64_t bound) {
  return {std::move(key), LabelOperator::kLessThan, {StrCat(bound)}};
}
inline LabelRequirement LabelInvalid(std::string key, std::string reason) {
  return {std::move(key), LabelOperator::kInvalid, {std::move(reason)}};
}
// The requirement of a NodeTerm's `fields`.
inline LabelRequirement NameIs(std::string name) {
  return LabelIn("metadata.name", {std::move(name)});
}
inline LabelRequirement NameIsNot(std::string name) {
  return LabelNotIn("metadata.name", {std::move(name)});
}

inline Taint NoSchedule(std::string key, std::string value = {}) {
  return {std::move(key), std::move(value), TaintEffect::kNoSchedule};
}
inline Taint PreferNoSchedule(std::string key, std::string value = {}) {
  return {std::move(key), std::move(value), TaintEffect::kPreferNoSchedule};
}
inline Taint NoExecute(std::string key, std::string value = {}) {
  return {std::move(key), std::move(value), TaintEffect::kNoExecute};
}

// Of exactly this taint.
inline Toleration Tolerates(const Taint& taint) {
  return {.key = taint.key, .value = taint.value, .effect = taint.effect};
}
// For so long.
inline Toleration Tolerates(const Taint& taint, int64_t seconds) {
  Toleration toleration = Tolerates(taint);
  toleration.seconds = seconds;
  return toleration;
}
// Of any value and effect.
inline Toleration ToleratesKey(std::string key) {
  return {.key = std::move(key), .op = TolerationOperator::kExists};
}
inline Toleration ToleratesEverything() { return ToleratesKey(""); }

inline HostPort TcpPort(int32_t port, std::string address = "0.0.0.0") {
  return {"TCP", std::move(address), port};
}
inline HostPort UdpPort(int32_t port, std::string address = "0.0.0.0") {
  return {"UDP", std::move(address), port};
}

// Ascending, none twice.
template <class T>
std::vector<T> InOrder(std::vector<T> items) {
  std::ranges::sort(items);
  items.erase(std::unique(items.begin(), items.end()), items.end());
  return items;
}

PlacementRules InOrder(PlacementRules rules);

}  // namespace sluice

#endif  // SLUICE_TESTS_UTIL_RULES_BUILDER_H_
