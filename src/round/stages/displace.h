// The last resort of a cycle of turns (round/packing/turn_choice.h).  If
// packings find no victims for a waiting task, it is looked at alone, with
// whatever is in its way anywhere (round/plans/displacement.h).  The victims
// found are told to leave, and the task is nominated, as by a packing.
//
// Threads: free functions; confined to the core thread.

#ifndef SLUICE_ROUND_STAGES_DISPLACE_H_
#define SLUICE_ROUND_STAGES_DISPLACE_H_

#include "round/context/round_context.h"

namespace sluice {

// At the end of a round, for one waiting class; each time another one is first.
// It costs nothing except in the last round of a cycle.  Even then, it only
// looks at what waits if none of its rules is about other tasks.  Returns true
// if a task was stopped: then the other classes have their turns at once.
bool DisplaceAsLastResort(RoundContext* context);

// At the end of a round that stopped tasks for one with rules about others: if
// others can be stopped for it at a lower cost, those are stopped instead.  A
// packing takes some rules for stricter than they are, and may have missed
// them.
void DisplaceForLess(RoundContext* context);

}  // namespace sluice

#endif  // SLUICE_ROUND_STAGES_DISPLACE_H_
