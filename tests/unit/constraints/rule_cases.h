// Rules and machines in a line, for the tests of what one makes of the other.
//
// Threads: values.

#ifndef SLUICE_TESTS_UNIT_CONSTRAINTS_RULE_CASES_H_
#define SLUICE_TESTS_UNIT_CONSTRAINTS_RULE_CASES_H_

#include <string>
#include <utility>
#include <vector>

#include "constraints/constraint_set.h"
#include "util/cluster_builder.h"

namespace sluice {

inline NodeTerm Term(std::vector<LabelRequirement> labels,
                     std::vector<LabelRequirement> fields = {}) {
  return {std::move(labels), std::move(fields)};
}

inline PlacementRules Selecting(std::vector<LabelRequirement> selectors) {
  PlacementRules rules;
  rules.selectors = std::move(selectors);
  return rules;
}
inline PlacementRules Requiring(std::vector<NodeTerm> terms) {
  PlacementRules rules;
  rules.required = std::move(terms);
  return rules;
}
inline PlacementRules Preferring(std::vector<PreferredTerm> terms) {
  PlacementRules rules;
  rules.preferred = std::move(terms);
  return rules;
}
inline PlacementRules Tolerating(std::vector<Toleration> tolerations) {
  PlacementRules rules;
  rules.tolerations = std::move(tolerations);
  return rules;
}
inline PlacementRules Listening(std::vector<HostPort> ports) {
  PlacementRules rules;
  rules.host_ports = std::move(ports);
  return rules;
}

// REQUIRES: ascending keys.
inline Machine Labeled(LabelPairs labels) {
  Machine machine;
  machine.labels = std::move(labels);
  return machine;
}
inline Machine Named(std::string name) {
  Machine machine;
  machine.name = std::move(name);
  return machine;
}
inline Machine Tainted(const std::vector<Taint>& taints) {
  Machine machine;
  for (const Taint& taint : taints) machine.taints.push_back({taint, 0});
  return machine;
}
inline Machine Used(std::vector<HostPort> ports) {
  Machine machine;
  machine.used_host_ports = std::move(ports);
  return machine;
}

// By all constraints.
inline bool IsAllowed(const PlacementRules& rules, const Machine& machine,
                      const Resources& request = {}) {
  return ConstraintSet().Allows(
      {.priority = 0, .request = request, .rules = &rules}, machine);
}

// "code | text | lacks" of each reason.
inline std::vector<std::string> ReasonsFor(const PlacementRules& rules,
                                           const Machine& machine) {
  const std::string no_resource;
  std::vector<Reason> reasons;
  ConstraintSet().Explain(
      {.priority = 0, .request = {}, .rules = &rules}, machine,
      [&](ResourceIndex) -> const std::string& { return no_resource; },
      &reasons);
  std::vector<std::string> texts;
  for (const Reason& reason : reasons) {
    texts.push_back(
        StrCat(reason.code, " | ", reason.text, " | ", reason.lacks));
  }
  return texts;
}

}  // namespace sluice

#endif  // SLUICE_TESTS_UNIT_CONSTRAINTS_RULE_CASES_H_
