// Short ways to write what a task says about other tasks.
//
//   PlacementRules{.anti_affinity = {{TasksWith({LabelIn("app", {"web"})}),
//                                     "zone"}}}
//
// What a test does not name: the namespace is "ns", for tasks and selectors.
//
// Threads: values.

#ifndef SLUICE_TESTS_UTIL_PEER_BUILDER_H_
#define SLUICE_TESTS_UTIL_PEER_BUILDER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "util/cluster_builder.h"
#include "util/rules_builder.h"

namespace sluice {

inline constexpr char kNamespace[] = "ns";

// The tasks of the namespaces whose labels meet all requirements.
inline TaskSelector TasksWith(std::vector<LabelRequirement> labels,
                              std::vector<std::string> namespaces = {
                                  kNamespace}) {
  return {.labels = InOrder(std::move(labels)),
          .namespaces = InOrder(std::move(namespaces))};
}
// The tasks with the label "app".
inline TaskSelector App(std::string value) {
  return TasksWith({LabelIn("app", {std::move(value)})});
}
// The tasks, of any namespace, whose job's name matches the pattern.
inline TaskSelector TasksOfJob(std::string pattern) {
  return {.labels = std::vector<LabelRequirement>(),
          .namespace_labels = std::vector<LabelRequirement>(),
          .job = std::move(pattern)};
}

// A required constraint.
inline SpreadConstraint Spread(TaskSelector tasks, std::string topology_key,
                               int32_t max_skew = 1) {
  return {.term = {std::move(tasks), std::move(topology_key)},
          .max_skew = max_skew};
}

struct PeerOptions {
  std::string task_namespace = kNamespace;
  LabelPairs namespace_labels = {};
  Gang gang = {};
};

SubmitTask Submitted(uint64_t uid, const TaskOptions& options,
                     const PeerOptions& peers);

}  // namespace sluice

#endif  // SLUICE_TESTS_UTIL_PEER_BUILDER_H_
