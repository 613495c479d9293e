// Nominated tasks, whose room is reserved (ClusterState::Nominate), at the
// beginning of a round.  Those whose room is free by now are placed.  Those
// that the machine cannot hold any more, or that could be placed elsewhere at
// once, wait like any other again.  Ends successions that are over
// (state/successions.h).
//
// Threads: free functions; confined to the core thread.

#ifndef SLUICE_ROUND_STAGES_NOMINATED_H_
#define SLUICE_ROUND_STAGES_NOMINATED_H_

#include "round/context/round_context.h"

namespace sluice {

void ServeNominated(RoundContext* context);
// At the end of a round: others may have taken their places in spreads, or the
// room of the rest of their gangs.  Ends the nominations of tasks that could
// not come any more.
void EndVainNominations(RoundContext* context);

}  // namespace sluice

#endif  // SLUICE_ROUND_STAGES_NOMINATED_H_
