// Moves leaders to where those can follow them that could not.
//
// A pass sends a class to where its followers have room (core/followers.h), as
// far as that can be told in advance: others of the pass may take the room, or
// followers may keep away from each other.  Where a class is left waiting
// because none of the tasks that it must be near runs where it may go, one of
// these that was placed in this tier, and that no client knows of yet, is taken
// back, with those that follow it already.  They and the class are a
// neighborhood (core/neighborhood.h), on the machines that are cheapest for
// each of them; where no better place is found for it, all is put back.
//
// Threads: none; confined to the core thread.  Determinism: classes by their
// keys; leaders in the order of their placement; machines by cost, then id.

#ifndef SLUICE_CORE_LEADER_MOVES_H_
#define SLUICE_CORE_LEADER_MOVES_H_

#include "core/round_context.h"
#include "core/transaction.h"

namespace sluice {

// Moves what the round placed since it came to the tier.  Looks are charged to
// the round's budget for searches.
void MoveLeaders(const Tier& tier, RoundContext* context,
                 Transaction* transaction);

}  // namespace sluice

#endif  // SLUICE_CORE_LEADER_MOVES_H_
