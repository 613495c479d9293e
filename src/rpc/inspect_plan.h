// Converts a plan of the core to the message of sluice.v1.Inspector.
//
// Threads: a free function; call it on the core thread.

#ifndef SLUICE_RPC_INSPECT_PLAN_H_
#define SLUICE_RPC_INSPECT_PLAN_H_

#include "round/plans/rebalance_plan.h"
#include "sluice/v1/inspector.pb.h"
#include "state/cluster_state.h"

namespace sluice {

// REQUIRES: the plan was made for this state, which has not changed since.
void InspectPlan(const ClusterState& state, const RebalancePlan& plan,
                 v1::RebalancePlan* response);

}  // namespace sluice

#endif  // SLUICE_RPC_INSPECT_PLAN_H_
