// All that can be seen of a state as text, for comparing two of them: a
// difference shows as the line in which it is.

#ifndef SLUICE_TESTS_UNIT_PERSIST_STATE_TEXT_H_
#define SLUICE_TESTS_UNIT_PERSIST_STATE_TEXT_H_

#include <string>

#include "persist/store.h"
#include "state/cluster_state.h"

namespace sluice {

// Which deltas are in flight is left out: that is not stored.
std::string StateText(const ClusterState& state);

// Every entry of the store, in hexadecimal.
std::string StoreText(const Store& store);

// All ids of the state, as if everything had changed.
ChangeSet EverythingIn(const ClusterState& state);

}  // namespace sluice

#endif  // SLUICE_TESTS_UNIT_PERSIST_STATE_TEXT_H_
