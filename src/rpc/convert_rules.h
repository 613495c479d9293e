// From the messages of the contract to what tasks say about machines
// (sluice/state/placement_rules.h) and what machines say to tasks.
//
// The results are in one form: what means the same is equal.  What cannot be
// understood holds nowhere, is noted as a fault, and leaves the rest in force;
// only what is out of range or beyond a bound (base/limits.h) is an error.
//
// Threads: pure functions.

#ifndef SLUICE_RPC_CONVERT_RULES_H_
#define SLUICE_RPC_CONVERT_RULES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "firmament/resource_desc.pb.h"
#include "firmament/task_desc.pb.h"
#include "rpc/checks.h"
#include "sluice/state/placement_rules.h"

namespace sluice {

// All about machines: node selector, machine_metadata, node affinity,
// machine_id, tolerations and host ports, and what TaskRules states; not the
// owner, and nothing else about other tasks (rpc/convert_peers.h).
// Errors: kInvalidArgument, with the field and what is wrong with it.
absl::StatusOr<PlacementRules> ToPlacementRules(
    const firmament::TaskDescriptor& task, Faults* faults);
absl::StatusOr<Owner> ToOwner(const firmament::TaskDescriptor& task);

// The taints it states, and those that it has because it is unschedulable or
// in a bad condition.  Errors: as above.
absl::StatusOr<std::vector<Taint>> ToTaints(
    const firmament::ResourceDescriptor& machine, Faults* faults);
// Gives a machine whose condition is not ready, or unknown, the taint by which
// that evicts, too, unless it states one of that key.
void AddEvictingTaints(const firmament::ResourceDescriptor& machine,
                       std::vector<Taint>* taints);
absl::StatusOr<std::vector<Owner>> ToAvoids(
    const firmament::ResourceDescriptor& machine);

}  // namespace sluice

#endif  // SLUICE_RPC_CONVERT_RULES_H_
