// What policies charge for where a task runs, as a message.
//
// Threads: free functions; call them on the core thread.

#ifndef SLUICE_RPC_INSPECT_COSTS_H_
#define SLUICE_RPC_INSPECT_COSTS_H_

#include <span>
#include <string>

#include "explain/cost_terms.h"
#include "sluice/v1/inspector.pb.h"

namespace sluice {

// `names` are those of the policies in force, in their order.
void FillCosts(const ClusterState& state, std::span<const CostTerms> costs,
               std::span<const std::string> names,
               v1::TaskExplanation* message);

}  // namespace sluice

#endif  // SLUICE_RPC_INSPECT_COSTS_H_
