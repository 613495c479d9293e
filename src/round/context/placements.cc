#include "round/context/placements.h"

namespace sluice {
namespace {

// True if the machine has at least the room that is used and reserved.
bool HasAllItsRoom(const Machine& machine) {
  // Most reserve nothing, and offer what they have.
  if (!machine.KeepsRoom() && !machine.is_measured) {
    return machine.used.FitsIn(machine.allocatable);
  }
  return machine.used.FitsIn(machine.KeepsRoom()
                                 ? machine.Offered() - machine.reserved
                                 : machine.Offered());
}

}  // namespace

std::vector<Placement> UndoablePlacements(const ClusterState& state,
                                          std::optional<uint32_t> priority,
                                          uint64_t delta_begin) {
  std::vector<Placement> placements;
  for (auto it = state.outbox().lower_bound(delta_begin);
       it != state.outbox().end(); ++it) {
    if (!it->second.IsUntold()) continue;
    const Task& task = *state.FindTask(it->second.task);
    if ((priority.has_value() && task.class_key.priority != *priority) ||
        !task.client.IsListening() || !task.quarantine_reason.empty()) {
      continue;
    }
    const Machine& machine = *state.FindMachine(task.machine);
    if (machine.IsUsable() && HasAllItsRoom(machine)) {
      placements.push_back({&task, machine.id});
    }
  }
  return placements;
}

std::vector<Placement> UntouchedPlacements(const ClusterState& state,
                                           uint64_t delta_begin) {
  std::vector<Placement> placements;
  for (auto it = state.outbox().lower_bound(delta_begin);
       it != state.outbox().end(); ++it) {
    const Delta& delta = it->second;
    if (!delta.IsUntold()) continue;
    placements.push_back({state.FindTask(delta.task), delta.machine});
  }
  return placements;
}

}  // namespace sluice
