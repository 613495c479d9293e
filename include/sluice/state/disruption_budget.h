// How many of some tasks may be stopped at a time for more urgent ones:
// Kubernetes' PodDisruptionBudget.
//
// Threads: values.

#ifndef SLUICE_STATE_DISRUPTION_BUDGET_H_
#define SLUICE_STATE_DISRUPTION_BUDGET_H_

#include <compare>
#include <cstdint>
#include <optional>

#include "sluice/state/peer_terms.h"

namespace sluice {

struct DisruptionBudget {
  enum class Limit : uint8_t {
    kMinAvailable = 0,    // At least `amount` stay available.
    kMaxUnavailable = 1,  // At most `amount` are unavailable.
  };

  // Absent: the tasks of the job that has the budget.
  std::optional<TaskSelector> tasks = {};
  Limit limit = Limit::kMinAvailable;
  int64_t amount = 0;  // Of tasks, or percent of all, rounded up.
  bool is_percent = false;
  // How many tasks there should be; 0: as many as have not ended.
  int64_t expected = 0;
  // How many more may be stopped, as its client counts them.
  std::optional<int64_t> allowed = {};

  template <class Self, class Visitor>
  static void VisitFields(Self& self, Visitor& visit) {
    visit("tasks", self.tasks);
    visit("limit", self.limit, Limit::kMaxUnavailable);
    visit("amount", self.amount, 0);
    visit("is_percent", self.is_percent);
    visit("expected", self.expected, 0);
    visit("allowed", self.allowed, 0);
  }

  friend auto operator<=>(const DisruptionBudget&,
                          const DisruptionBudget&) = default;
};

}  // namespace sluice

#endif  // SLUICE_STATE_DISRUPTION_BUDGET_H_
