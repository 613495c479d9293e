// Which of the tasks that a packing places have room at once, and which must
// wait for others to leave.  A packing takes no account of that.
//
// Threads: values and free functions; confined to the core thread.

#ifndef SLUICE_ROUND_PLANS_FREE_ROOM_H_
#define SLUICE_ROUND_PLANS_FREE_ROOM_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "round/context/work_budget.h"
#include "round/packing/round_packing.h"
#include "state/cluster_state.h"

namespace sluice {

// Swaps tasks of the solution where that costs no more.  Suppose a task would
// wait, while room that is already free stays free or goes to a less urgent
// task.  Then it takes that room, and the less urgent one waits instead.  If
// nobody else is stopped for the more urgent task, it comes at once even if the
// other then has no place: the tasks it would wait for leave anyway.  Tasks of
// gangs stay where they are, and so do tasks with ports or rules about other
// tasks.  Each machine then has a pattern of its own, in the order of the
// packing's machines.  `free_now`: the room that a machine has now for the
// tasks to be placed.  No more is swapped once `work` is exceeded.
void GiveFreeRoomToUrgent(const RoundPacking& packing,
                          const ClusterState& state,
                          const ConstraintSet& constraints,
                          absl::FunctionRef<Resources(const Machine&)> free_now,
                          Allowance* work, std::vector<Pattern>* solution);

}  // namespace sluice

#endif  // SLUICE_ROUND_PLANS_FREE_ROOM_H_
