#include "sim/stop_checks.h"

#include <algorithm>

#include "base/strings.h"

namespace sluice::sim {

void StopChecks::NoteReasons(const ClusterState& state) {
  const auto note = [&](TaskId task, MachineId machine) {
    const ClassKey& key = state.FindTask(task)->class_key;
    if (key.rules->never_preempts) return;
    uint32_t& reason = reasons_[machine];
    reason = std::max(reason, key.priority + 1);
  };
  for (const auto& [task, machine] : state.nominations().machines()) {
    note(task, machine);
  }
  // Where room is kept for others who can wait for it.
  for (const auto& [sequence, delta] : state.outbox()) {
    if (sequence >= next_sequence_ && delta.type == DeltaType::kPlace) {
      note(delta.task, delta.machine);
    }
  }
}

std::map<TaskId, DeltaType> StopChecks::FindLeaving(
    const ClusterState& state) const {
  std::map<TaskId, DeltaType> leaving;
  for (const auto& [sequence, delta] : state.outbox()) {
    if (sequence >= next_sequence_ && !delta.is_repeat &&
        delta.type != DeltaType::kPlace) {
      leaving[delta.task] = delta.type;
    }
  }
  return leaving;
}

void StopChecks::NoteAllowances(const ClusterState& state) {
  if (!workload_.budget.has_value()) return;
  const std::map<TaskId, DeltaType> leaving = FindLeaving(state);
  std::map<JobId, int64_t> expected;
  std::map<JobId, int64_t> available;
  for (const auto& [id, task] : state.tasks()) {
    if (!task->IsLive()) continue;
    ++expected[task->job];
    if (task->state == TaskState::kRunning && !state.IsUntold(id) &&
        state.FindMachine(task->machine)->is_present &&
        (!task->is_evicted || leaving.contains(id))) {
      ++available[task->job];
    }
  }
  for (const auto& [job, count] : expected) {
    const auto budget = BudgetOf(workload_, state.FindJob(job)->uuid);
    if (!budget.has_value()) continue;
    int64_t amount = budget->amount;
    if (budget->is_percent) amount = (amount * count + 99) / 100;
    const int64_t needed =
        budget->limit == DisruptionBudget::Limit::kMinAvailable
            ? amount
            : count - amount;
    int64_t& allowed = allowed_[job];
    allowed = std::max(allowed, available[job] - needed);
  }
}

std::string StopChecks::FindExcess(const ClusterState& state) const {
  std::map<JobId, int64_t> leaving;
  for (const auto& [id, type] : FindLeaving(state)) {
    ++leaving[state.FindTask(id)->job];
  }
  for (const auto& [job, count] : leaving) {
    const std::string& uuid = state.FindJob(job)->uuid;
    const auto allowed = allowed_.find(job);
    if (BudgetOf(workload_, uuid).has_value() &&
        (allowed == allowed_.end() || count > allowed->second)) {
      return StrCat(uuid, " loses more than its budget allows");
    }
  }
  return "";
}

uint32_t StopChecks::ReasonOn(MachineId machine, Preemption mode) const {
  uint32_t highest = 0;
  for (const auto& [id, reason] : reasons_) {
    if (id == machine || mode == Preemption::kFull) {
      highest = std::max(highest, reason);
    }
  }
  return highest;
}

std::string StopChecks::Look(const ClusterState& state, bool is_in_round,
                             Preemption mode) {
  NoteReasons(state);
  NoteAllowances(state);
  if (is_in_round) return "";
  std::string wrong = FindExcess(state);
  for (const auto& [id, type] : FindLeaving(state)) {
    const Task& victim = *state.FindTask(id);
    if (type == DeltaType::kPreempt &&
        ReasonOn(victim.machine, mode) <= victim.class_key.priority + 1) {
      wrong = StrCat(victim.name, " is to be stopped for nobody");
    }
  }
  next_sequence_ = state.counters().next_delta_sequence;
  reasons_.clear();
  allowed_.clear();
  NoteReasons(state);
  NoteAllowances(state);
  return wrong;
}

}  // namespace sluice::sim
