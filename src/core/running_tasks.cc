#include "core/running_tasks.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <tuple>

#include "core/disruptions.h"

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

// Of whom those with these rules must be near.
std::set<const CountedTerm*> CompanyTerms(
    const ClusterState& state, const std::set<const PlacementRules*>& rules) {
  std::set<const CountedTerm*> terms;
  for (const PlacementRules* one : rules) {
    if (one->affinity.empty()) continue;
    const auto& affinity = state.peers().TermsOf(*one).affinity;
    terms.insert(affinity.begin(), affinity.end());
  }
  return terms;
}

bool IsCompany(const Task& task, const std::set<const CountedTerm*>& company,
               const PeerTable& peers) {
  if (company.empty()) return false;
  return std::ranges::any_of(*task.class_key.meant_by, [&](uint32_t selector) {
    return std::ranges::any_of(
        peers.TermsAbout(selector),
        [&](const CountedTerm* term) { return company.contains(term); });
  });
}

}  // namespace

bool MayBeStopped(const Task& task, uint32_t priority,
                  const ClusterState& state) {
  const ClassKey& key = task.class_key;
  return key.priority < priority && !key.gang.has_value() &&
         key.rules->host_ports.empty() && state.CanPreempt(task) &&
         !state.IsUntold(task.id);
}

RunningTasks::RunningTasks(const ClusterState& state, uint32_t priority,
                           const std::set<const PlacementRules*>& rules,
                           const PreemptionOptions& options) {
  const std::set<const CountedTerm*> company = CompanyTerms(state, rules);
  Disruptions disruptions(state);
  // Request, price and budgets.
  using Kind = std::tuple<Resources, int64_t, std::vector<size_t>>;
  // By falling priority.
  std::map<uint32_t, std::map<Kind, std::vector<const Task*>>, std::greater<>>
      found;
  int64_t unit = 0;  // Of prices.
  for (const auto& [id, machine] : state.machines()) {
    if (!machine->IsUsable() || IsOverfull(*machine)) continue;
    for (const TaskId task_id : machine->tasks) {
      const Task& task = *state.FindTask(task_id);
      const ClassKey& key = task.class_key;
      const bool may_be_stopped = MayBeStopped(task, priority, state) &&
                                  !IsCompany(task, company, state.peers());
      if (!task.is_evicted && !may_be_stopped) continue;
      std::vector<size_t> budgets;
      if (may_be_stopped) {
        budgets = disruptions.BudgetsOf(task);
        if (!options.breaks_budgets && disruptions.Allowed(budgets) == 0) {
          continue;
        }
      }
      machines_[id].room += key.request;
      if (!may_be_stopped) continue;
      const int64_t price = options.cost + task.preemption_cost;
      unit = std::gcd(unit, price);
      found[key.priority][{key.request, price, std::move(budgets)}].push_back(
          &task);
    }
  }
  for (auto& [of_priority, by_kind] : found) {
    for (auto& [kind, tasks] : by_kind) {
      std::ranges::sort(tasks, std::ranges::greater(), [](const Task* task) {
        return std::pair(task->placed_ms, task->sequence);
      });
      for (const Task* task : tasks) {
        machines_[task->machine].tasks.emplace_back(classes_.size(), task->id);
      }
      const auto& [request, price, budgets] = kind;
      classes_.push_back({.priority = of_priority,
                          .request = request,
                          .price = price / unit,
                          .stopped_max = disruptions.Allowed(budgets)});
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
