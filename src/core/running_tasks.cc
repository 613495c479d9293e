#include "core/running_tasks.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <tuple>

namespace sluice {
namespace {

// A machine that came back smaller than its load: not even what runs there
// fits, so a packing can say nothing about it.
bool IsOverfull(const Machine& machine) {
  const Resources free = machine.Free();
  for (ResourceIndex i = 0; i < free.size(); ++i) {
    if (free[i] < 0) return true;
  }
  return false;
}

}  // namespace

bool MayBeStopped(const Task& task, uint32_t priority,
                  const ClusterState& state) {
  const ClassKey& key = task.class_key;
  return key.priority < priority && !key.gang.has_value() &&
         key.rules->host_ports.empty() && state.CanPreempt(task) &&
         !state.IsUntold(task.id);
}

bool MustAwait(const ClassKey& key, const Machine& machine,
               std::span<const TaskId> victims, const ClusterState& state) {
  return key.DependsOnPeers() &&
         std::ranges::any_of(machine.tasks, [&](TaskId id) {
           const Task& task = *state.FindTask(id);
           return (task.is_evicted || std::ranges::count(victims, id) > 0) &&
                  state.peers().KeepApart(key, task.class_key);
         });
}

RunningTasks::RunningTasks(const ClusterState& state, uint32_t priority,
                           const PreemptionOptions& options, const Turn& turn,
                           PackingPeers* peers) {
  Disruptions disruptions(state);
  // Request, price, budgets, and the rules and selectors that concern others.
  using Kind = std::tuple<Resources, int64_t, std::vector<size_t>, uint32_t,
                          SelectorSet>;
  // By falling priority.
  std::map<uint32_t, std::map<Kind, std::vector<const Task*>>, std::greater<>>
      found;
  int64_t unit = 0;  // Of prices.
  for (const auto& [id, machine] : state.machines()) {
    if (!machine->IsUsable() || IsOverfull(*machine)) continue;
    for (const TaskId task_id : machine->tasks) {
      const Task& task = *state.FindTask(task_id);
      const ClassKey& key = task.class_key;
      const bool may_be_stopped = MayBeStopped(task, priority, state);
      if (!task.is_evicted && !may_be_stopped) continue;
      std::vector<size_t> budgets;
      if (may_be_stopped) {
        budgets = disruptions.BudgetsOf(task);
        if (!options.breaks_budgets && disruptions.Allowed(budgets) == 0) {
          continue;
        }
      }
      machines_[id].room += key.request;
      const bool concerns = peers->Concerns(key);
      if (concerns) peers->NoteLeaving(key, id);
      if (!may_be_stopped) continue;
      const int64_t price = options.cost + task.preemption_cost;
      unit = std::gcd(unit, price);
      found[key.priority][{key.request, price, std::move(budgets),
                           concerns ? key.rules->id : 0,
                           concerns ? *key.meant_by : SelectorSet()}]
          .push_back(&task);
    }
  }
  std::vector<std::vector<size_t>> budgets_of;  // By class.
  for (auto& [of_priority, by_kind] : found) {
    for (auto& [kind, tasks] : by_kind) {
      std::ranges::sort(tasks, std::ranges::greater(), [](const Task* task) {
        return std::pair(task->placed_ms, task->sequence);
      });
      for (const Task* task : tasks) {
        machines_[task->machine].tasks.emplace_back(classes_.size(), task->id);
      }
      const auto& [request, price, budgets, rules, selectors] = kind;
      const ClassKey& first = tasks.front()->class_key;
      Class& made = classes_.emplace_back();
      made.key = {.priority = of_priority, .request = request};
      if (peers->Concerns(first)) {
        made.key.rules = first.rules;
        made.key.meant_by = first.meant_by;
      }
      made.price = price / unit;
      made.stopped_max = disruptions.Allowed(budgets);
      budgets_of.push_back(budgets);
    }
  }
  if (turn.number > 0) {
    ShareBudgets(budgets_of, turn, disruptions.Allowances());
  }
}

void RunningTasks::ShareBudgets(const std::vector<std::vector<size_t>>& budgets,
                                const Turn& turn, std::vector<int64_t> left) {
  std::vector<int64_t> counts(classes_.size(), 0);
  std::vector<int64_t> known(classes_.size(), 0);
  for (const auto& [id, machine] : machines_) {
    for (const auto& [c, task] : machine.tasks) {
      ++counts[c];
      if (turn.number > 1 || std::ranges::count(turn.known, task) == 0)
        continue;
      ++known[c];
      for (const size_t b : budgets[c]) --left[b];
    }
  }
  std::vector<size_t> order;  // The last class first.
  for (size_t c = classes_.size(); c-- > 0;) {
    if (!budgets[c].empty()) order.push_back(c);
  }
  if (order.empty()) return;
  turns_ = order.size() + (turn.known.empty() ? 0 : 1);
  std::ranges::rotate(order,
                      order.begin() + (turn.number - 1) % std::ssize(order));
  for (const size_t c : order) {
    int64_t& most = classes_[c].stopped_max;
    for (const size_t b : budgets[c]) {
      most = std::clamp<int64_t>(known[c] + left[b], 0, most);
    }
    for (const size_t b : budgets[c]) {
      left[b] -= std::max<int64_t>(std::min(most, counts[c]) - known[c], 0);
    }
  }
}

const Resources* RunningTasks::FindRoomOn(MachineId machine) const {
  const auto it = machines_.find(machine);
  return it == machines_.end() ? nullptr : &it->second.room;
}

std::vector<std::pair<size_t, int64_t>> RunningTasks::CountOn(
    MachineId machine) const {
  std::vector<std::pair<size_t, int64_t>> counts;
  const auto it = machines_.find(machine);
  if (it == machines_.end()) return counts;
  for (const auto& [c, task] : it->second.tasks) {
    if (counts.empty() || counts.back().first != c) counts.emplace_back(c, 0);
    ++counts.back().second;
  }
  return counts;
}

std::optional<size_t> RunningTasks::ClassOf(MachineId machine,
                                            TaskId task) const {
  const auto it = machines_.find(machine);
  if (it == machines_.end()) return std::nullopt;
  for (const auto& [c, id] : it->second.tasks) {
    if (id == task) return c;
  }
  return std::nullopt;
}

std::vector<TaskId> RunningTasks::TasksOn(MachineId machine,
                                          size_t of_class) const {
  std::vector<TaskId> tasks;
  const auto it = machines_.find(machine);
  if (it == machines_.end()) return tasks;
  for (const auto& [c, task] : it->second.tasks) {
    if (c == of_class) tasks.push_back(task);
  }
  return tasks;
}

}  // namespace sluice
