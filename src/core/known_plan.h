// The best that is known so far for what waits, where a round packs again.
//
// Threads: values and free functions; confined to the core thread.

#ifndef SLUICE_CORE_KNOWN_PLAN_H_
#define SLUICE_CORE_KNOWN_PLAN_H_

#include <span>

#include "core/placements.h"
#include "packing/level_costs.h"
#include "packing/packing_problem.h"
#include "sluice/base/ids.h"

namespace sluice {

struct RoundPacking;

// Tasks that wait, with their machines, once the victims have left these.
struct KnownPlan {
  std::span<const Placement> nominated = {};
  std::span<const TaskId> victims = {};
};

// What it costs that the plan, or these patterns, leave the rest of the packing
// waiting, or stopped.  Unlike the packing itself this takes no account of
// budgets: both are taken to keep to them.
LevelCosts CostOf(const KnownPlan& plan, const RoundPacking& packing,
                  const ClusterState& state);
LevelCosts CostOf(std::span<const Pattern> patterns,
                  const RoundPacking& packing);

}  // namespace sluice

#endif  // SLUICE_CORE_KNOWN_PLAN_H_
