#include "persist/stored_budget.h"

#include "base/status_macros.h"
#include "persist/stored_peers.h"
#include "persist/stored_requirements.h"

namespace sluice {

v1::StoredBudget Encode(const DisruptionBudget& budget) {
  v1::StoredBudget stored;
  if (budget.tasks.has_value()) *stored.mutable_tasks() = Encode(*budget.tasks);
  stored.set_limit(static_cast<int32_t>(budget.limit));
  stored.set_amount(budget.amount);
  stored.set_is_percent(budget.is_percent);
  stored.set_expected(budget.expected);
  if (budget.allowed.has_value()) stored.set_allowed(*budget.allowed);
  return stored;
}

absl::StatusOr<DisruptionBudget> Decode(const v1::StoredBudget& stored) {
  if (stored.amount() < 0 || stored.expected() < 0 ||
      (stored.has_allowed() && stored.allowed() < 0)) {
    return Damaged("a number of its disruption budget is negative");
  }
  DisruptionBudget budget;
  if (stored.has_tasks()) {
    ASSIGN_OR_RETURN(budget.tasks, Decode(stored.tasks()));
  }
  ASSIGN_OR_RETURN(budget.limit,
                   ToEnum("the limit of a disruption budget", stored.limit(),
                          DisruptionBudget::Limit::kMaxUnavailable));
  budget.amount = stored.amount();
  budget.is_percent = stored.is_percent();
  budget.expected = stored.expected();
  if (stored.has_allowed()) budget.allowed = stored.allowed();
  return budget;
}

}  // namespace sluice
