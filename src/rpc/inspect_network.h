// The networks of a round as sluice.v1.Inspector shows them.
//
// Threads: a free function; call it on the core thread (CoreLoop::Read).

#ifndef SLUICE_RPC_INSPECT_NETWORK_H_
#define SLUICE_RPC_INSPECT_NETWORK_H_

#include <string_view>

#include "round/context/network_log.h"
#include "sluice/v1/inspector.pb.h"
#include "state/cluster_state.h"

namespace sluice {

// Names are current ones; an object that is gone has only its id.  Aggregates
// are named by the label that policies charge them by, if they have one.
void InspectNetwork(const ClusterState& state, const NetworkLog& log,
                    std::string_view aggregate_label,
                    v1::RoundNetwork* response);

}  // namespace sluice

#endif  // SLUICE_RPC_INSPECT_NETWORK_H_
