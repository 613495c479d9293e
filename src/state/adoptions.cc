#include "state/adoptions.h"

#include <glog/logging.h>

#include <optional>

#include "state/cluster_state.h"
#include "state/machine_commands.h"

namespace sluice {

void AdoptionIndex::SetRunsOn(Task* task, const std::string& uuid) {
  if (task->runs_on == uuid) return;
  if (!task->runs_on.empty()) {
    const auto it = awaiting.find(task->runs_on);
    it->second.erase(task->id);
    if (it->second.empty()) awaiting.erase(it);
  }
  task->runs_on = uuid;
  if (!uuid.empty()) awaiting[uuid].insert(task->id);
}

void AdoptionIndex::AddClaim(TaskUid uid, Machine* machine) {
  const auto [it, is_new] = claimants.emplace(uid, machine->id);
  CHECK(it->second == machine->id);
  if (is_new) machine->claimed.insert(uid);
}

void Adoptions::Adopt(Task* task, const std::string& runs_on) {
  AdoptionIndex& index = state_.adoptions_;
  const auto claim = index.claimants.find(task->client.uid);
  const std::optional<MachineId> claimed_by =
      claim == index.claimants.end() ? std::nullopt
                                     : std::optional(claim->second);
  DropClaim(task->client.uid);
  if (!task->IsLive()) return;
  if (runs_on.empty()) {
    if (claimed_by.has_value()) {
      Put(task, *claimed_by);
    } else if (!task->runs_on.empty()) {
      // Its client says now that it waits.
      state_.LeaveQueue(*task);
      index.SetRunsOn(task, "");
      state_.EnterQueue(task);
    }
    return;
  }
  const auto known = state_.machine_ids_.find(runs_on);
  if (known != state_.machine_ids_.end()) {
    Put(task, known->second);
    return;
  }
  state_.LeaveQueue(*task);
  if (task->state == TaskState::kRunning) state_.BecomePending(task);
  index.SetRunsOn(task, runs_on);
  state_.Touch(*task);
  state_.EnterQueue(task);
}

void Adoptions::Adopt(Machine* machine, const std::vector<TaskUid>& running) {
  AdoptionIndex& index = state_.adoptions_;
  if (!index.awaiting.empty()) {
    const auto adopt = [&](const std::string& uuid) {
      const auto it = index.awaiting.find(uuid);
      if (it == index.awaiting.end()) return;
      const absl::btree_set<TaskId> tasks = it->second;
      for (const TaskId id : tasks) Put(state_.MutableTask(id), machine->id);
    };
    adopt(machine->uuid);
    for (const ProcessingUnit& pu : machine->pus) adopt(pu.uuid);
    for (const std::string& uuid : machine->other_uuids) adopt(uuid);
  }
  DropClaimsOf(machine);
  for (const TaskUid uid : running) {
    Task* task = state_.MutableHolder(uid);
    if (task != nullptr && task->state != TaskState::kRemoved) {
      // The daemon knows more about tasks that are placed already.
      if (task->state == TaskState::kPending) Put(task, machine->id);
      continue;
    }
    DropClaim(uid);  // Of a machine that named it before.
    index.AddClaim(uid, machine);
  }
}

void Adoptions::Put(Task* task, MachineId id) {
  state_.LeaveQueue(*task);
  state_.adoptions_.SetRunsOn(task, "");
  // A client may have reported it as a foreign pod.
  MachineCommands(now_ms_, &state_).Apply(RemoveForeignPod{task->name, ""});
  PutWhereItRuns(task, state_.MutableMachine(id));
  state_.replacements_.SetHeld(task, false);
  state_.requeues_.SetRetry(task, 0);
  state_.Touch(*task);
  state_.EnterQueue(task);
}

void Adoptions::PutWhereItRuns(Task* task, Machine* machine) {
  if (task->state == TaskState::kRunning && task->machine == machine->id) {
    // Its client knows where it runs, but maybe not that it is to stop.
    if (!task->is_evicted) state_.DeleteDeltas(task->id);
  } else {
    if (task->state == TaskState::kRunning) state_.BecomePending(task);
    state_.BecomeRunning(task, machine, now_ms_);
  }
  state_.NoteStarted(task->job);
}

void Adoptions::DropClaim(TaskUid uid) {
  const auto it = state_.adoptions_.claimants.find(uid);
  if (it == state_.adoptions_.claimants.end()) return;
  Machine* machine = state_.MutableMachine(it->second);
  state_.adoptions_.claimants.erase(it);
  machine->claimed.erase(uid);
  state_.Touch(*machine);
}

void Adoptions::DropClaimsOf(Machine* machine) {
  for (const TaskUid uid : machine->claimed) {
    state_.adoptions_.claimants.erase(uid);
  }
  machine->claimed.clear();
}

}  // namespace sluice
