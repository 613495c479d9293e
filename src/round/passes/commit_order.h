// The order in which the placements of a pass are made.
//
// Threads: a free function; confined to the core thread.

#ifndef SLUICE_ROUND_PASSES_COMMIT_ORDER_H_
#define SLUICE_ROUND_PASSES_COMMIT_ORDER_H_

#include <span>
#include <vector>

#include "network/band_network.h"
#include "state/cluster_state.h"

namespace sluice {

// If tasks depend on tasks, each placement must be legal when it is made, and
// of placements that exclude each other the first one wins.  So placements that
// bring spreads up to their next levels come first; of these, the tasks that
// were submitted first; of these, the first task on each machine, as each
// further one costs more.  REQUIRES: no placement has been made since the
// classes' peers were looked up.
std::vector<Proposal> InCommitOrder(const ClusterState& state,
                                    std::span<const BandClass> classes,
                                    std::vector<Proposal> proposals);

}  // namespace sluice

#endif  // SLUICE_ROUND_PASSES_COMMIT_ORDER_H_
