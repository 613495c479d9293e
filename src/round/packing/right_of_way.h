// Which tasks give way to a plan: those that the packing leaves in place
// although they are less urgent than a task that waits because of it.
//
// Passes place the more urgent tasks first.  A packing then revises their
// placements, but not those of tasks with terms that it does not heed.  Other
// tasks may wait afterwards than before, and a task that the packing left alone
// may hold the place of a more urgent one.  So it is taken back, too.  The
// passes of its tier place it again, after everything more urgent.
//
// A preempting packing weighs such tasks against running ones: leaving one
// waiting costs less than stopping an equally urgent task.
//
// Threads: free functions; confined to the core thread.

#ifndef SLUICE_ROUND_PACKING_RIGHT_OF_WAY_H_
#define SLUICE_ROUND_PACKING_RIGHT_OF_WAY_H_

#include <optional>
#include <span>
#include <vector>

#include "absl/container/btree_map.h"
#include "round/context/packing_plan.h"
#include "round/context/round_context.h"
#include "round/packing/round_packing.h"

namespace sluice {

// The tasks to take back beside those that the packing places anew.  Nullopt if
// a task is in the way of something more urgent, but must stay because others
// may depend on it.  `patterns`: what machines are to hold.  REQUIRES:
// the state is as it was when the packing was described, and the eligibility is
// fresh.
std::optional<std::vector<TaskId>> FindWhoGivesWay(
    const RoundPacking& packing, const MachinePatterns& patterns,
    RoundContext* context);

// The tasks that the round placed, and that a packing leaves in place but may
// take back, with the cost of leaving them waiting.  Excludes tasks of gangs,
// and tasks on which others depend that may not be taken back themselves.
// `placed_anew`: by the packing.  REQUIRES: the state's peers are in sync.
absl::btree_map<TaskId, Cost> FindWhoMayYield(
    std::span<const TaskId> placed_anew, RoundContext* context);

// Adds to what the packing places anew the tasks that its solution takes back,
// and those of its untold tasks that may depend on these.
void TakeBackWhoYields(std::span<const Pattern> solution,
                       const ClusterState& state, RoundPacking* packing);

}  // namespace sluice

#endif  // SLUICE_ROUND_PACKING_RIGHT_OF_WAY_H_
