// The best that is known so far for what waits, where a round packs again.
//
// Threads: values and free functions; confined to the core thread.

#ifndef SLUICE_CORE_KNOWN_PLAN_H_
#define SLUICE_CORE_KNOWN_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "packing/level_costs.h"
#include "packing/packing_problem.h"
#include "sluice/base/ids.h"
#include "state/cluster_state.h"

namespace sluice {

struct RoundPacking;

// Tasks that wait, with their machines, once the victims have left these, and
// tasks that move, with where to.  What became of any meanwhile is for the
// reader to look at.
struct KnownPlan {
  std::vector<std::pair<TaskId, MachineId>> nominated = {};
  std::vector<TaskId> victims = {};
  std::vector<std::pair<TaskId, MachineId>> moves = {};
  std::set<TaskId> depending = {};  // Of the nominated, on these.
};

// Of each victim that the packing knows, the machine and the class of the
// problem.
std::vector<std::pair<MachineId, size_t>> ClassesOfVictims(
    const KnownPlan& plan, const RoundPacking& packing,
    const ClusterState& state);
// Keeps room for a task again that was nominated.  Returns whether it may wait
// there: it and the machine may have gone meanwhile, or the room.
bool KeepRoomAgain(TaskId id, MachineId machine, bool is_final,
                   ClusterState* state);
// How many of each class of the problem are placed, or stay.
std::vector<int64_t> CountPlaced(const KnownPlan& plan,
                                 const RoundPacking& packing,
                                 const ClusterState& state);
std::vector<int64_t> CountPlaced(std::span<const Pattern> patterns,
                                 const RoundPacking& packing);

// What it costs that the rest waits, or is stopped, where it keeps to budgets.
LevelCosts CostOfRest(std::span<const int64_t> placed,
                      const RoundPacking& packing);

// How many tasks more might be stopped for something that waits if budgets let
// more than what this plan leaves of their tasks be stopped.
int64_t CountHeldBack(std::span<const int64_t> placed,
                      const RoundPacking& packing);

}  // namespace sluice

#endif  // SLUICE_CORE_KNOWN_PLAN_H_
