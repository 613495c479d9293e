// What rules say about other tasks, as it is stored, and back.
//
// Errors are those of persist/stored_rules.h.
//
// Threads: pure functions.

#ifndef SLUICE_PERSIST_STORED_PEERS_H_
#define SLUICE_PERSIST_STORED_PEERS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sluice/state/placement_rules.h"
#include "sluice/v1/store.pb.h"

namespace sluice {

v1::StoredTaskSelector Encode(const TaskSelector& selector);
absl::StatusOr<TaskSelector> Decode(const v1::StoredTaskSelector& stored);

// Adds to `stored` what `rules` says about other tasks.
void EncodePeers(const PlacementRules& rules, v1::StoredRules* stored);
// Adds to `rules` what `stored` says about them.
absl::Status DecodePeers(const v1::StoredRules& stored, PlacementRules* rules);

}  // namespace sluice

#endif  // SLUICE_PERSIST_STORED_PEERS_H_
