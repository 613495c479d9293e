// Empties machines that an operator wants empty.
//
// Threads: a free function; confined to the core thread.

#ifndef SLUICE_ROUND_STAGES_DRAIN_H_
#define SLUICE_ROUND_STAGES_DRAIN_H_

#include "round/context/round_context.h"

namespace sluice {

// Before the first tier, tells tasks there to move if places are found for
// them, the most urgent first.  A round looks no longer than a step may take;
// the next one goes on, with another machine.
void DrainMachines(RoundContext* context);

}  // namespace sluice

#endif  // SLUICE_ROUND_STAGES_DRAIN_H_
