// Tasks that were kept room for (ClusterState::Nominate), at the beginning of a
// round: those whose room is free by now are placed, and those wait as any
// other again that the machine cannot hold any more, or that could be placed
// elsewhere at once.  Ends successions that are over (state/successions.h).
//
// Threads: free functions; confined to the core thread.

#ifndef SLUICE_CORE_STAGES_NOMINATED_H_
#define SLUICE_CORE_STAGES_NOMINATED_H_

#include "core/round_context.h"

namespace sluice {

void ServeNominated(RoundContext* context);
// At the end of a round: others may have taken the places that some of them had
// in their spreads, or the room of the rest of their gangs.  No room is kept
// for those who could not come any more.
void EndVainNominations(RoundContext* context);

}  // namespace sluice

#endif  // SLUICE_CORE_STAGES_NOMINATED_H_
