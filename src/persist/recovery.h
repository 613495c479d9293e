// From a store back to the state: the opposite of EncodeChanges.

#ifndef SLUICE_PERSIST_RECOVERY_H_
#define SLUICE_PERSIST_RECOVERY_H_

#include "absl/status/status.h"
#include "persist/store.h"
#include "state/cluster_state.h"

namespace sluice {

// Makes `state`, which is new, what it was when the last batch was written,
// with every delivery that was under way ended without success: nobody knows
// which arrived, so they are made again.  An empty store leaves it as it is.
//
// A placement that was in a client's hands when its machine went away cannot be
// delivered again and is undone.  The state then has changes: write them before
// anything else is based on them.
//
// Errors: those of the store; kFailedPrecondition if the records are of another
// format; kDataLoss, with the key, if a record is damaged or contradicts
// another.  After an error `state` is of no use.  No content of the store ends
// the process.
absl::Status Recover(const Store& store, ClusterState* state);

}  // namespace sluice

#endif  // SLUICE_PERSIST_RECOVERY_H_
