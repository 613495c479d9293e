// Arranges what a round has placed by what its tasks wish of each other.
//
// Passes and packings decide how much is placed and on which machines.  Some
// wishes they do not see, or see only in part.  That a job's tasks would rather
// be on different machines is nothing that their class tells; and a packing
// knows nothing of preferred peers, or of spread that may be broken.  So at the
// end tasks are moved, or exchanged for each other, where that makes less of
//
//   1. the preference and peer costs of those that move, and then of
//   2. the sibling costs: what it costs that tasks of a job share a machine.
//
// Of several machines as good the one with the lowest load is taken.  What is
// placed stays placed, and nothing that waits is kept out of room by what is
// less urgent; but something may fit now where another task was, so the tiers
// are to be gone through again.
//
// A local search: single moves and exchanges of two, a bounded number of turns.
// A task with required affinity or spread stays where it is, and so does one
// that others must be near or that a required spread counts.
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
