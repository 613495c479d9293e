// Decides on a neighborhood depth first: each task on each machine that takes
// it, or nowhere, until no better solution can exist or the budget is spent.
//
// Lower waiting cost is better; among equals, lower placement cost is: each
// task's preferences, and the machine's load cost as the network charges it,
// task after task in search order.  So that order makes a difference if
// requests differ, and none if they are equal.  Charges for the distance to
// other tasks are not counted: if there may be any, only waiting costs count.
//
// Threads: none; confined to the core thread.  Determinism: tasks in the order
// of the neighborhood; machines by cost, then id.

#ifndef SLUICE_ROUND_SEARCH_NEIGHBORHOOD_SEARCH_H_
#define SLUICE_ROUND_SEARCH_NEIGHBORHOOD_SEARCH_H_

#include "round/context/round_context.h"
#include "round/context/transaction.h"
#include "round/search/neighborhood.h"

namespace sluice {

// Places the tasks in `transaction`, which took back their placements, in a way
// that is better than before.  Returns whether it found one; if not, it places
// nothing.  The work is charged to Effort::kSearches.
bool PlaceBetter(const Neighborhood& neighborhood, RoundContext* context,
                 Transaction* transaction);

}  // namespace sluice

#endif  // SLUICE_ROUND_SEARCH_NEIGHBORHOOD_SEARCH_H_
