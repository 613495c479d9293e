#include "round/leaving/draining.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <tuple>

#include "constraints/class_peers.h"

namespace sluice {

bool IsForGood(DrainHold hold) {
  switch (hold) {
    case DrainHold::kForeign:
    case DrainHold::kNoOwner:
    case DrainHold::kOfGang:
      return true;
    case DrainHold::kNotReached:
    case DrainHold::kBudget:
    case DrainHold::kNoMachine:
      break;
  }
  return false;
}

Draining::Draining(const ClusterState& state, const ConstraintSet& constraints)
    : state_(state),
      constraints_(constraints),
      disruptions_(state),
      allowances_(disruptions_.Allowances()) {}

std::vector<const Task*> Draining::TasksToMove(const Machine& machine) const {
  std::vector<const Task*> tasks;
  for (const TaskId id : machine.tasks) {
    const Task* task = state_.FindTask(id);
    if (!task->is_evicted) tasks.push_back(task);
  }
  std::ranges::sort(tasks, [](const Task* a, const Task* b) {
    const ClassKey& key_a = a->class_key;
    const ClassKey& key_b = b->class_key;
    return std::tie(key_b.priority, key_b.request, a->sequence) <
           std::tie(key_a.priority, key_a.request, b->sequence);
  });
  return tasks;
}

std::optional<DrainHold> Draining::HoldOf(const Task& task) {
  if (task.is_foreign) return DrainHold::kForeign;
  if (task.class_key.gang.has_value()) return DrainHold::kOfGang;
  if (task.owner.empty()) return DrainHold::kNoOwner;
  if (!state_.CanPreempt(task) || state_.IsUntold(task.id)) {
    return DrainHold::kNotReached;
  }
  const std::vector<size_t>& budgets = disruptions_.BudgetsOf(task);
  if (disruptions_.Allowed(budgets) == 0 ||
      FindExhaustedBudget(task) != nullptr) {
    return DrainHold::kBudget;
  }
  return std::nullopt;
}

const std::string* Draining::FindExhaustedBudget(const Task& task) {
  for (const size_t b : disruptions_.BudgetsOf(task)) {
    if (allowances_[b] == 0) return &disruptions_.standings()[b].name;
  }
  return nullptr;
}

const Machine* Draining::FindTarget(
    const Task& task, absl::FunctionRef<Rank(const Machine&)> rank) const {
  const ClassKey& key = task.class_key;
  ClassPeers peers(state_, constraints_, key, &task);
  if (key.rules->HasPeerTerms()) {
    for (const Promise& one : promises_) peers.Note(*one.key, one.machine);
  }
  const Machine* best = nullptr;
  Rank least;
  for (const auto& [id, machine] : state_.machines()) {
    if (!machine->IsUsable() || id == task.machine ||
        !key.request.FitsIn(RoomOn(*machine))) {
      continue;
    }
    const Rank one = rank(*machine);
    if (!one.has_value() || (least.has_value() && *least <= *one)) continue;
    if (!constraints_.Allows(key, *machine) || !peers.Allows(*machine) ||
        IsBarred(key, *machine) || IsWanted(key, *machine)) {
      continue;
    }
    best = machine.get();
    least = one;
  }
  return best;
}

// Excludes room reserved for others, even if leavers make that room: they may
// stay as long as they like.
Resources Draining::RoomOn(const Machine& machine) const {
  Resources room = machine.Free();
  if (machine.KeepsRoom()) room -= machine.awaited;
  const auto taken = taken_.find(machine.id);
  if (taken != taken_.end()) room -= taken->second;
  return room;
}

bool Draining::IsWanted(const ClassKey& key, const Machine& machine) const {
  for (const auto& [other, tasks] : state_.pending()) {
    if (other.priority <= key.priority) break;
    if (constraints_.Allows(other, machine)) return true;
  }
  return false;
}

bool Draining::IsBarred(const ClassKey& key, const Machine& target) const {
  const auto shares_port = [&](const ClassKey& other) {
    return WantSamePort(*key.rules, *other.rules);
  };
  const auto keeps_apart = [&](const Promise& one) {
    return state_.peers().KeepApart(
        key, *one.key, [&](const CountedTerm& term) {
          const DomainIndex domain = term.topology->DomainOf(target.id);
          return domain != kNoDomain &&
                 domain == term.topology->DomainOf(one.machine);
        });
  };
  if (key.rules->host_ports.empty() && !key.DependsOnPeers()) return false;
  return std::ranges::any_of(promises_, [&](const Promise& one) {
    return (one.machine == target.id && shares_port(*one.key)) ||
           keeps_apart(one);
  });
}

void Draining::NoteMove(const Task& task) {
  disruptions_.Take(std::span(&task.id, 1), &allowances_);
}

void Draining::NoteMoveToCome(const Task& task, MachineId target) {
  NoteMove(task);
  promises_.push_back({&task.class_key, target});
  taken_[target] += task.class_key.request;
}

}  // namespace sluice
