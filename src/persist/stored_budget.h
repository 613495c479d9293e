// Disruption budgets as they are stored, and back.
//
// Errors are those of persist/stored_rules.h.
//
// Threads: pure functions.

#ifndef SLUICE_PERSIST_STORED_BUDGET_H_
#define SLUICE_PERSIST_STORED_BUDGET_H_

#include "absl/status/statusor.h"
#include "sluice/state/disruption_budget.h"
#include "sluice/v1/store.pb.h"

namespace sluice {

v1::StoredBudget Encode(const DisruptionBudget& budget);
absl::StatusOr<DisruptionBudget> Decode(const v1::StoredBudget& stored);

}  // namespace sluice

#endif  // SLUICE_PERSIST_STORED_BUDGET_H_
