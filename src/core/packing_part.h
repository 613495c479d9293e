// The machines that a packing with moves is about where there are too many to
// look at all that runs: in each turn another part of them, and beside these
// the machines that have most room.
//
// What runs elsewhere stays, and nothing is placed there.  So what a packing
// finds is no worse for being about a part, and may be found better by the
// turns to come.
//
// Threads: values and free functions; confined to the core thread.

#ifndef SLUICE_CORE_PACKING_PART_H_
#define SLUICE_CORE_PACKING_PART_H_

#include <cstdint>

#include "absl/container/flat_hash_set.h"
#include "core/round_stats.h"
#include "cost/policy_set.h"
#include "network/eligibility.h"
#include "state/cluster_state.h"

namespace sluice {

using PackingPart = absl::flat_hash_set<MachineId>;

// Whether there are too many machines to pack all of them where tasks may move.
bool IsPackedInParts(const ClusterState& state, const MoveOptions& options);

// Usable machines alone.  After so many turns as there are parts each machine
// was in one.  Takes a look at each machine.  REQUIRES: the eligibility is
// fresh.
PackingPart ChoosePart(const MoveOptions& options, uint64_t turn,
                       const ClusterState& state, const PolicySet& policies,
                       const Eligibility& eligibility);

}  // namespace sluice

#endif  // SLUICE_CORE_PACKING_PART_H_
