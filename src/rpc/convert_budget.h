// Converts the messages of disruption budgets to what the state keeps
// (sluice/state/disruption_budget.h).
//
// Threads: pure functions.

#ifndef SLUICE_RPC_CONVERT_BUDGET_H_
#define SLUICE_RPC_CONVERT_BUDGET_H_

#include "absl/status/statusor.h"
#include "firmament/job_desc.pb.h"
#include "rpc/checks.h"
#include "sluice/state/disruption_budget.h"

namespace sluice {

// Without a selector, `tasks` is absent.  A selector with an invalid condition
// means no task.
// Errors: kInvalidArgument, with the field and what is wrong with it.
absl::StatusOr<DisruptionBudget> ToBudget(
    const firmament::DisruptionBudget& message, Faults* faults);

}  // namespace sluice

#endif  // SLUICE_RPC_CONVERT_BUDGET_H_
