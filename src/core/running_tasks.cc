#include "core/running_tasks.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>
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

// Those that may lose tasks: by how many they have, or as they come.
std::vector<const Machine*> MachinesInOrder(const ClusterState& state,
                                            const PackingPart* part,
                                            bool is_emptiest_first) {
  std::vector<std::pair<int64_t, const Machine*>> order;
  for (const auto& [id, machine] : state.machines()) {
    if (part != nullptr && !part->contains(id)) continue;
    if (!machine->IsUsable() || IsOverfull(*machine)) continue;
    order.emplace_back(is_emptiest_first ? std::ssize(machine->tasks) : 0,
                       machine.get());
  }
  std::ranges::stable_sort(order, {},
                           &std::pair<int64_t, const Machine*>::first);
  std::vector<const Machine*> machines;
  for (const auto& [share, machine] : order) machines.push_back(machine);
  return machines;
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

// What a class has in common, in the order of the classes.
struct RunningTasks::Found {
  uint32_t priority = 0;
  Resources request = {};
  int64_t price = 0;
  std::vector<size_t> budgets = {};
  bool concerns_others = false;  // Then these tell it apart, too:
  uint32_t rules = 0;
  SelectorSet selectors = {};
  bool may_be_stopped = false;
  // Of those that may move (Movability::ShapeOf).
  std::optional<size_t> shape = {};

  friend std::strong_ordering operator<=>(const Found& a, const Found& b) {
    if (a.priority != b.priority) return b.priority <=> a.priority;
    if (const auto order = a.request <=> b.request; order != 0) return order;
    return std::tie(a.price, a.budgets, a.concerns_others, a.rules, a.selectors,
                    a.may_be_stopped, a.shape) <=>
           std::tie(b.price, b.budgets, b.concerns_others, b.rules, b.selectors,
                    b.may_be_stopped, b.shape);
  }
};

RunningTasks::RunningTasks(const ClusterState& state, const PackingPart* part,
                           uint32_t priority, const PreemptionOptions& options,
                           const Turn& turn, PackingPeers* peers,
                           Movability* movability) {
  Disruptions disruptions(state);
  std::vector<int64_t> moves_left = disruptions.Allowances();
  std::map<Found, std::vector<const Task*>> all;
  std::set<size_t> exhausted;  // Budgets that keep a task out.
  int64_t unit = 0;            // Of prices.
  const bool may_any_leave = priority > 0 || movability != nullptr;
  for (const Machine* machine :
       MachinesInOrder(state, part, movability != nullptr)) {
    if (!may_any_leave && machine->leaving_count == 0) continue;
    for (const TaskId task_id : machine->tasks) {
      const Task& task = *state.FindTask(task_id);
      const ClassKey& key = task.class_key;
      Found found = {.priority = key.priority,
                     .request = key.request,
                     .price = StopCost(task, options),
                     .may_be_stopped = MayBeStopped(task, priority, state)};
      const bool may_move = movability != nullptr && movability->MayMove(task);
      const bool may_leave =
          (found.may_be_stopped || may_move) && !peers->MustStayForIt(key);
      if (!task.is_evicted && !may_leave) continue;
      if (may_leave) {
        found.budgets = disruptions.BudgetsOf(task);
        const bool is_allowed = disruptions.Allowed(found.budgets) > 0;
        if (!options.breaks_budgets && !is_allowed) {
          ++left_alone_.tasks;
          for (const size_t b : found.budgets) {
            if (disruptions.standings()[b].allowed == 0) exhausted.insert(b);
          }
          continue;
        }
        if (is_allowed && may_move &&
            (turn.number == 0 || found.budgets.empty() ||
             (turn.number == 1 &&
              disruptions.Take(std::span(&task_id, 1), &moves_left)))) {
          found.shape = movability->ShapeOf(*key.rules);
        }
        if (!found.may_be_stopped && !found.shape.has_value()) continue;
      }
      machines_[machine->id].room += key.request;
      found.concerns_others = peers->Concerns(key);
      if (found.concerns_others) peers->NoteLeaving(key, machine->id);
      if (!may_leave) continue;
      unit = std::gcd(unit, found.price);
      if (found.concerns_others) {
        found.rules = key.rules->id;
        found.selectors = *key.meant_by;
      }
      all[std::move(found)].push_back(&task);
    }
    // Not all that leaves makes room for whoever waits.
    const auto here = machines_.find(machine->id);
    if (here != machines_.end() && machine->KeepsRoom()) {
      here->second.room -= machine->awaited;
    }
  }
  left_alone_.budgets = std::ssize(exhausted);
  std::vector<std::vector<size_t>> budgets_of;  // By class.
  for (auto& [found, tasks] : all) {
    AddClass(found, std::move(tasks), unit, options);
    classes_.back().stopped_max = disruptions.Allowed(found.budgets);
    budgets_of.push_back(found.budgets);
  }
  if (turn.number > 0) {
    ShareBudgets(budgets_of, turn, disruptions.Allowances());
  }
}

void RunningTasks::AddClass(const Found& found, std::vector<const Task*> tasks,
                            int64_t unit, const PreemptionOptions& options) {
  std::ranges::sort(tasks, std::ranges::greater(), [](const Task* task) {
    return std::pair(task->placed_ms, task->sequence);
  });
  for (const Task* task : tasks) {
    machines_[task->machine].tasks.emplace_back(classes_.size(), task->id);
  }
  const ClassKey& first = tasks.front()->class_key;
  Class& made = classes_.emplace_back();
  made.key = {.priority = found.priority, .request = found.request};
  if (found.concerns_others || found.shape.has_value()) {
    made.key.rules = first.rules;
  }
  if (found.concerns_others) made.key.meant_by = first.meant_by;
  made.may_be_stopped = found.may_be_stopped;
  made.price = found.price / unit;
  if (found.shape.has_value()) {
    made.move_cost = MoveCost(found.price, options);
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
