// The machine and the resource that a delta names.
//
// Threads: a free function; confined to the core thread.

#ifndef SLUICE_STATE_DESTINATION_H_
#define SLUICE_STATE_DESTINATION_H_

#include <string>

#include "sluice/state/machine.h"
#include "state/cluster_state.h"

namespace sluice {

struct Destination {
  const Machine* machine = nullptr;
  // Of the processing unit, or of the machine if it has none.
  const std::string* resource_uuid = nullptr;
};

// For MIGRATE: where room is kept for the successor of the task.  For the
// others, and once that room was given up: where the task is.
// REQUIRES: the delta is in the outbox.
Destination DestinationOf(const Delta& delta, const ClusterState& state);

}  // namespace sluice

#endif  // SLUICE_STATE_DESTINATION_H_
