// Arranges what a round has placed by what its tasks wish of each other.
//
// Passes and packings decide how much is placed and on which machines.  Some
// wishes they do not see, or see only in part: a job's tasks would rather be on
// different machines, which is no matter of their class; and a packing knows
// nothing of preferred peers, or of spread that may be broken.  So at the end
// tasks are moved, or exchanged for each other, as long as that makes less of
//
//   1. the preference and peer costs of those that move, and then of
//   2. the sibling costs: what it costs that tasks of a job share a machine.
//
// Of several machines as good the one with the lowest load is taken.  What is
// placed stays placed; so no bound of what waits is touched.
//
// A local search: single moves and exchanges of two.  What others need where it
// is, because they must be near it or are counted with it, is not moved.
//
// Threads: a free function; confined to the core thread.  Determinism: looks
// are counted, not time.

#ifndef SLUICE_CORE_ARRANGEMENT_H_
#define SLUICE_CORE_ARRANGEMENT_H_

#include <cstdint>

#include "core/round_context.h"

namespace sluice {

// Returns how many tasks it moved.
int64_t Arrange(RoundContext* context);

}  // namespace sluice

#endif  // SLUICE_CORE_ARRANGEMENT_H_
