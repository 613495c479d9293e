// Arranges what a round has placed by what its tasks wish of each other.
//
// Passes and packings decide how much is placed and on which machines.  They do
// not see all wishes.  No class tells that a job's tasks would rather be on
// different machines, and a packing knows nothing of preferred peers, or of
// spread that may be broken.  So at the end tasks are moved, or exchanged for
// each other, where that lowers
//
//   1. the preference and peer costs of those that move, and then
//   2. the sibling costs: what it costs that tasks of a job share a machine.
//
// Among machines that are as good, the one with the lowest load is taken.  What
// is placed stays placed.  But something that waits may fit where another task
// was, so the tiers are to be gone through again.
//
// For wishes a local search from which others begin anew (core/wish_search.h,
// core/wish_restarts.h), for siblings single moves and exchanges of two
// (core/movable_placements.h: what is moved; core/suitability.h: where to).  A
// bounded number of turns, and no more than kLooksPerStep looks.
//
// Threads: a free function; confined to the core thread.  Determinism: looks
// are counted, not time.

#ifndef SLUICE_CORE_ARRANGEMENT_H_
#define SLUICE_CORE_ARRANGEMENT_H_

#include <cstdint>

#include "core/round_context.h"

namespace sluice {

// Returns how many tasks it moved; none where rounds are not to do better than
// their passes.
int64_t Arrange(RoundContext* context);

}  // namespace sluice

#endif  // SLUICE_CORE_ARRANGEMENT_H_
