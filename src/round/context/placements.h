// Placements that can still be undone and made again.
//
// Threads: a free function; confined to the core thread.

#ifndef SLUICE_ROUND_CONTEXT_PLACEMENTS_H_
#define SLUICE_ROUND_CONTEXT_PLACEMENTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "state/cluster_state.h"

namespace sluice {

struct Placement {
  const Task* task = nullptr;
  MachineId machine;
};

// The placements of `priority`, or of any, that the deltas from `delta_begin`
// on made and no client knows of, in delta order.  Only those that could be
// made again: no task that is quarantined by now, and none on an overcommitted
// machine.
std::vector<Placement> UndoablePlacements(const ClusterState& state,
                                          std::optional<uint32_t> priority,
                                          uint64_t delta_begin);
// The same for any priority, without looking at machines.  REQUIRES: no command
// has changed the state since the first of these deltas.
std::vector<Placement> UntouchedPlacements(const ClusterState& state,
                                           uint64_t delta_begin);

}  // namespace sluice

#endif  // SLUICE_ROUND_CONTEXT_PLACEMENTS_H_
