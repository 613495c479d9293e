// Machines that an operator wants emptied are.
//
// Threads: a free function; confined to the core thread.

#ifndef SLUICE_CORE_STAGES_DRAIN_H_
#define SLUICE_CORE_STAGES_DRAIN_H_

#include "core/round_context.h"

namespace sluice {

// What runs there is told to move where places are found for it, the most
// urgent first, before the first tier.  One round does not look for longer than
// a step may take; the next goes on, with another machine.
void DrainMachines(RoundContext* context);

}  // namespace sluice

#endif  // SLUICE_CORE_STAGES_DRAIN_H_
