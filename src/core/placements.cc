#include "core/placements.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "constraints/class_peers.h"

namespace sluice {

std::vector<Placement> UndoablePlacements(const ClusterState& state,
                                          uint32_t priority,
                                          uint64_t delta_begin) {
  std::vector<Placement> placements;
  for (auto it = state.outbox().lower_bound(delta_begin);
       it != state.outbox().end(); ++it) {
    if (!it->second.IsUntold()) continue;
    const Task& task = *state.FindTask(it->second.task);
    if (task.class_key.priority != priority || task.is_muted ||
        !task.quarantine_reason.empty()) {
      continue;
    }
    const Machine& machine = *state.FindMachine(task.machine);
    if (machine.IsUsable() && machine.used.FitsIn(machine.allocatable)) {
      placements.push_back({&task, machine.id});
    }
  }
  return placements;
}

std::vector<MachineId> PlacesFor(const Task& task, const PlaceQuery& query,
                                 const ConstraintSet& constraints,
                                 const ClusterState& state, int64_t* looks) {
  const ClassKey& key = task.class_key;
  MachineId first = query.first;
  if (query.twin != nullptr && query.twin->class_key == key &&
      key.rules->spread.empty()) {
    first = std::max(first, query.twin->machine);
  }
  std::optional<ClassPeers> peers;
  if (key.DependsOnPeers()) {
    peers.emplace(state, constraints, key);
    *looks += std::ssize(state.machines());
  }
  std::vector<MachineId> places;
  for (auto it = query.machines.lower_bound(first);
       it != query.machines.end() && places.size() < query.count_max; ++it) {
    ++*looks;
    const Machine& machine = *state.FindMachine(*it);
    if (constraints.Allows(key, machine) &&
        (!peers.has_value() || peers->Allows(machine))) {
      places.push_back(*it);
    }
  }
  return places;
}

}  // namespace sluice
