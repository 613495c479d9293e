// Machines that an operator wants emptied, as sluice.v1.Inspector tells of
// them.
//
// Threads: free functions; call them on the core thread (CoreLoop::Read).

#ifndef SLUICE_RPC_INSPECT_DRAIN_H_
#define SLUICE_RPC_INSPECT_DRAIN_H_

#include <string>

#include "absl/status/statusor.h"
#include "core/scheduler.h"
#include "sluice/v1/inspector.pb.h"
#include "state/cluster_state.h"

namespace sluice {

// That of the uuid, or else the only one of the name; those that have departed
// count where no other has the name.  Never null.
// Errors: kNotFound; kFailedPrecondition where several have the name.
absl::StatusOr<const Machine*> FindMachineNamed(
    const ClusterState& state, const std::string& uuid_or_name);

// A look at each machine for each class of tasks that runs there.
void InspectDrain(const Scheduler& scheduler, const Machine& machine,
                  v1::Drain* response);

}  // namespace sluice

#endif  // SLUICE_RPC_INSPECT_DRAIN_H_
