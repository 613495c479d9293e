// Which class takes part in a packing with a single task: one whose rules the
// packing does not heed, or one that rules keep away from all machines with
// room for it until stoppable tasks leave one of them.  A packing assumes
// that running tasks stay where a rule about them concerns more than one
// machine, unless the rule says that a domain takes one of some tasks.  It
// assumes the same where a rule spreads tasks and does not hold as things are.
//
// Or which gang that has not started takes part before others: one whose rules
// a packing heeds only while no other waiting task counts, or one that
// stoppable tasks keep out of a domain.
//
// Threads: free functions; confined to the core thread.

#ifndef SLUICE_ROUND_PACKING_TURN_CHOICE_H_
#define SLUICE_ROUND_PACKING_TURN_CHOICE_H_

#include <cstdint>

#include "round/context/packing_agenda.h"
#include "round/context/round_context.h"
#include "round/packing/packing_peers.h"

namespace sluice {

// Each round has another turn, so that a class or gang that finds no place does
// not block the others.  One round in each cycle is nobody's turn if a packing
// of all may achieve more: if the rules of a class of several tasks are heeded,
// or if a class has to be near other tasks, some of which stay for it in its
// own turn.  In a gang's turn, only classes without rules take part beside it,
// and the next round is nobody's.  Tasks that displace nobody have no turn, nor
// have gangs of which too few tasks wait.
PackingTurn ChooseTurn(RoundContext* context, PackingPeers* peers);

}  // namespace sluice

#endif  // SLUICE_ROUND_PACKING_TURN_CHOICE_H_
