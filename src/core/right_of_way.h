// Which tasks give way to a plan: those that a packing leaves where they are,
// and that are less urgent than something that waits by it.
//
// Passes place the more urgent first.  A packing decides anew on what they
// placed, but for tasks with terms that it does not heed: other tasks may wait
// then than before, and one of them for such a task.  So these are taken back,
// too, and placed by the passes of their tier, after all that is more urgent.
//
// A packing that may stop what runs weighs them with it: one that is taken back
// waits, which costs less than to stop a task as urgent.
//
// Threads: free functions; confined to the core thread.

#ifndef SLUICE_CORE_RIGHT_OF_WAY_H_
#define SLUICE_CORE_RIGHT_OF_WAY_H_

#include <optional>
#include <span>
#include <vector>

#include "absl/container/btree_map.h"
#include "core/packing_plan.h"
#include "core/round_context.h"
#include "core/round_packing.h"

namespace sluice {

// The tasks to take back beside those that the packing places anew; nothing if
// one of them is in the way of something more urgent and has to stay, because
// others may stand where they do for its sake.  `patterns`: what machines are
// to hold.  REQUIRES: the state is as it was when the packing was described,
// and the eligibility is fresh.
std::optional<std::vector<TaskId>> FindWhoGivesWay(
    const RoundPacking& packing, const MachinePatterns& patterns,
    RoundContext* context);

// Of what the round has placed and a packing leaves where it is, what that may
// take back, with what it costs that it waits: no tasks of gangs, and none that
// others stand there for who may not be taken back themselves.  `placed_anew`:
// by the packing.  REQUIRES: the state's peers are in sync.
absl::btree_map<TaskId, Cost> FindWhoMayYield(
    std::span<const TaskId> placed_anew, RoundContext* context);

// Adds to what the packing places anew what its solution takes back, and those
// of its untold tasks that may stand where they do for the sake of these.
void TakeBackWhoYields(std::span<const Pattern> solution,
                       const ClusterState& state, RoundPacking* packing);

}  // namespace sluice

#endif  // SLUICE_CORE_RIGHT_OF_WAY_H_
