// Victims of a round whom nobody needs gone any more: what they were to make
// room for was placed elsewhere since, or lost its promise.
//
// They are put back one by one, the most urgent first, and a gang as a whole:
// whoever then leaves all that is kept its room, and lets those that have come
// in this round, or are to come, be where they are, stays.
//
// Threads: free functions; confined to the core thread.

#ifndef SLUICE_CORE_STAGES_SPARE_H_
#define SLUICE_CORE_STAGES_SPARE_H_

#include "core/round_context.h"

namespace sluice {

// Of those that the packings of this round stopped, and no client was told of.
void SpareNeedless(RoundContext* context);

}  // namespace sluice

#endif  // SLUICE_CORE_STAGES_SPARE_H_
