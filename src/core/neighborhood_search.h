// Decides on a neighborhood: depth first, each task on each machine that takes
// it or nowhere, until nothing can be better or the budget is spent.
//
// Better is what leaves less waiting, by waiting cost; among equals, what costs
// less where it is placed: each task its preferences, and what the machine's
// load costs as the network charges it, task after task in the order of the
// search.  So that order makes a difference where requests differ, and none
// where they are equal.  What tasks are charged for their distance to others is
// not counted: where it may be anything, only what waits counts.
//
// Threads: none; confined to the core thread.  Determinism: tasks in the order
// of the neighborhood; machines by cost, then id.

#ifndef SLUICE_CORE_NEIGHBORHOOD_SEARCH_H_
#define SLUICE_CORE_NEIGHBORHOOD_SEARCH_H_

#include "core/neighborhood.h"
#include "core/round_context.h"
#include "core/transaction.h"

namespace sluice {

// Places the tasks in `transaction`, which took back what was placed of them,
// in a way that is better than before.  Returns whether it found one; else it
// places nothing.  Looks are charged to the round's budget for searches.
bool PlaceBetter(const Neighborhood& neighborhood, RoundContext* context,
                 Transaction* transaction);

}  // namespace sluice

#endif  // SLUICE_CORE_NEIGHBORHOOD_SEARCH_H_
