// What people are told of tasks that displace others and of those that are
// displaced.
//
// Threads: pure functions; confined to the core thread.

#ifndef SLUICE_CORE_PREEMPTION_TEXT_H_
#define SLUICE_CORE_PREEMPTION_TEXT_H_

#include <string>

#include "constraints/constraint_set.h"
#include "core/round_stats.h"
#include "sluice/state/task.h"
#include "state/cluster_state.h"

namespace sluice {

// Whom a task that waits may displace, or why it may not, to be appended to why
// it waits: "; 3 machines would have room for it without what is less urgent,
// but disruption budgets protect that: shop/web needs 3 available tasks and has
// 3".  A look at each task that runs.
std::string MayStopText(const Task& task, const ClusterState& state,
                        const ConstraintSet& constraints,
                        const PreemptionOptions& options);

// For whom a task that was told to leave makes room, to be appended to that:
// " to make room for web-1 of priority 1000".  Empty where for nobody.
std::string StoppedForText(const Task& task, const ClusterState& state);

}  // namespace sluice

#endif  // SLUICE_CORE_PREEMPTION_TEXT_H_
