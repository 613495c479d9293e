// Tasks that wait for others to leave a machine.

#include <glog/logging.h>

#include <algorithm>

#include "state/cluster_state.h"

namespace sluice {
namespace {

Resources RequestsOf(const absl::btree_set<TaskId>& ids,
                     const ClusterState& state) {
  Resources requests;
  for (const TaskId id : ids) {
    requests += state.FindTask(id)->class_key.request;
  }
  return requests;
}

Resources RequestsOfLeaving(const Machine& machine, const ClusterState& state) {
  Resources requests;
  for (const TaskId id : machine.tasks) {
    const Task& task = *state.FindTask(id);
    if (task.is_evicted) requests += task.class_key.request;
  }
  return requests;
}

}  // namespace

void ClusterState::Nominate(TaskId id, MachineId machine_id) {
  Task* task = MutableTask(id);
  Machine* machine = MutableMachine(machine_id);
  CHECK(task != nullptr && task->IsSchedulable());
  CHECK(machine != nullptr && machine->IsUsable());
  CHECK(nominations_.emplace(id, machine_id).second);
  RemovePending(*task);
  machine->nominated.insert(id);
  UpdateReserved(machine);
}

void ClusterState::EndNomination(TaskId id) {
  Task* task = MutableTask(id);
  CHECK(DropNomination(id));
  AddPending(task);
}

bool ClusterState::DropNomination(TaskId id) {
  const auto it = nominations_.find(id);
  if (it == nominations_.end()) return false;
  Machine* machine = MutableMachine(it->second);
  nominations_.erase(it);
  machine->nominated.erase(id);
  UpdateReserved(machine);
  return true;
}

void ClusterState::UpdateReserved(Machine* machine) {
  // Where nothing is nominated nobody looks at it.
  if (machine->nominated.empty()) return;
  // What leaves makes room for them, and only what that is too little for is
  // kept of the rest.
  const Resources missing = RequestsOf(machine->nominated, *this) -
                            RequestsOfLeaving(*machine, *this);
  machine->reserved = Resources();
  for (ResourceIndex i = 0; i < missing.size(); ++i) {
    if (missing[i] > 0) machine->reserved.Set(i, missing[i]);
  }
}

bool ClusterState::CanHoldNominated(const Machine& machine) const {
  return machine.IsUsable() && RequestsOf(machine.nominated, *this)
                                   .FitsIn(machine.allocatable - machine.used +
                                           RequestsOfLeaving(machine, *this));
}

}  // namespace sluice
