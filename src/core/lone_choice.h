// Which class takes part in a packing with one task alone: one whose rules the
// packing does not heed, or that rules keep away from all machines with room
// for it, though not from one of them once tasks have left it that may be
// stopped for it.  A packing takes what runs for what stays, where a rule is
// about more than one machine and does not say that a domain takes one of some
// tasks, or spreads them and does not hold as things are.
//
// Or which gang that has not started takes part before all others: one of which
// the same is true, but that a packing heeds its rules once nobody else who
// waits counts.
//
// Threads: free functions; confined to the core thread.

#ifndef SLUICE_CORE_LONE_CHOICE_H_
#define SLUICE_CORE_LONE_CHOICE_H_

#include <cstdint>

#include "core/packing_agenda.h"
#include "core/packing_peers.h"
#include "core/round_context.h"

namespace sluice {

// Each round another one, so that none that finds no place is in the way of the
// others.  One of those that a class with affinity needs stays for it, and in a
// gang's turn only those take part beside it that have no rules: where there
// are such classes or gangs, one round in each cycle is nobody's turn.  Left
// out is what displaces nobody.
LoneTurn ChooseLone(const RoundContext& context, PackingPeers* peers);

}  // namespace sluice

#endif  // SLUICE_CORE_LONE_CHOICE_H_
