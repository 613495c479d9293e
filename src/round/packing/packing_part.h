// The machines of a packing with moves in a cluster too large to look at all
// running tasks: another part of the machines in each turn, plus the machines
// with the most room.
//
// Tasks elsewhere stay, and nothing is placed there.  So the result is valid
// for the whole cluster, and later turns may improve it.
//
// Threads: values and free functions; confined to the core thread.

#ifndef SLUICE_ROUND_PACKING_PACKING_PART_H_
#define SLUICE_ROUND_PACKING_PACKING_PART_H_

#include <cstdint>

#include "absl/container/flat_hash_set.h"
#include "cost/policy_set.h"
#include "network/eligibility.h"
#include "round/context/round_stats.h"
#include "state/cluster_state.h"

namespace sluice {

using PackingPart = absl::flat_hash_set<MachineId>;

// True if there are too many machines to pack all of them with moves.
bool IsPackedInParts(const ClusterState& state, const MoveOptions& options);

// Usable machines only.  Each machine is in one part after as many turns as
// there are parts.  Looks at each machine.
PackingPart ChoosePart(const MoveOptions& options, uint64_t turn,
                       const ClusterState& state, const PolicySet& policies,
                       const Eligibility& eligibility);

}  // namespace sluice

#endif  // SLUICE_ROUND_PACKING_PACKING_PART_H_
