#include "core/known_plan.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>

#include "core/round_packing.h"

namespace sluice {

std::vector<std::pair<MachineId, size_t>> ClassesOfVictims(
    const KnownPlan& plan, const RoundPacking& packing,
    const ClusterState& state) {
  std::vector<std::pair<MachineId, size_t>> classes;
  for (const TaskId id : plan.victims) {
    const MachineId machine = state.FindTask(id)->machine;
    const auto found = std::ranges::find(packing.running_classes,
                                         packing.running.ClassOf(machine, id));
    if (found == packing.running_classes.end()) continue;
    classes.emplace_back(
        machine,
        packing.classes.size() +
            static_cast<size_t>(found - packing.running_classes.begin()));
  }
  return classes;
}

std::vector<int64_t> CountPlaced(const KnownPlan& plan,
                                 const RoundPacking& packing,
                                 const ClusterState& state) {
  std::vector<int64_t> placed(packing.problem.classes.size(), 0);
  const auto place = [&](const Task& task) {
    const auto it = std::ranges::lower_bound(packing.classes, task.class_key);
    if (it == packing.classes.end() || *it != task.class_key) return;
    ++placed[static_cast<size_t>(it - packing.classes.begin())];
  };
  for (const TaskId id : packing.placed) place(*state.FindTask(id));
  for (const auto& [id, machine] : plan.nominated) {
    const Task* task = state.FindTask(id);
    if (task != nullptr && task->IsSchedulable()) place(*task);
  }
  for (size_t i = 0; i < packing.running_classes.size(); ++i) {
    const size_t c = packing.classes.size() + i;
    placed[c] = packing.problem.classes[c].count();
  }
  for (const auto& [machine, c] : ClassesOfVictims(plan, packing, state)) {
    --placed[c];
  }
  return placed;
}

std::vector<int64_t> CountPlaced(std::span<const Pattern> patterns,
                                 const RoundPacking& packing) {
  std::vector<int64_t> placed(packing.problem.classes.size(), 0);
  for (const Pattern& pattern : patterns) {
    for (const auto& [c, count] : pattern.tasks) {
      placed[c] += count * pattern.machines;
    }
  }
  return placed;
}

LevelCosts CostOfRest(std::span<const int64_t> placed,
                      const RoundPacking& packing) {
  LevelCosts costs;
  for (size_t c = 0; c < placed.size(); ++c) {
    const PackingClass& one = packing.problem.classes[c];
    int64_t rest = one.count() - placed[c];
    for (const WaitingStep& step : one.waiting) {
      const int64_t here = std::clamp<int64_t>(rest, 0, step.count);
      costs.Add(one.runs ? packing.stop_levels[c - packing.classes.size()]
                         : step.level,
                here * step.cost);
      rest -= here;
    }
  }
  return costs;
}

bool IsAnyHeldBack(std::span<const int64_t> placed,
                   const RoundPacking& packing) {
  std::optional<uint32_t> least;  // The priority of what is kept.
  for (size_t i = 0; i < packing.running_classes.size(); ++i) {
    const RunningTasks::Class& running =
        packing.running.classes()[packing.running_classes[i]];
    const size_t c = packing.classes.size() + i;
    if (!running.may_be_stopped ||
        running.stopped_max >= packing.problem.classes[c].count()) {
      continue;
    }
    least = std::min(least.value_or(std::numeric_limits<uint32_t>::max()),
                     running.key.priority);
  }
  if (!least.has_value()) return false;
  for (size_t c = 0; c < packing.classes.size(); ++c) {
    if (packing.classes[c].priority > *least &&
        placed[c] < packing.problem.classes[c].count()) {
      return true;
    }
  }
  return false;
}

}  // namespace sluice
