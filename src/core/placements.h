// Placements as searches make them: those that can still be undone and made
// again, and where a task may go next.
//
// Threads: free functions; confined to the core thread.

#ifndef SLUICE_CORE_PLACEMENTS_H_
#define SLUICE_CORE_PLACEMENTS_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

#include "constraints/constraint_set.h"
#include "state/cluster_state.h"

namespace sluice {

struct Placement {
  const Task* task = nullptr;
  MachineId machine;
};

// Those that the deltas from `delta_begin` on made of tasks of `priority` and
// no client knows of, in their order.  Only what can be placed there again: no
// task that is quarantined by now, and none on a machine with less room than is
// used.
std::vector<Placement> UndoablePlacements(const ClusterState& state,
                                          uint32_t priority,
                                          uint64_t delta_begin);

struct PlaceQuery {
  const std::set<MachineId>& machines;
  // If not null, a task that was placed just before: where the two are just the
  // same it does not matter which goes where, unless the order does, and only
  // the machines from its own on are named.
  const Task* twin = nullptr;
  MachineId first{};  // From this one on, ...
  size_t count_max = std::numeric_limits<size_t>::max();  // ... so many.
};

// The machines that take the task as things are, ascending.  Adds to `looks`
// how many machines were looked at.
std::vector<MachineId> PlacesFor(const Task& task, const PlaceQuery& query,
                                 const ConstraintSet& constraints,
                                 const ClusterState& state, int64_t* looks);

}  // namespace sluice

#endif  // SLUICE_CORE_PLACEMENTS_H_
