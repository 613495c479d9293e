#include "round/packing/stoppable_tasks.h"

#include <algorithm>
#include <map>

#include "round/packing/running_tasks.h"

namespace sluice {

StoppableTasks::StoppableTasks(const ClusterState& state, const Gangs& gangs,
                               const PreemptionOptions& options,
                               uint32_t priority)
    : state_(state),
      options_(options),
      priority_(priority),
      disruptions_(state),
      allowances_(disruptions_.Allowances()),
      gangs_(FindGangVictims(state, gangs, [this](const Task& task) {
        return MayLeaveByItself(task);
      })) {}

bool StoppableTasks::MayLeaveByItself(const Task& task) {
  return task.state == TaskState::kRunning && !task.is_evicted &&
         MayBeStopped(task, priority_, state_) && MayLose(task.machine) &&
         (options_.breaks_budgets ||
          disruptions_.Allowed(disruptions_.BudgetsOf(task)) > 0);
}

bool StoppableTasks::MayLose(MachineId machine) {
  if (asked_about_ != machine) {
    asked_about_ = machine;
    may_lose_ = MayLoseTasks(*state_.FindMachine(machine));
  }
  return may_lose_;
}

bool StoppableTasks::MayLeave(const Task& task) {
  if (task.class_key.gang.has_value() &&
      !gangs_.contains(*task.class_key.gang)) {
    return false;
  }
  return !stopped_.contains(task.id) && MayLeaveByItself(task);
}

const GangVictim* StoppableTasks::GangOf(const Task& task) const {
  if (!task.class_key.gang.has_value()) return nullptr;
  const GangVictim& gang = gangs_.at(*task.class_key.gang);
  return gang.minimum == 0 ? nullptr : &gang;
}

int64_t StoppableTasks::CostOf(const Task& task) const {
  return StopCost(task, options_);
}

std::vector<const Task*> StoppableTasks::WithGangs(
    std::vector<const Task*> tasks) const {
  std::map<JobId, int64_t> leaving;
  for (const Task* task : tasks) {
    if (GangOf(*task) != nullptr) ++leaving[*task->class_key.gang];
  }
  for (const auto& [id, count] : leaving) {
    const GangVictim& gang = gangs_.at(id);
    if (count <= std::ssize(gang.tasks) - gang.minimum) continue;
    for (const Task* mate : gang.tasks) {
      if (std::ranges::count(tasks, mate) == 0) tasks.push_back(mate);
    }
  }
  return tasks;
}

int64_t StoppableTasks::CountBeyondBudgets(std::span<const Task* const> tasks) {
  if (allowances_.empty()) return 0;
  std::vector<int64_t> left = allowances_;
  return std::ranges::count_if(tasks, [&](const Task* task) {
    return disruptions_.Allowed(disruptions_.BudgetsOf(*task)) == 0 ||
           !disruptions_.Take(std::span(&task->id, 1), &left);
  });
}

void StoppableTasks::Stop(std::span<const Task* const> tasks) {
  for (const Task* task : tasks) {
    disruptions_.Take(std::span(&task->id, 1), &allowances_);
    stopped_.insert(task->id);
    if (!task->class_key.gang.has_value()) continue;
    const auto gang = gangs_.find(*task->class_key.gang);
    if (gang != gangs_.end()) std::erase(gang->second.tasks, task);
  }
}

}  // namespace sluice
