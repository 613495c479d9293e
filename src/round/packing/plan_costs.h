// What a known plan costs, as the packing that comes next would count it.
//
// Threads: free functions; confined to the core thread.

#ifndef SLUICE_ROUND_PACKING_PLAN_COSTS_H_
#define SLUICE_ROUND_PACKING_PLAN_COSTS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "packing/level_costs.h"
#include "packing/packing_problem.h"
#include "round/context/known_plan.h"
#include "sluice/base/ids.h"
#include "state/cluster_state.h"

namespace sluice {

struct RoundPacking;

// Of each victim that the packing knows: its machine, and its class in the
// problem.
std::vector<std::pair<MachineId, size_t>> ClassesOfVictims(
    const KnownPlan& plan, const RoundPacking& packing,
    const ClusterState& state);
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

#endif  // SLUICE_ROUND_PACKING_PLAN_COSTS_H_
