// What rules say about other tasks, as it is stored, and back.
//
// Errors are those of persist/stored_rules.h.
//
// Threads: pure functions.

#ifndef SLUICE_PERSIST_STORED_PEERS_H_
#define SLUICE_PERSIST_STORED_PEERS_H_

#include "absl/status/statusor.h"
#include "sluice/state/peer_terms.h"
#include "sluice/v1/store.pb.h"

namespace sluice {

v1::StoredTaskSelector Encode(const TaskSelector& selector);
absl::StatusOr<TaskSelector> Decode(const v1::StoredTaskSelector& stored);

v1::StoredPeerTerm Encode(const PeerTerm& term);
absl::StatusOr<PeerTerm> Decode(const v1::StoredPeerTerm& stored);

v1::StoredWeightedPeerTerm Encode(const WeightedPeerTerm& preferred);
absl::StatusOr<WeightedPeerTerm> Decode(
    const v1::StoredWeightedPeerTerm& stored);

v1::StoredSpreadConstraint Encode(const SpreadConstraint& spread);
absl::StatusOr<SpreadConstraint> Decode(
    const v1::StoredSpreadConstraint& stored);

v1::StoredDomainMinimum Encode(const DomainMinimum& minimum);
absl::StatusOr<DomainMinimum> Decode(const v1::StoredDomainMinimum& stored);

}  // namespace sluice

#endif  // SLUICE_PERSIST_STORED_PEERS_H_
