// Restores the state from a store: the opposite of EncodeChanges.

#ifndef SLUICE_PERSIST_RECOVERY_H_
#define SLUICE_PERSIST_RECOVERY_H_

#include "absl/status/status.h"
#include "persist/store.h"
#include "state/cluster_state.h"

namespace sluice {

// Makes `state`, which is new, what it was when the last batch was written.
// Every delivery that was under way ends as failed: nobody knows which arrived,
// so they are repeated.  An empty store leaves `state` as it is.
//
// If the machine of a placement went away during its delivery, the placement
// cannot be delivered again and is undone.  The state then has changes: write
// them before anything else is based on them.
//
// Errors: those of the store; kFailedPrecondition if the records are of another
// format; kDataLoss, with the key, if a record is damaged or contradicts
// another.  After an error `state` is unusable.  No content of the store can
// end the process.
absl::Status Recover(const Store& store, ClusterState* state);

}  // namespace sluice

#endif  // SLUICE_PERSIST_RECOVERY_H_
