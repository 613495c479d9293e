// The last word on a small tier: every way to place its tasks.
//
// Passes, trials and exchanges decide one thing after the other.  Where few
// tasks meet few machines, as in the cluster of a test or in the last corner of
// a large one, all of it can be decided at once: depth first, each task on each
// machine that takes it or nowhere, until nothing can be better or the budget
// is spent.
//
// Better is what leaves less waiting, by waiting cost; among equals, what costs
// less where it is placed: each task its preferences, and what the machine's
// load costs as the network charges it, task after task in the order of the
// search.  So that order makes a difference where requests differ, and none
// where they are equal.  What tasks are charged for their distance to others is
// not counted: where it may be anything, only what waits counts.
//
// Threads: none; confined to the core thread.  Determinism: tasks by size,
// those with terms about others first, then class and age; machines by cost,
// then id.

#ifndef SLUICE_CORE_TIER_SEARCH_H_
#define SLUICE_CORE_TIER_SEARCH_H_

#include <cstdint>
#include <vector>

#include "constraints/constraint_set.h"
#include "core/gangs.h"
#include "cost/policy_set.h"
#include "network/eligibility.h"
#include "state/cluster_state.h"

namespace sluice {

struct TierSearchOutcome {
  std::vector<TaskId> placed;  // That waited before.
  int64_t given_up = 0;        // Of those that were placed before.
};

// Places the tasks of `priority` anew that wait or were placed by the deltas
// from `delta_begin` on, where that is better; else all stays as it is.  Does
// nothing where other deltas came since, where nothing waits that could go
// anywhere and nothing was placed that depends on other tasks, and where more
// than a few hundred pairs of tasks and machines are to be looked at.  No
// placement before `delta_begin` may depend on these.  `budget` counts machines
// looked at, and is what is left of it afterwards.  REQUIRES: the eligibility
// is refreshed, the state's peers are in sync.
TierSearchOutcome SearchTier(uint32_t priority, uint64_t delta_begin,
                             uint64_t sequence_end, const Gangs& gangs,
                             const PolicySet& policies,
                             const ConstraintSet& constraints,
                             Eligibility* eligibility, int64_t now_ms,
                             ClusterState* state, int64_t* budget);

}  // namespace sluice

#endif  // SLUICE_CORE_TIER_SEARCH_H_
