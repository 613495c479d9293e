// How many of some tasks may be stopped at a time for ones that are more
// urgent: Kubernetes' PodDisruptionBudget.
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
    kMinAvailable = 0,    // So many stay available.
    kMaxUnavailable = 1,  // So many at most are not available.
  };

  // Absent: those of the job that has the budget.
  std::optional<TaskSelector> tasks = {};
  Limit limit = Limit::kMinAvailable;
  int64_t amount = 0;  // Of tasks, or per cent of all of them, rounded up.
  bool is_percent = false;
  // How many tasks there are to be; 0: as many as have not ended.
  int64_t expected = 0;
  // How many more may be stopped by its client's own account.
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
