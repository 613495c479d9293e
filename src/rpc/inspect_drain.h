// Machines that an operator drains, as sluice.v1.Inspector shows them.
//
// Threads: free functions; call them on the core thread (CoreLoop::Read).

#ifndef SLUICE_RPC_INSPECT_DRAIN_H_
#define SLUICE_RPC_INSPECT_DRAIN_H_

#include <string>

#include "absl/status/statusor.h"
#include "round/scheduler.h"
#include "sluice/v1/inspector.pb.h"
#include "state/cluster_state.h"

namespace sluice {

// The machine with the uuid, or else the only one with the name.  Departed
// machines count only if no other has the name.  Never null.
// Errors: kNotFound; kFailedPrecondition if several have the name.
absl::StatusOr<const Machine*> FindMachineNamed(
    const ClusterState& state, const std::string& uuid_or_name);

// Looks at every machine for each class of tasks that runs on `machine`.
void InspectDrain(const Scheduler& scheduler, const Machine& machine,
                  v1::Drain* response);

}  // namespace sluice

#endif  // SLUICE_RPC_INSPECT_DRAIN_H_
