// Rearranges what a round has placed by what its tasks prefer of each other.
//
// Passes and packings decide how much is placed and on which machines, but they
// do not see all preferences.  No class says that tasks of a job prefer
// different machines, and a packing knows nothing of preferred peers or of soft
// spread constraints.  So tasks are moved or swapped at the end, if that lowers
//
//   1. the preference and peer costs of those that move, and then
//   2. the sibling costs: what it costs that tasks of a job share a machine.
//
// Of equally good machines, the one with the lowest load is taken.  Placed
// tasks stay placed.  But a waiting task may fit where another task was, so the
// caller must go through the tiers again.
//
// Preferences use a local search with restarts (round/search/wish_search.h,
// round/search/wish_restarts.h).  Siblings use single moves and swaps of two
// tasks (round/search/movable_placements.h: what is moved;
// round/search/suitability.h: where to). The number of turns is bounded, and so
// is the work (kWorkPerStep).
//
// Threads: a free function; confined to the core thread.  Determinism: the
// budget counts work, not time.

#ifndef SLUICE_ROUND_SEARCH_ARRANGEMENT_H_
#define SLUICE_ROUND_SEARCH_ARRANGEMENT_H_

#include <cstdint>

#include "round/context/round_context.h"

namespace sluice {

// Returns how many tasks it moved: none if rounds are not to improve on their
// passes.
int64_t Arrange(RoundContext* context);

}  // namespace sluice

#endif  // SLUICE_ROUND_SEARCH_ARRANGEMENT_H_
