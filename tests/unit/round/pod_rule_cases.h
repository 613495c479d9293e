// Rows about pods that depend on pods: where a newcomer may go beside what
// runs.
//
// Threads: values.

#ifndef SLUICE_TESTS_UNIT_ROUND_POD_RULE_CASES_H_
#define SLUICE_TESTS_UNIT_ROUND_POD_RULE_CASES_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "util/peer_builder.h"

namespace sluice {

inline constexpr char kHost[] = "kubernetes.io/hostname";
inline constexpr uint64_t kNewcomer = 1000;

struct Node {
  std::string uuid;
  LabelPairs labels = {};
  std::vector<Taint> taints = {};
  bool is_departed = false;
};

struct Pod {
  LabelPairs labels = {};
  PlacementRules rules = {};
  std::string task_namespace = kNamespace;
  LabelPairs namespace_labels = {};
  std::string job = "job";
};

struct RunningPod {
  std::string node;
  Pod pod = {};
  bool is_terminating = false;
};

struct Row {
  const char* name;
  std::vector<Node> nodes;
  std::vector<RunningPod> running;
  Pod newcomer;
  std::set<std::string> allowed;  // Where it may go.
};

inline std::ostream& operator<<(std::ostream& out, const Row& row) {
  return out << row.name;
}

// May go where the row says, and nowhere else.
class PodRules : public testing::TestWithParam<Row> {};
// Goes where the row says, of all the places that it may.
class PodScore : public testing::TestWithParam<Row> {};

// Two nodes in zone a, one in zone b, one in no zone.
inline const std::vector<Node> kNodes = {{"a1", {{kHost, "a1"}, {"zone", "a"}}},
                                         {"a2", {{kHost, "a2"}, {"zone", "a"}}},
                                         {"b1", {{kHost, "b1"}, {"zone", "b"}}},
                                         {"x1", {{kHost, "x1"}}}};
inline const std::set<std::string> kEverywhere = {"a1", "a2", "b1", "x1"};
inline const std::set<std::string> kNowhere = {};

inline const TaskSelector kNoTask = {.namespaces = {kNamespace}};
inline const TaskSelector kAnyTask = TasksWith({});
inline const LabelRequirement kIsWeb = LabelIn("app", {"web"});
inline const LabelRequirement kIsFront = LabelIn("tier", {"front"});

inline Pod Near(std::vector<PeerTerm> terms, LabelPairs labels = {}) {
  return {std::move(labels), {.affinity = std::move(terms)}};
}
inline Pod AwayFrom(std::vector<PeerTerm> terms, LabelPairs labels = {}) {
  return {std::move(labels), {.anti_affinity = std::move(terms)}};
}
inline Pod Labeled(LabelPairs labels) { return {std::move(labels)}; }
inline Pod InNamespace(std::string name, Pod pod, LabelPairs labels = {}) {
  pod.task_namespace = std::move(name);
  pod.namespace_labels = std::move(labels);
  return pod;
}
inline Pod OfJob(std::string job) { return {.job = std::move(job)}; }

inline const Pod kWeb = Labeled({{"app", "web"}});
inline const Pod kDb = Labeled({{"app", "db"}});
inline const Pod kFrontWeb = Labeled({{"app", "web"}, {"tier", "front"}});

inline Pod SpreadOut(std::vector<SpreadConstraint> constraints,
                     LabelPairs labels = {{"app", "web"}}) {
  return {std::move(labels), {.spread = std::move(constraints)}};
}
inline SpreadConstraint ScheduleAnyway(SpreadConstraint constraint) {
  constraint.is_required = false;
  return constraint;
}
inline const SpreadConstraint kOverZones = Spread(App("web"), "zone");
inline const SpreadConstraint kOverHosts = Spread(App("web"), kHost);

}  // namespace sluice

#endif  // SLUICE_TESTS_UNIT_ROUND_POD_RULE_CASES_H_
