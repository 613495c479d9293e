#include "core/preempting_plan.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <ranges>
#include <tuple>
#include <utility>

#include "constraints/class_peers.h"
#include "core/disruptions.h"
#include "packing/pattern_rules.h"

namespace sluice {
namespace {

Resources RequestsOf(const std::map<ClassKey, int64_t>& counts) {
  Resources requests;
  for (const auto& [key, count] : counts) {
    requests.AddScaled(key.request, count);
  }
  return requests;
}

}  // namespace

PreemptingPlan::PreemptingPlan(const RoundPacking& packing,
                               RoundContext* context)
    : packing_(packing), context_(*context) {
  for (const TaskId id : packing.placed) {
    const Task* task = context_.state.FindTask(id);
    if (task != nullptr && task->state == TaskState::kRunning) {
      placed_[task->machine] += task->class_key.request;
    }
  }
}

MachinePatterns PreemptingPlan::Split(const std::vector<Pattern>& solution) {
  MachinePatterns patterns;
  const auto add = [&patterns](std::map<ClassKey, int64_t> holds) {
    patterns.patterns.push_back(std::move(holds));
    return static_cast<uint32_t>(patterns.patterns.size());
  };
  std::vector<size_t> taken(packing_.machines.size(), 0);
  for (const Pattern& pattern : solution) {
    std::map<ClassKey, int64_t> newcomers;
    for (const auto& [c, count] : pattern.tasks) {
      if (c < packing_.classes.size()) newcomers[packing_.classes[c]] = count;
    }
    const Resources request = RequestsOf(newcomers);
    std::optional<uint32_t> index;  // Of all of these.
    for (int64_t i = 0; i < pattern.machines; ++i) {
      const MachineId id =
          packing_.machines[pattern.group][taken[pattern.group]++];
      const Machine* machine = context_.state.FindMachine(id);
      if (machine == nullptr || newcomers.empty()) continue;
      Resources free = machine->Free();
      const auto placed = placed_.find(id);
      if (placed != placed_.end()) free += placed->second;
      std::vector<TaskId> victims = VictimsOn(id, pattern);
      const auto must_await = [&](const ClassKey& key) {
        return MustAwait(key, *machine, victims, context_.state);
      };
      if (request.FitsIn(free) &&
          std::ranges::none_of(newcomers | std::views::keys, must_await)) {
        if (!index.has_value()) index = add(newcomers);
        patterns.of_machine[id] = *index;
        continue;
      }
      std::map<ClassKey, int64_t> at_once;
      std::map<ClassKey, int64_t> here = newcomers;
      Awaited& awaited = awaited_[id];
      SpareForNoHigher(RoomBeside(id, free, pattern), &victims, &here);
      for (const auto& [key, count] : here) {  // By falling priority.
        const int64_t now =
            must_await(key) ? 0 : key.request.TimesIn(free, count);
        if (now > 0) at_once[key] = now;
        if (now < count) awaited.nominees[key] = count - now;
        free.AddScaled(key.request, -now);
      }
      awaited.victims = std::move(victims);
      if (!at_once.empty()) patterns.of_machine[id] = add(std::move(at_once));
    }
  }
  while (NominateGangs(&patterns)) {
  }
  return patterns;
}

std::vector<TaskId> PreemptingPlan::VictimsOn(MachineId machine,
                                              const Pattern& pattern) const {
  std::vector<TaskId> victims;
  for (size_t i = 0; i < packing_.running_classes.size(); ++i) {
    const std::vector<TaskId> tasks =
        packing_.running.TasksOn(machine, packing_.running_classes[i]);
    const int64_t stopped =
        std::ssize(tasks) - CountOf(packing_.classes.size() + i, pattern);
    for (int64_t k = 0; k < stopped; ++k) {
      const TaskId id = tasks[static_cast<size_t>(k)];
      if (IsStillOn(machine, id)) victims.push_back(id);
    }
  }
  return victims;
}

Resources PreemptingPlan::RoomBeside(MachineId id, Resources free,
                                     const Pattern& pattern) const {
  const Resources* room = packing_.running.FindRoomOn(id);
  if (room != nullptr) free += *room;
  for (const auto& [c, count] : pattern.tasks) {
    if (c < packing_.classes.size()) continue;
    const size_t index = packing_.running_classes[c - packing_.classes.size()];
    free.AddScaled(packing_.running.classes()[index].key.request, -count);
  }
  return free;
}

void PreemptingPlan::SpareForNoHigher(
    Resources left, std::vector<TaskId>* victims,
    std::map<ClassKey, int64_t>* newcomers) const {
  left -= RequestsOf(*newcomers);
  std::erase_if(*victims, [&](TaskId victim) {
    const ClassKey& of = context_.state.FindTask(victim)->class_key;
    Resources room = left;
    std::map<ClassKey, int64_t> kept = *newcomers;
    for (const auto& [key, count] : *newcomers) {
      if (!context_.state.peers().KeepApart(key, of)) continue;
      if (key.priority > of.priority) return false;
      room.AddScaled(key.request, count);
      kept.erase(key);
    }
    while (!of.request.FitsIn(room)) {
      if (kept.empty()) return false;
      const auto last = std::prev(kept.end());  // The least urgent.
      if (last->first.priority > of.priority) return false;
      room += last->first.request;
      if (--last->second == 0) kept.erase(last);
    }
    left = room - of.request;
    *newcomers = std::move(kept);
    return true;
  });
}

uint32_t PreemptingPlan::Awaited::Highest() const {
  uint32_t highest = 0;
  for (const Task* task : tasks) {
    highest = std::max(highest, task->class_key.priority);
  }
  return highest;
}

bool PreemptingPlan::IsStillOn(MachineId machine, TaskId id) const {
  const Task* task = context_.state.FindTask(id);
  return task != nullptr && task->state == TaskState::kRunning &&
         task->machine == machine &&
         MayBeStopped(*task, std::numeric_limits<uint32_t>::max(),
                      context_.state);
}

bool PreemptingPlan::NominateGangs(MachinePatterns* patterns) {
  const auto starts = [this](const ClassKey& key) {
    return key.gang.has_value() && context_.gangs.MayBeUndone(key);
  };
  std::set<JobId> gangs;
  for (const auto& [id, awaited] : awaited_) {
    for (const auto& [key, count] : awaited.nominees) {
      if (starts(key)) gangs.insert(*key.gang);
    }
  }
  bool has_moved = false;
  std::map<uint32_t, uint32_t> without;  // Patterns by those with gangs.
  for (auto& [id, index] : patterns->of_machine) {
    const std::map<ClassKey, int64_t> holds = patterns->patterns[index - 1];
    std::map<ClassKey, int64_t> left;
    for (const auto& [key, count] : holds) {
      if (!key.gang.has_value() || !gangs.contains(*key.gang)) {
        left[key] = count;
        continue;
      }
      awaited_[id].nominees[key] += count;
      has_moved = true;
    }
    if (left.size() == holds.size()) continue;
    const auto [it, is_new] = without.try_emplace(index);
    if (is_new) {
      patterns->patterns.push_back(std::move(left));
      it->second = static_cast<uint32_t>(patterns->patterns.size());
    }
    index = it->second;
  }
  return has_moved;
}

void PreemptingPlan::CarryOut(const MachinePatterns& patterns) {
  FindTasks(patterns);
  context_.state.SyncPeers();
  for (auto& [id, awaited] : awaited_) Validate(id, &awaited);
  DropBrokenGangs();
  KeepToBudgets();
  for (auto& [id, awaited] : awaited_) {
    if (awaited.tasks.empty()) continue;
    for (const TaskId victim : awaited.victims) {
      if (context_.state.Preempt(victim))
        context_.agenda.known.victims.push_back(victim);
      ++context_.stats->preempted;
    }
    for (const Task* task : awaited.tasks) {
      context_.state.Nominate(task->id, id);
    }
  }
}

void PreemptingPlan::FindTasks(const MachinePatterns& patterns) {
  // Of each class the first are placed at once.
  std::map<ClassKey, int64_t> at_once;
  for (const auto& [id, index] : patterns.of_machine) {
    const std::map<ClassKey, int64_t>& holds = patterns.patterns[index - 1];
    if (awaited_.contains(id)) planned_[id] = RequestsOf(holds);
    for (const auto& [key, count] : holds) at_once[key] += count;
  }
  std::map<ClassKey, std::vector<const Task*>> waiting;
  for (auto& [id, awaited] : awaited_) {
    for (const auto& [key, count] : awaited.nominees) {
      const auto [it, is_new] = waiting.try_emplace(key);
      std::vector<const Task*>& left = it->second;
      if (is_new) {
        left = context_.WaitingTasks(key);
        const int64_t placed = std::min(at_once[key], std::ssize(left));
        left.erase(left.begin(), left.begin() + placed);
        std::ranges::reverse(left);  // To be taken from the end.
      }
      for (int64_t i = 0; i < count && !left.empty(); ++i) {
        awaited.tasks.push_back(left.back());
        left.pop_back();
      }
    }
  }
}

Resources PreemptingPlan::RoomOn(const Machine& machine) const {
  Resources room =
      machine.Free() + context_.state.nominations().LeavingFrom(machine);
  const auto planned = planned_.find(machine.id);
  if (planned != planned_.end()) room -= planned->second;
  return room;
}

void PreemptingPlan::Validate(MachineId id, Awaited* awaited) const {
  const Machine* machine = context_.state.FindMachine(id);
  if (machine == nullptr || !machine->IsUsable()) {
    awaited->tasks.clear();
    return;
  }
  if (awaited->tasks.empty()) return;
  std::erase_if(awaited->victims,
                [&](TaskId victim) { return !IsStillOn(id, victim); });
  Machine after = *machine;
  after.nominated.clear();
  after.used = after.allocatable - RoomOn(*machine);
  for (const TaskId victim : awaited->victims) {
    after.used -= context_.state.FindTask(victim)->class_key.request;
  }
  std::erase_if(awaited->tasks, [&](const Task* task) {
    if (!context_.constraints.Allows(task->class_key, after) ||
        !IsAllowedByPeers(task->class_key, *machine, awaited->victims)) {
      return true;
    }
    after.used += task->class_key.request;
    return false;
  });
}

bool PreemptingPlan::IsAllowedByPeers(
    const ClassKey& key, const Machine& machine,
    const std::vector<TaskId>& victims) const {
  const ClusterState& state = context_.state;
  if (!key.DependsOnPeers()) return true;
  if (!MustAwait(key, machine, victims, state)) {
    return ClassPeers(state, context_.constraints, key).Allows(machine);
  }
  // The packing has seen to what it may not share with others elsewhere.
  return std::ranges::none_of(machine.tasks, [&](TaskId id) {
    const Task& task = *state.FindTask(id);
    return !task.is_evicted && std::ranges::count(victims, id) == 0 &&
           state.peers().KeepApart(key, task.class_key);
  });
}

void PreemptingPlan::DropBrokenGangs() {
  std::map<JobId, int64_t> missing;
  for (const auto& [id, awaited] : awaited_) {
    for (const auto& [key, count] : awaited.nominees) {
      if (key.gang.has_value()) missing[*key.gang] += count;
    }
    for (const Task* task : awaited.tasks) {
      if (task->class_key.gang.has_value()) --missing[*task->class_key.gang];
    }
  }
  for (auto& [id, awaited] : awaited_) {
    std::erase_if(awaited.tasks, [&](const Task* task) {
      return task->class_key.gang.has_value() &&
             missing[*task->class_key.gang] > 0;
    });
  }
}

void PreemptingPlan::KeepToBudgets() {
  if (awaited_.empty()) return;
  Disruptions disruptions(context_.state);
  // Those for the most urgent first, and of these those that stop the least
  // urgent.
  std::vector<std::tuple<int64_t, uint32_t, MachineId>> order;
  for (const auto& [id, awaited] : awaited_) {
    uint32_t victim = 0;
    for (const TaskId one : awaited.victims) {
      const Task* task = context_.state.FindTask(one);
      if (task != nullptr) victim = std::max(victim, task->class_key.priority);
    }
    order.emplace_back(-int64_t{awaited.Highest()}, victim, id);
  }
  std::ranges::sort(order);
  bool is_any_exceeded = false;
  for (bool must_drop = true; must_drop;) {
    must_drop = false;
    std::vector<int64_t> left = disruptions.Allowances();
    for (const auto& [newcomer, victim, id] : order) {
      Awaited& awaited = awaited_[id];
      if (awaited.tasks.empty()) continue;
      SpareNeedless(id, &awaited);
      if (disruptions.Take(awaited.victims, &left) ||
          context_.options.preemption.breaks_budgets) {
        continue;
      }
      awaited.tasks.clear();
      must_drop = true;
    }
    if (!must_drop) continue;
    DropBrokenGangs();
    is_any_exceeded = true;
  }
  if (is_any_exceeded) context_.agenda.NoteExceeded();
}

void PreemptingPlan::SpareNeedless(MachineId id, Awaited* awaited) const {
  Resources needed;
  for (const Task* task : awaited->tasks) needed += task->class_key.request;
  const uint32_t highest = awaited->Highest();
  Resources room = RoomOn(*context_.state.FindMachine(id));
  for (const TaskId victim : awaited->victims) {
    room += context_.state.FindTask(victim)->class_key.request;
  }
  std::erase_if(awaited->victims, [&](TaskId victim) {
    const ClassKey& key = context_.state.FindTask(victim)->class_key;
    const Resources without = room - key.request;
    if (key.priority < highest && !needed.FitsIn(without)) return false;
    if (std::ranges::any_of(awaited->tasks, [&](const Task* task) {
          return task->class_key.priority > key.priority &&
                 context_.state.peers().KeepApart(task->class_key, key);
        })) {
      return false;
    }
    room = without;
    return true;
  });
}

}  // namespace sluice
