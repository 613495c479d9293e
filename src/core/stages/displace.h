// The last resort of a cycle of turns (core/turn_choice.h): where packings find
// nobody to stop for a task that waits, it is looked at alone, with whoever is
// in its way anywhere (core/displacement.h).  Whoever is found is told to
// leave, and the task is nominated, as by a packing.
//
// Threads: a free function; confined to the core thread.

#ifndef SLUICE_CORE_STAGES_DISPLACE_H_
#define SLUICE_CORE_STAGES_DISPLACE_H_

#include "core/round_context.h"

namespace sluice {

// At the end of a round, for one class that waits, each time another one first.
// It costs nothing in any other round than the last of a cycle, and only a look
// at what waits where no rules of that are about other tasks.
void DisplaceAsLastResort(RoundContext* context);

// At the end of a round that stopped tasks for one that has rules about others:
// where others can be stopped for it instead that cost less, these are.  A
// packing takes some rules for stricter than they are, and may have passed them
// over.
void DisplaceForLess(RoundContext* context);

}  // namespace sluice

#endif  // SLUICE_CORE_STAGES_DISPLACE_H_
