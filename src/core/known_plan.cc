#include "core/known_plan.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/round_packing.h"

namespace sluice {
namespace {

// Of each class of the problem so many are placed, or stay.
LevelCosts CostOfRest(const std::vector<int64_t>& placed,
                      const RoundPacking& packing) {
  LevelCosts costs;
  for (size_t c = 0; c < packing.problem.classes.size(); ++c) {
    const PackingClass& one = packing.problem.classes[c];
    int64_t rest = one.count() - placed[c];
    for (const WaitingStep& step : one.waiting) {
      const int64_t here = std::clamp<int64_t>(rest, 0, step.count);
      costs.Add(one.stays ? packing.stop_levels[c - packing.classes.size()]
                          : step.level,
                here * step.cost);
      rest -= here;
    }
  }
  return costs;
}

}  // namespace

LevelCosts CostOf(const KnownPlan& plan, const RoundPacking& packing,
                  const ClusterState& state) {
  std::vector<int64_t> placed(packing.problem.classes.size(), 0);
  const auto place = [&](const Task* task) {
    if (task == nullptr) return;
    const auto it = std::ranges::lower_bound(packing.classes, task->class_key);
    if (it == packing.classes.end() || *it != task->class_key) return;
    ++placed[static_cast<size_t>(it - packing.classes.begin())];
  };
  for (const TaskId id : packing.placed) place(state.FindTask(id));
  for (const Placement& one : plan.nominated) place(one.task);
  for (size_t i = 0; i < packing.running_classes.size(); ++i) {
    const size_t c = packing.classes.size() + i;
    placed[c] = packing.problem.classes[c].count();
    for (const TaskId victim : plan.victims) {
      const std::vector<TaskId> tasks = packing.running.TasksOn(
          state.FindTask(victim)->machine, packing.running_classes[i]);
      placed[c] -= std::ranges::count(tasks, victim);
    }
  }
  return CostOfRest(placed, packing);
}

LevelCosts CostOf(std::span<const Pattern> patterns,
                  const RoundPacking& packing) {
  std::vector<int64_t> placed(packing.problem.classes.size(), 0);
  for (const Pattern& pattern : patterns) {
    for (const auto& [c, count] : pattern.tasks) {
      placed[c] += count * pattern.machines;
    }
  }
  return CostOfRest(placed, packing);
}

}  // namespace sluice
