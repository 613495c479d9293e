// What a round would stop and move as things are, without doing it.
//
// Threads: a free function; confined to the core thread.

#ifndef SLUICE_CORE_REBALANCE_PLAN_H_
#define SLUICE_CORE_REBALANCE_PLAN_H_

#include <cstdint>
#include <vector>

#include "core/preempting_plan.h"
#include "core/round_context.h"
#include "core/round_stats.h"

namespace sluice {

struct RebalancePlan {
  PreemptingPlan::Decided decided;
  std::vector<int64_t> stop_costs;  // Of each that is stopped.
  // There was too much to look at: nothing is known.
  bool is_too_large = false;
  // How many machines it is about where tasks move in parts of the cluster, and
  // then about moves alone; 0: all.
  int64_t machines_in_part = 0;
};

// With these options, whenever tasks were last looked for that cost less
// elsewhere, and in the part of the cluster that is next.  What waits and has
// room already is left to the next round.  Takes as long as a packing does. The
// state changes in nothing that is stored or told.  REQUIRES: no round is
// running.
RebalancePlan PlanRebalance(const RoundContext::Subject& subject,
                            const RoundOptions& options, int64_t now_ms);

}  // namespace sluice

#endif  // SLUICE_CORE_REBALANCE_PLAN_H_
