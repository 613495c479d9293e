#include "state/machine_commands.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "state/announcements.h"
#include "state/requeues.h"

namespace sluice {
namespace {

Resources OnePod() { return Resources(0, 0, 0, 1); }

}  // namespace

Ack MachineCommands::Apply(const AddMachine& command) {
  const Machine* known = state_.FindMachine(command.spec.uuid);
  const bool is_present = known != nullptr && known->is_present;
  Machine* machine =
      is_present ? nullptr : Put(command.spec, FeedId(), command.running);
  if (machine != nullptr) {
    Announcements(now_ms_, &state_).Mention(machine);
    return Ack::kOk;
  }
  if (known != nullptr && known->feed == FeedId() && command.may_begin_anew) {
    AnnounceAgain(known->id);
  }
  return Ack::kAlreadyExists;
}

Machine* MachineCommands::Put(const MachineSpec& spec, FeedId feed,
                              const std::vector<TaskUid>& running) {
  const Machine* known = state_.FindMachine(spec.uuid);
  const auto is_taken = [&](const std::string& uuid) {
    const auto it = state_.machine_ids_.find(uuid);
    return it != state_.machine_ids_.end() &&
           (known == nullptr || it->second != known->id);
  };
  if (is_taken(spec.uuid) ||
      std::ranges::any_of(spec.pus, is_taken, &MachineSpec::Pu::uuid) ||
      std::ranges::any_of(spec.other_uuids, is_taken)) {
    return nullptr;
  }
  Machine* machine = nullptr;
  if (known != nullptr) {
    machine = state_.MutableMachine(known->id);
    state_.departed_.erase(machine->id);
  } else {
    auto owned = std::make_unique<Machine>();
    machine = owned.get();
    machine->id = {state_.counters_.next_machine_id++};
    machine->uuid = spec.uuid;
    state_.machines_.Add(machine->id, std::move(owned));
  }
  machine->is_present = true;
  machine->feed = feed;
  state_.Describe(machine, spec, /*keep_tree=*/false, now_ms_);
  Adoptions(now_ms_, &state_).Adopt(machine, running);
  return machine;
}

const Machine* MachineCommands::FindMachineOfClient(
    const std::string& uuid) const {
  const Machine* machine = state_.FindMachine(uuid);
  return machine == nullptr || machine->feed != FeedId() ? nullptr : machine;
}

void MachineCommands::AnnounceAgain(MachineId id) {
  Machine* machine = state_.MutableMachine(id);
  Announcements announcements(now_ms_, &state_);
  announcements.NoteAgain(machine->announcement);
  // It was mentioned since its client last began anew.
  if (machine->announcement >= state_.counters().stale_below) {
    announcements.Apply(BeginAnnouncement());
  }
  announcements.Mention(machine);
}

Ack MachineCommands::Apply(const UpdateMachine& command) {
  const Machine* known = FindMachineOfClient(command.spec.uuid);
  if (known == nullptr) return Ack::kNotFound;
  Machine* machine = state_.MutableMachine(known->id);
  Announcements(now_ms_, &state_).Mention(machine);
  state_.Describe(machine, command.spec,
                  /*keep_tree=*/true, now_ms_);
  return Ack::kOk;
}

Ack MachineCommands::Apply(const RemoveMachine& command) {
  const Machine* known = FindMachineOfClient(command.uuid);
  if (known == nullptr) return Ack::kNotFound;
  const MachineId id = known->id;
  if (known->is_present) Remove(id);
  if (!command.has_failed) return Ack::kOk;
  // Remove() may have forgotten an empty one.
  known = state_.FindMachine(id);
  if (known != nullptr) Requeues(now_ms_, &state_).LoseTasksOf(*known);
  return Ack::kOk;
}

void MachineCommands::Remove(MachineId id) {
  Machine* machine = state_.MutableMachine(id);
  machine->is_present = false;
  machine->feed = FeedId();  // The next to state it owns it.
  state_.Touch(*machine);
  EndRoomKeptOn(*machine);
  Adoptions(now_ms_, &state_).DropClaimsOf(machine);
  // A decision that no client was told about is undone.  Other tasks may go on.
  const std::vector<TaskId> tasks(machine->tasks.begin(), machine->tasks.end());
  for (const TaskId task : tasks) {
    const Delta* waiting = state_.outbox_.Waiting(task);
    if (waiting != nullptr) state_.Revoke(Delta(*waiting));
  }
  state_.departed_.insert(machine->id);
  if (state_.departed_.size() > kDepartedMachinesMax) {
    for (const MachineId departed : state_.departed_) {
      if (!state_.FindMachine(departed)->IsEmpty()) continue;
      DropMachine(departed);
      break;
    }
  }
}

void MachineCommands::EndRoomKeptOn(const Machine& machine) {
  while (!machine.nominated.empty()) {
    state_.EndNomination(*machine.nominated.begin());
  }
  state_.EndSuccessionsOn(machine);
}

Ack MachineCommands::Apply(const SetDraining& command) {
  const Machine* known = state_.FindMachine(command.machine_uuid);
  if (known == nullptr || (command.is_draining && !known->is_present)) {
    return Ack::kNotFound;
  }
  if (known->IsDraining() == command.is_draining) return Ack::kOk;
  Machine* machine = state_.MutableMachine(known->id);
  state_.Touch(*machine);
  if (command.is_draining) {
    machine->draining_from = std::ssize(machine->tasks);
    state_.draining_.insert(machine->id);
    EndRoomKeptOn(*machine);
  } else {
    machine->draining_from.reset();
    state_.draining_.erase(machine->id);
  }
  return Ack::kOk;
}

Ack MachineCommands::Apply(const AddForeignPod& command) {
  const auto it = state_.machine_ids_.find(command.machine_uuid);
  if (it == state_.machine_ids_.end()) return Ack::kNotFound;
  absl::StatusOr<Resources> usage = state_.FromNamed(command.usage);
  if (!usage.ok()) return Ack::kNotFound;
  RemoveForeign(command.name);
  Machine* machine = state_.MutableMachine(it->second);
  *usage += OnePod();
  state_.resources_.Acquire(*usage);
  machine->used += *usage;
  state_.nominations_.UpdateReserved(machine);
  machine->foreign_pods.emplace(command.name, *std::move(usage));
  state_.Touch(*machine);
  state_.foreign_pod_machines_[command.name] = machine->id;
  return Ack::kOk;
}

Ack MachineCommands::Apply(const RemoveForeignPod& command) {
  const auto it = state_.foreign_pod_machines_.find(command.name);
  if (it == state_.foreign_pod_machines_.end()) return Ack::kNotFound;
  // A late report about the pod's former machine must not remove it from the
  // present one.
  const auto named = state_.machine_ids_.find(command.machine_uuid);
  if (!command.machine_uuid.empty() &&
      (named == state_.machine_ids_.end() || named->second != it->second)) {
    return Ack::kNotFound;
  }
  RemoveForeign(command.name);
  return Ack::kOk;
}

void MachineCommands::RemoveForeign(const std::string& name) {
  const auto it = state_.foreign_pod_machines_.find(name);
  if (it == state_.foreign_pod_machines_.end()) return;
  Machine* machine = state_.MutableMachine(it->second);
  const auto pod = machine->foreign_pods.find(name);
  const Resources usage = pod->second;
  machine->foreign_pods.erase(pod);
  state_.Touch(*machine);
  state_.foreign_pod_machines_.erase(it);
  state_.resources_.Release(usage);
  state_.Release(usage, machine);
}

Ack MachineCommands::Apply(const ReportMachineUsage& command) {
  const auto it = state_.machine_ids_.find(command.machine_uuid);
  if (it == state_.machine_ids_.end()) return Ack::kNotFound;
  MachineUsage sample = command.usage;
  sample.at_ms = now_ms_;
  // Nothing that is stored changes, and nothing that a round reads either
  // unless tasks are placed by measured use.
  Machine* machine = state_.machines_.Find(it->second);
  if (state_.measured_use_.Add(sample, machine)) {
    state_.nominations_.UpdateReserved(state_.MutableMachine(machine->id));
  }
  return Ack::kOk;
}

void MachineCommands::DropMachine(MachineId id) {
  Machine* machine = state_.MutableMachine(id);
  state_.Touch(*machine);
  state_.SetAvoids(machine, {});
  state_.resources_.Release(machine->allocatable);
  state_.resources_.Release(machine->capacity);
  for (const ProcessingUnit& pu : machine->pus) {
    state_.resources_.Release(pu.capacity);
  }
  for (const NumaNode& node : machine->numa_nodes) {
    state_.resources_.Release(node.capacity);
  }
  state_.peers_.Drop(*machine);
  state_.described_machines_[id] = kAllFields;
  state_.no_execute_machines_.erase(id);
  state_.machine_ids_.erase(machine->uuid);
  for (const ProcessingUnit& pu : machine->pus)
    state_.machine_ids_.erase(pu.uuid);
  for (const std::string& uuid : machine->other_uuids)
    state_.machine_ids_.erase(uuid);
  state_.departed_.erase(id);
  state_.draining_.erase(id);
  state_.measured_use_.Drop(machine);
  state_.machines_.Take(id);
}

}  // namespace sluice
