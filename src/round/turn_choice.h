// Which class takes part in a packing with a single task.  Either the packing
// does not heed the class's rules, or rules keep it away from all machines with
// room for it, though not from one of them once stoppable tasks have left it.
// A packing takes running tasks to stay if a rule is about more than one
// machine and does not say that a domain takes one of some tasks, or if the
// rule spreads tasks and does not hold as things are.
//
// Or which gang that has not started takes part before others: one whose rules
// a packing heeds only while no other waiting task counts, or that stoppable
// tasks keep out of a domain.
//
// Threads: free functions; confined to the core thread.

#ifndef SLUICE_ROUND_TURN_CHOICE_H_
#define SLUICE_ROUND_TURN_CHOICE_H_

#include <cstdint>

#include "round/packing_agenda.h"
#include "round/packing_peers.h"
#include "round/round_context.h"

namespace sluice {

// Each round has another turn, so that a class or gang that finds no place does
// not block the others.  One round in each cycle is nobody's turn if a packing
// of all may achieve more: if a class of several tasks is heeded, or if one
// class needs another, some of which stays for it in its own turn.  In a gang's
// turn, only classes without rules take part beside it, and the next round is
// nobody's.  Excluded are tasks that displace nobody, and gangs with too few
// waiting tasks.
PackingTurn ChooseTurn(const RoundContext& context, PackingPeers* peers);

}  // namespace sluice

#endif  // SLUICE_ROUND_TURN_CHOICE_H_
