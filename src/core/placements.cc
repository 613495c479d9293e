#include "core/placements.h"

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
    const Task& task = *state.FindTask(it->second.task);
    if (task.class_key.priority != priority || !state.IsUntold(task.id) ||
        task.is_muted || !task.quarantine_reason.empty()) {
      continue;
    }
    const Machine& machine = *state.FindMachine(task.machine);
    if (machine.IsUsable() && machine.used.FitsIn(machine.allocatable)) {
      placements.push_back({&task, machine.id});
    }
  }
  return placements;
}

std::vector<MachineId> PlacesFor(const Task& task, const Task* former,
                                 const std::set<MachineId>& candidates,
                                 const ConstraintSet& constraints,
                                 const ClusterState& state, int64_t* looks) {
  const ClassKey& key = task.class_key;
  MachineId first{};
  if (former != nullptr && former->class_key == key &&
      key.rules->spread.empty()) {
    first = former->machine;
  }
  std::optional<ClassPeers> peers;
  if (key.rules->HasPeerTerms() || !key.meant_by->empty()) {
    peers.emplace(state, constraints, key);
    *looks += std::ssize(state.machines());
  }
  *looks += std::ssize(candidates);
  std::vector<MachineId> places;
  for (auto it = candidates.lower_bound(first); it != candidates.end(); ++it) {
    const Machine& machine = *state.FindMachine(*it);
    if (constraints.Allows(key, machine) &&
        (!peers.has_value() || peers->Allows(machine))) {
      places.push_back(*it);
    }
  }
  return places;
}

}  // namespace sluice
