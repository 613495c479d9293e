// Whether a waiting gang has room as things are.
//
// Threads: free functions; confined to the core thread.

#ifndef SLUICE_ROUND_STAGES_GANG_ROOM_H_
#define SLUICE_ROUND_STAGES_GANG_ROOM_H_

#include "round/context/round_context.h"
#include "round/together/gangs.h"

namespace sluice {

// True if each of its tasks has room, even if not all at once.
bool HasRoomForEach(const Gangs::Waiting& gang, RoundContext* context);
// True if its tasks must go one after the other.
bool NeedsLeader(const Gangs::Waiting& gang, const RoundContext& context);

}  // namespace sluice

#endif  // SLUICE_ROUND_STAGES_GANG_ROOM_H_
