// Which class takes part in a packing with one task alone: one whose rules the
// packing does not heed, or that rules keep away from all machines with room
// for it, though not from one of them once tasks have left it that may be
// stopped for it.  A packing takes what runs for what stays, where a rule is
// about more than one machine and does not say that a domain takes one of some
// tasks, or spreads them and does not hold as things are.
//
// Or which gang that has not started takes part before others: one whose rules
// a packing heeds only while nobody else who waits counts, or that is kept from
// a domain by tasks that may be stopped for it.
//
// Threads: free functions; confined to the core thread.

#ifndef SLUICE_CORE_TURN_CHOICE_H_
#define SLUICE_CORE_TURN_CHOICE_H_

#include <cstdint>

#include "core/packing_agenda.h"
#include "core/packing_peers.h"
#include "core/round_context.h"

namespace sluice {

// Each round another one, so that none that finds no place is in the way of the
// others.  One round in each cycle is nobody's turn where a packing of all may
// come to more: where a class of several tasks is heeded, and where one class
// needs another, of which one stays for it in its own turn.  In a gang's turn
// only those take part beside it that have no rules, and after it the next
// round is nobody's.  Left out are what displaces nobody, and gangs of which
// too few tasks wait.
PackingTurn ChooseTurn(const RoundContext& context, PackingPeers* peers);

}  // namespace sluice

#endif  // SLUICE_CORE_TURN_CHOICE_H_
