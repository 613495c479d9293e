// What a plan does about rules between tasks: who has to be gone, on whichever
// machine, before a newcomer may come.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "constraints/class_peers.h"
#include "core/preempting_plan.h"

namespace sluice {

void PreemptingPlan::FindEvicted() {
  for (const auto& [id, machine] : context_.state.machines()) {
    if (machine->leaving_count == 0) continue;
    for (const TaskId one : machine->tasks) {
      const Task* task = context_.state.FindTask(one);
      if (task->is_evicted && task->class_key.DependsOnPeers()) {
        evicted_.push_back(task);
      }
    }
  }
}

void PreemptingPlan::FindConflicts(const std::vector<Pattern>& solution) {
  packing_.VisitMachines(solution, [&](MachineId id, const Pattern& pattern) {
    for (const auto& [c, count] : pattern.tasks) {
      if (c >= packing_.classes.size()) break;
      const ClassKey& key = packing_.classes[c];
      if (IsKeptFromDomains(key, context_.state.peers())) {
        conflicts_.Add(key, id);
      }
    }
  });
}

void PreemptingPlan::FindConflicts() {
  conflicts_ = DomainConflicts(context_.state.peers());
  for (const auto& [id, awaited] : awaited_) {
    for (const Task* task : awaited.tasks) {
      if (IsKeptFromDomains(task->class_key, context_.state.peers())) {
        conflicts_.Add(task->class_key, id);
      }
    }
  }
}

bool PreemptingPlan::Serves(TaskId victim) const {
  if (conflicts_.empty()) return false;
  const Task& task = *context_.state.FindTask(victim);
  return conflicts_.HighestAgainst(task.class_key, task.machine) >
         task.class_key.priority;
}

bool PreemptingPlan::IsForNothing(const Awaited& awaited) const {
  return awaited.tasks.empty() && awaited.arriving.empty() &&
         std::ranges::none_of(awaited.victims,
                              [this](TaskId one) { return Serves(one); });
}

bool PreemptingPlan::IsAllowedByPeers(
    const ClassKey& key, const Machine& machine,
    const std::vector<TaskId>& victims) const {
  const ClusterState& state = context_.state;
  if (!key.DependsOnPeers()) return true;
  if (LooksFurther(key)) return IsAllowedAsAllLeave(key, machine, victims);
  bool is_any_apart = false;
  for (const TaskId id : machine.tasks) {
    const Task& task = *state.FindTask(id);
    if (!state.peers().KeepApart(key, task.class_key)) continue;
    is_any_apart = true;
    if (!task.is_evicted && std::ranges::count(victims, id) == 0) return false;
  }
  // The packing has seen to what it may not share with others elsewhere.
  return is_any_apart ||
         ClassPeers(state, context_.constraints, key).Allows(machine);
}

bool PreemptingPlan::IsInTheWay(TaskId victim) const {
  const MachineId machine = context_.state.FindTask(victim)->machine;
  const auto c = packing_.running.ClassOf(machine, victim);
  return c.has_value() && packing_.running.classes()[*c].is_in_the_way;
}

bool PreemptingPlan::MustAwaitOthers(const ClassKey& key,
                                     const Machine& machine) {
  if (!LooksFurther(key)) return false;
  const auto [it, is_new] =
      peers_of_.try_emplace(key, context_.state, context_.constraints, key);
  const ClassPeers& peers = it->second;
  return key.rules->affinity.empty()
             ? !peers.AllowsWithout(machine, placed_peers_)
             : !peers.Allows(machine);
}

bool PreemptingPlan::IsAllowedAsAllLeave(
    const ClassKey& key, const Machine& machine,
    const std::vector<TaskId>& victims) const {
  const ClusterState& state = context_.state;
  std::vector<const Task*> leavers = evicted_;
  const auto add = [&](MachineId from, const std::vector<TaskId>& leaving) {
    for (const TaskId id : leaving) {
      const Task* task = state.FindTask(id);
      if (task != nullptr && task->class_key.DependsOnPeers() &&
          IsStillOn(from, id)) {
        leavers.push_back(task);
      }
    }
  };
  add(machine.id, victims);
  for (const auto& [id, awaited] : awaited_) {
    if (id != machine.id) add(id, awaited.victims);
  }
  return ClassPeers(state, context_.constraints, key)
      .AllowsWithout(machine, leavers);
}

}  // namespace sluice
