#include "state/nominations.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

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

}  // namespace

Resources Nominations::LeavingFrom(const Machine& machine) const {
  Resources requests;
  if (machine.leaving_count == 0) return requests;
  for (const TaskId id : machine.tasks) {
    const Task& task = *state_.FindTask(id);
    if (task.is_evicted) requests += task.class_key.request;
  }
  return requests;
}

Resources Nominations::KeptOn(const Machine& machine) const {
  return RequestsOf(machine.nominated, state_) +
         successions_.RequestsOn(machine);
}

bool Nominations::IsReserved(const Machine& machine) const {
  return !reservations_.empty() &&
         std::ranges::any_of(machine.nominated, [this](TaskId task) {
           return reservations_.contains(task);
         });
}

bool Nominations::CanBeHeldBy(const Machine& machine,
                              const Resources& staying) const {
  if (!machine.IsUsable()) return false;
  // Tasks that have left reclaim nothing.
  const Resources room =
      IsReserved(machine)
          ? machine.allocatable - machine.used +
                RequestsOf(machine.tasks, state_)
          : machine.Offered() - machine.used + LeavingFrom(machine);
  return KeptOn(machine).FitsIn(room - staying);
}

const absl::btree_map<MachineId, int64_t>& Nominations::MachinesOf(
    const ClassKey& key) const {
  static const absl::btree_map<MachineId, int64_t> none;
  const auto it = of_class_.find(key);
  return it == of_class_.end() ? none : it->second;
}

void Nominations::Add(TaskId task, Machine* machine, bool is_final) {
  CHECK(machines_.emplace(task, machine->id).second);
  ++of_class_[state_.FindTask(task)->class_key][machine->id];
  if (is_final) final_.insert(task);
  ++changes_;
  machine->nominated.insert(task);
  const PlacementRules& rules = *state_.FindTask(task)->class_key.rules;
  machine->KeepPorts(rules.host_ports);
  expected_[task] =
      peers_.Expect(*peers_.FindIdentity(task), rules, machine->id);
  UpdateReserved(machine);
}

void Nominations::NoteReservation(TaskId task, Machine* machine) {
  reservations_.insert(task);
  UpdateReserved(machine);
}

void Nominations::Drop(TaskId task, Machine* machine) {
  CHECK(machines_.erase(task) == 1 && machine->nominated.erase(task) == 1);
  successors_.erase(task);
  final_.erase(task);
  reservations_.erase(task);
  ++changes_;
  const ClassKey& key = state_.FindTask(task)->class_key;
  const auto of_class = of_class_.find(key);
  const auto count = of_class->second.find(machine->id);
  if (--count->second == 0) of_class->second.erase(count);
  if (of_class->second.empty()) of_class_.erase(of_class);
  machine->ReleaseKeptPorts(key.rules->host_ports);
  peers_.EndExpecting(expected_.extract(task).mapped());
  UpdateReserved(machine);
}

void Nominations::AddSuccession(uint64_t sequence, Succession succession,
                                Machine* machine) {
  if (machine != nullptr) {
    machine->KeepPorts(succession.rules->host_ports);
    succession.expected =
        peers_.Expect(*peers_.FindIdentity(succession.predecessor),
                      *succession.rules, machine->id);
    machine->successions.insert(sequence);
  }
  successions_.Add(sequence, std::move(succession));
  if (machine != nullptr) UpdateReserved(machine);
}

void Nominations::DropSuccession(uint64_t sequence, Machine* machine) {
  if (machine != nullptr) {
    CHECK(machine->successions.erase(sequence) == 1);
    const Succession& one = *successions_.Find(sequence);
    machine->ReleaseKeptPorts(one.rules->host_ports);
    peers_.EndExpecting(one.expected);
  }
  successions_.Drop(sequence);
  if (machine != nullptr) UpdateReserved(machine);
}

void Nominations::UpdateReserved(Machine* machine) const {
  ++machine->revision;
  // Nobody reads `reserved` and `awaited` if nothing is kept.
  if (!machine->KeepsRoom()) return;
  const Resources kept = KeptOn(*machine);
  const Resources missing = kept - LeavingFrom(*machine);
  const bool is_reserved = IsReserved(*machine);
  Resources unused;
  if (is_reserved) unused = machine->Offered() - machine->used;
  machine->reserved = Resources();
  for (ResourceIndex i = 0; i < missing.size(); ++i) {
    // A reserved machine can keep no more than is free by now.
    const int64_t amount =
        is_reserved ? std::min(missing[i], unused[i]) : missing[i];
    if (amount > 0) machine->reserved.Set(i, amount);
  }
  machine->awaited = kept - machine->reserved;
}

}  // namespace sluice
