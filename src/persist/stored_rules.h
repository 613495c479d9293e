// Placement rules, taints and avoided owners as they are stored, and back.
//
// Errors are kDataLoss, for what never occurs in the state: a number out of
// range, values that an operator cannot have, or a list out of order.
//
// Threads: pure functions.

#ifndef SLUICE_PERSIST_STORED_RULES_H_
#define SLUICE_PERSIST_STORED_RULES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "sluice/state/machine.h"
#include "sluice/state/placement_rules.h"
#include "sluice/v1/store.pb.h"

namespace sluice {

using StoredHostPorts = google::protobuf::RepeatedPtrField<v1::StoredHostPort>;
using StoredOwners = google::protobuf::RepeatedPtrField<v1::StoredOwner>;
using StoredTaints = google::protobuf::RepeatedPtrField<v1::StoredTaint>;

// Without the owner, which follows from the task and the machines.
v1::StoredRules Encode(const PlacementRules& rules);
absl::StatusOr<PlacementRules> Decode(const v1::StoredRules& stored);

absl::StatusOr<std::vector<HostPort>> Decode(const StoredHostPorts& stored);

StoredOwners Encode(const std::vector<Owner>& avoids);
absl::StatusOr<std::vector<Owner>> Decode(const StoredOwners& stored);

StoredTaints Encode(const std::vector<MachineTaint>& taints);
absl::StatusOr<std::vector<MachineTaint>> Decode(const StoredTaints& stored);

}  // namespace sluice

#endif  // SLUICE_PERSIST_STORED_RULES_H_
