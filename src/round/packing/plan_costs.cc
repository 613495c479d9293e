#include "round/packing/plan_costs.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "packing/packing_rest.h"
#include "round/packing/round_packing.h"

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
    // More tasks may be nominated than the packing knows.
    AddWaitingCost(one, std::max<int64_t>(one.count() - placed[c], 0), &costs);
  }
  return costs;
}

int64_t CountHeldBack(std::span<const int64_t> placed,
                      const RoundPacking& packing) {
  const std::vector<PackingClass>& classes = packing.problem.classes;
  std::optional<uint32_t> highest;  // Priority of what waits.
  for (size_t c = 0; c < packing.classes.size(); ++c) {
    if (placed[c] >= classes[c].count()) continue;
    highest = std::max(highest.value_or(0), packing.classes[c].priority);
  }
  if (!highest.has_value()) return 0;
  std::vector<int64_t> left;  // By budget.
  for (const PackingBudget& budget : packing.problem.budgets) {
    left.push_back(budget.waiting_max);
  }
  for (size_t c = 0; c < classes.size(); ++c) {
    for (const size_t b : classes[c].budgets) {
      left[b] -= classes[c].count() - placed[c];
    }
  }
  int64_t held = 0;
  for (size_t i = 0; i < packing.running_classes.size(); ++i) {
    const size_t c = packing.classes.size() + i;
    const auto& running = packing.running.classes()[packing.running_classes[i]];
    if (running.key.priority < *highest &&
        std::ranges::any_of(classes[c].budgets,
                            [&left](size_t b) { return left[b] <= 0; })) {
      held += placed[c];
    }
  }
  return held;
}

}  // namespace sluice
