// What a round would stop and move as things are.  Nothing is changed.
//
// Threads: a free function; confined to the core thread.

#ifndef SLUICE_ROUND_PLANS_REBALANCE_PLAN_H_
#define SLUICE_ROUND_PLANS_REBALANCE_PLAN_H_

#include <cstdint>
#include <vector>

#include "round/context/round_context.h"
#include "round/context/round_stats.h"
#include "round/plans/preempting_plan.h"

namespace sluice {

struct RebalancePlan {
  PreemptingPlan::Decided decided;
  std::vector<int64_t> stop_costs;  // One per stopped task.
  // There was too much to look at: nothing is known.
  bool is_too_large = false;
  // How many machines it covers if tasks move in parts of the cluster; it is
  // then about moves alone. 0: all.
  int64_t machines_in_part = 0;
};

// Uses these options and the part of the cluster that is next, whether or not a
// search for cheaper places is due.  Waiting tasks that already have room are
// left to the next round.  Takes as long as a packing.  Nothing in the state
// that is stored or told changes.  REQUIRES: no round is running.
RebalancePlan PlanRebalance(const RoundContext::Subject& subject,
                            const RoundOptions& options, int64_t now_ms);

}  // namespace sluice

#endif  // SLUICE_ROUND_PLANS_REBALANCE_PLAN_H_
