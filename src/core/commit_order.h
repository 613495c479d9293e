// The order in which the placements of a pass are made.
//
// Threads: a free function; confined to the core thread.

#ifndef SLUICE_CORE_COMMIT_ORDER_H_
#define SLUICE_CORE_COMMIT_ORDER_H_

#include <span>
#include <vector>

#include "network/band_network.h"
#include "state/cluster_state.h"

namespace sluice {

// Where tasks depend on tasks, each placement must be legal when it is made,
// and of those that exclude each other the first is.  So those come first that
// bring spreads up to their next levels, and of these the ones that are dearer
// to leave waiting, and then the ones that cost less.  REQUIRES: none has been
// made since the classes' peers were looked up.
std::vector<Proposal> InCommitOrder(const ClusterState& state,
                                    std::span<const BandClass> classes,
                                    std::vector<Proposal> proposals);

}  // namespace sluice

#endif  // SLUICE_CORE_COMMIT_ORDER_H_
