// Tasks whose rules must hold as long as they run, and do not any more: a label
// of the machine has changed, or those are gone that a task must be near
// (Kubernetes' design calls that requiredDuringExecution).
//
// Such a task is told to leave, and holds its place until it is gone.  Tasks of
// departed machines are left alone, and count for others as long as they run.
//
// Threads: free functions; confined to the core thread.

#ifndef SLUICE_CORE_BROKEN_RULES_H_
#define SLUICE_CORE_BROKEN_RULES_H_

#include <cstdint>
#include <string>

#include "constraints/constraint_set.h"
#include "sluice/state/task.h"
#include "state/cluster_state.h"

namespace sluice {

// Tells those to leave, each once, and returns how many.  A placement that no
// client knows of is withdrawn instead.  A look at each task, if there are
// rules that must hold.
int64_t EvictWhereRulesBroke(const ConstraintSet& constraints,
                             ClusterState* state);

// What of the rules of a running task that must hold does not: "lacks the label
// disk=ssd".  Empty where all does.  REQUIRES: the state's peers are in sync.
std::string BrokenRulesText(const Task& running, const ClusterState& state,
                            const ConstraintSet& constraints);

}  // namespace sluice

#endif  // SLUICE_CORE_BROKEN_RULES_H_
