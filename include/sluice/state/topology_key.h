// Topology keys that name no label.
//
// Threads: constants.

#ifndef SLUICE_STATE_TOPOLOGY_KEY_H_
#define SLUICE_STATE_TOPOLOGY_KEY_H_

#include <string_view>

namespace sluice {

// Every machine is a domain of its own.
inline constexpr std::string_view kEachMachine;
// All machines are one domain.  No label has such a name in Kubernetes.
inline constexpr std::string_view kWholeCluster = "*";

}  // namespace sluice

#endif  // SLUICE_STATE_TOPOLOGY_KEY_H_
