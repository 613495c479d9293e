// What is derived in the state, computed anew from what it is derived of.
//
// Threads: none; confined to the test.

#ifndef SLUICE_TESTS_UTIL_STATE_INVARIANTS_H_
#define SLUICE_TESTS_UTIL_STATE_INVARIANTS_H_

#include <string>

#include "state/cluster_state.h"

namespace sluice {

// Returns the first derived fact of `state` that is not true, or "".
std::string FindContradiction(const ClusterState& state);

}  // namespace sluice

#endif  // SLUICE_TESTS_UTIL_STATE_INVARIANTS_H_
