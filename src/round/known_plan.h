// The best plan so far for what waits, in case a round packs again.
//
// Threads: values and free functions; confined to the core thread.

#ifndef SLUICE_ROUND_KNOWN_PLAN_H_
#define SLUICE_ROUND_KNOWN_PLAN_H_

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

// Waiting tasks with their machines, once the victims have left, and tasks that
// move, with their targets.  The reader must check what became of each of them
// meanwhile.
struct KnownPlan {
  std::vector<std::pair<TaskId, MachineId>> nominated = {};
  std::vector<TaskId> victims = {};
  std::vector<std::pair<TaskId, MachineId>> moves = {};
  std::set<TaskId> depending = {};  // Nominees that depend on moves.
};

// Of each victim that the packing knows: its machine, and its class in the
// problem.
std::vector<std::pair<MachineId, size_t>> ClassesOfVictims(
    const KnownPlan& plan, const RoundPacking& packing,
    const ClusterState& state);
// Reserves room again for a task that was nominated.  Returns false if it may
// not wait there, because the task, the machine or the room is gone.
bool KeepRoomAgain(TaskId id, MachineId machine, bool is_final,
                   ClusterState* state);
// How many tasks of each class of the problem are placed, or stay.
std::vector<int64_t> CountPlaced(const KnownPlan& plan,
                                 const RoundPacking& packing,
                                 const ClusterState& state);
std::vector<int64_t> CountPlaced(std::span<const Pattern> patterns,
                                 const RoundPacking& packing);

// The cost of leaving all other tasks waiting, or stopped, if that keeps to
// budgets.
LevelCosts CostOfRest(std::span<const int64_t> placed,
                      const RoundPacking& packing);

// How many more tasks might be stopped for waiting ones if budgets did not
// forbid it: the plan stops as many of theirs as they allow.
int64_t CountHeldBack(std::span<const int64_t> placed,
                      const RoundPacking& packing);

}  // namespace sluice

#endif  // SLUICE_ROUND_KNOWN_PLAN_H_
