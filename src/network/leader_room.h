// Where the first task of a class with followers goes
// (ClassPeers::NeedsLeader), so that the followers have room, too.
//
// Threads: pure functions.

#ifndef SLUICE_NETWORK_LEADER_ROOM_H_
#define SLUICE_NETWORK_LEADER_ROOM_H_

#include <span>
#include <vector>

#include "constraints/constraint_set.h"
#include "network/band_class.h"
#include "network/machine_groups.h"

namespace sluice {

// For each class that needs a leader, the groups that it may go to: those of
// one place or, for a gang, whose place is decided with all else, of all places
// with room.  Empty for other classes.  `interests` are by kind.
std::vector<std::vector<bool>> FindRoomForLeaders(
    std::span<const MachineGroup> groups, std::span<const BandClass> classes,
    const ConstraintSet& constraints,
    std::span<const std::vector<Interest>> interests);

}  // namespace sluice

#endif  // SLUICE_NETWORK_LEADER_ROOM_H_
