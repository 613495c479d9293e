// Converts the messages of the contract to what tasks say about machines
// (sluice/state/placement_rules.h) and what machines say to tasks.
//
// The results have a canonical form: rules that mean the same are equal.  A
// rule that cannot be understood holds nowhere and is noted as a fault; the
// rest stays in force.  Only values that are out of range or exceed a bound
// (base/limits.h) are errors.
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

// All rules about machines: node selector, machine_metadata, node affinity,
// machine_id, tolerations and host ports, and what TaskRules states.  Leaves
// out the owner, and everything else about other tasks (rpc/convert_peers.h).
// Errors: kInvalidArgument, with the field and what is wrong with it.
absl::StatusOr<PlacementRules> ToPlacementRules(
    const firmament::TaskDescriptor& task, Faults* faults);
absl::StatusOr<Owner> ToOwner(const firmament::TaskDescriptor& task);

// The taints that it states, and those it has because it is unschedulable or in
// a bad condition.  Errors: as above.
absl::StatusOr<std::vector<Taint>> ToTaints(
    const firmament::ResourceDescriptor& machine, Faults* faults);
// If the machine is not ready, or its condition is unknown, adds the taint that
// evicts, too, unless the machine states one with that key.
void AddEvictingTaints(const firmament::ResourceDescriptor& machine,
                       std::vector<Taint>* taints);
absl::StatusOr<std::vector<Owner>> ToAvoids(
    const firmament::ResourceDescriptor& machine);

}  // namespace sluice

#endif  // SLUICE_RPC_CONVERT_RULES_H_
