// Running tasks whose rules must hold as long as they run, but no longer do: a
// label of the machine has changed, or the tasks that they must be near are
// gone.  Kubernetes' design calls such rules requiredDuringExecution.
//
// Such a task is told to leave and keeps its place until it is gone.  Tasks on
// departed machines are left alone, and count for others as long as they run.
//
// Threads: free functions; confined to the core thread.

#ifndef SLUICE_ROUND_LEAVING_BROKEN_RULES_H_
#define SLUICE_ROUND_LEAVING_BROKEN_RULES_H_

#include <cstdint>
#include <string>

#include "constraints/constraint_set.h"
#include "sluice/state/task.h"
#include "state/cluster_state.h"

namespace sluice {

// Tells each such task once to leave, and returns how many were told.  A
// placement that no client knows of is withdrawn instead.  Looks at each task
// if there are rules that must hold.
int64_t EvictWhereRulesBroke(const ConstraintSet& constraints,
                             ClusterState* state);

// The broken rules of a running task, such as "lacks the label disk=ssd".
// Empty if none is broken.  REQUIRES: the state's peers are in sync.
std::string BrokenRulesText(const Task& running, const ClusterState& state,
                            const ConstraintSet& constraints);

}  // namespace sluice

#endif  // SLUICE_ROUND_LEAVING_BROKEN_RULES_H_
