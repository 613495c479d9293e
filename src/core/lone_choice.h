// Which class takes part in a packing with one task alone: one whose rules the
// packing does not heed, or that rules keep away from all machines with room
// for it, though not from one of them once tasks have left it that may be
// stopped for it.  A packing takes what runs for what stays, where a rule is
// about more than one machine and does not say that a domain takes one of some
// tasks, or spreads them and does not hold as things are.
//
// Threads: free functions; confined to the core thread.

#ifndef SLUICE_CORE_LONE_CHOICE_H_
#define SLUICE_CORE_LONE_CHOICE_H_

#include <cstdint>

#include "constraints/constraint_set.h"
#include "core/gangs.h"
#include "core/packing_peers.h"
#include "core/round_stats.h"
#include "sluice/state/task.h"
#include "state/cluster_state.h"

namespace sluice {

// Each turn another one, so that none that finds no place is in the way of the
// others; null where there is none.  Those that a class with affinity needs
// stay for it, so where more urgent tasks wait a turn is without any, too.
// Left out are gangs that have not started and what displaces nobody.
const ClassKey* ChooseLone(const ClusterState& state,
                           const ConstraintSet& constraints, const Gangs& gangs,
                           const PreemptionOptions& options, uint64_t turn,
                           PackingPeers* peers);

}  // namespace sluice

#endif  // SLUICE_CORE_LONE_CHOICE_H_
