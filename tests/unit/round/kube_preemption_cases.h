// Rows about preemption: a cluster, who waits, and who leaves for whom.
//
// Threads: values.

#ifndef SLUICE_TESTS_UNIT_ROUND_KUBE_PREEMPTION_CASES_H_
#define SLUICE_TESTS_UNIT_ROUND_KUBE_PREEMPTION_CASES_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sluice/state/disruption_budget.h"
#include "util/peer_builder.h"

namespace sluice {

// As Kubernetes counts them: 0 is what a pod has that names no class.
inline constexpr int32_t kBelow = -50;
inline constexpr int32_t kLow = 0;
inline constexpr int32_t kMid = 500;
inline constexpr int32_t kHigh = 2000;
inline constexpr int32_t kTop = 9000;

struct KubeNode {
  std::string name;
  int64_t cpu = 1000;
  int64_t pods = 110;
  int64_t memory = 1000;
  LabelPairs labels = {};
  std::vector<Taint> taints = {};
};

// Those that are interchangeable may have one name.
struct KubePod {
  std::string name;
  int64_t cpu = 0;
  int32_t priority = kLow;
  std::string node = {};  // "": it waits.
  int64_t started = 0;    // Milliseconds.
  int64_t memory = 0;
  LabelPairs labels = {};
  PlacementRules rules = {};
  std::string job = "job";
  Gang gang = {};
  bool is_ending = false;  // For whatever reason.
};

// "stop v", "start p on n", and "keep n for p" while room is kept.
using Outcome = std::multiset<std::string>;

// What happens, and what a round makes of it.
struct KubeStep {
  bool victims_end = false;  // All that were told to leave.
  std::vector<std::string> ended = {};
  std::vector<std::string> nodes_gone = {};
  std::vector<KubeNode> nodes_changed = {};
  std::vector<KubeNode> nodes = {};
  std::vector<KubePod> waiting = {};
  std::vector<Outcome> outcomes;  // One of these.
};

struct KubeBudget {
  TaskSelector pods;
  DisruptionBudget::Limit limit = DisruptionBudget::Limit::kMinAvailable;
  int64_t amount = 0;
};

struct KubeRow {
  const char* name;
  std::vector<KubeNode> nodes;
  std::vector<KubePod> running = {};
  std::vector<KubeBudget> budgets = {};
  std::vector<KubePod> waiting;
  std::vector<Outcome> outcomes;  // One of these.
  // What the next round comes to though nothing has happened: one of these, or
  // else what is kept.
  std::vector<Outcome> next = {};
  std::vector<KubeStep> later = {};
  bool may_preempt = true;
  bool breaks_budgets = false;
  // Where that is not what kube-scheduler does: what it does, and why not.
  std::vector<Outcome> kubes = {};
  const char* why = "";
};

inline std::ostream& operator<<(std::ostream& out, const KubeRow& row) {
  return out << row.name;
}

// Comes to what the row says.
class KubePreemption : public testing::TestWithParam<KubeRow> {};

inline const Outcome kNothing = {};

inline PlacementRules OnlyOn(std::string label) {
  return {.selectors = {LabelExists(std::move(label))}};
}
inline PlacementRules Meek(PlacementRules rules = {}) {
  rules.never_preempts = true;
  return rules;
}

}  // namespace sluice

#endif  // SLUICE_TESTS_UNIT_ROUND_KUBE_PREEMPTION_CASES_H_
