// Disruption budgets as sluice.v1.Inspector lists them.
//
// Threads: a free function; call it on the core thread (CoreLoop::Read).

#ifndef SLUICE_RPC_INSPECT_BUDGETS_H_
#define SLUICE_RPC_INSPECT_BUDGETS_H_

#include "absl/status/status.h"
#include "sluice/v1/inspector.pb.h"
#include "state/cluster_state.h"

namespace sluice {

// Pages as in InspectMachines(), ordered by name.  With the same name, budgets
// of jobs come first, by uuid, then those of feeds.  Each page looks at every
// task.
// Errors: kInvalidArgument for a negative size, or a token that no page gave.
absl::Status InspectBudgets(const ClusterState& state,
                            const v1::ListBudgetsRequest& request,
                            v1::ListBudgetsResponse* response);

}  // namespace sluice

#endif  // SLUICE_RPC_INSPECT_BUDGETS_H_
