#include "packing/packing_rest.h"

#include <algorithm>
#include <ranges>

namespace sluice {

PackingRest AllOf(const PackingProblem& problem) {
  PackingRest all;
  for (const PackingClass& one : problem.classes) {
    all.tasks.push_back(one.count());
  }
  for (const PackingGroup& group : problem.groups) {
    all.machines.push_back(group.machines);
  }
  for (const PackingCap& cap : problem.caps) all.caps.push_back(cap.most);
  return all;
}

std::vector<WaitingStep> FirstSteps(const PackingClass& of, int64_t count) {
  std::vector<WaitingStep> steps;
  for (WaitingStep step : of.waiting) {
    if (count == 0) break;
    step.count = std::min(step.count, count);
    count -= step.count;
    steps.push_back(step);
  }
  return steps;
}

std::vector<int64_t> ExcessOfBudgets(const PackingProblem& problem,
                                     const std::vector<int64_t>& waiting) {
  std::vector<int64_t> excess;
  for (const PackingBudget& budget : problem.budgets) {
    excess.push_back(-budget.waiting_max);
  }
  if (excess.empty()) return excess;
  for (size_t c = 0; c < waiting.size(); ++c) {
    for (const size_t b : problem.classes[c].budgets) excess[b] += waiting[c];
  }
  for (int64_t& count : excess) count = std::max<int64_t>(count, 0);
  return excess;
}

WaitingStep MostUrgentOf(const PackingProblem& problem, size_t task_class,
                         const std::vector<int64_t>& waiting,
                         const std::vector<int64_t>& excess) {
  const PackingClass& of = problem.classes[task_class];
  WaitingStep step = of.StepOf(waiting[task_class]);
  for (const size_t b : of.budgets) {
    const PackingBudget& budget = problem.budgets[b];
    if (excess[b] == 0 || budget.level > step.level) continue;
    step = {std::min(excess[b], waiting[task_class]), budget.cost,
            budget.level};
  }
  return step;
}

WaitingStep StepDownTo(const PackingClass& of, int64_t count, size_t level) {
  const std::vector<WaitingStep> steps = FirstSteps(of, count);
  WaitingStep together;
  for (const WaitingStep& step : std::views::reverse(steps)) {
    if (step.level > level) break;
    together = {together.count + step.count, step.cost, step.level};
  }
  return together;
}

void AddExcessCost(const PackingProblem& problem,
                   const std::vector<int64_t>& waiting, LevelCosts* cost) {
  const std::vector<int64_t> excess = ExcessOfBudgets(problem, waiting);
  for (size_t b = 0; b < excess.size(); ++b) {
    const PackingBudget& budget = problem.budgets[b];
    if (excess[b] > 0) cost->Add(budget.level, excess[b] * budget.cost);
  }
}

void AddWaitingCost(const PackingClass& of, int64_t count, LevelCosts* cost) {
  for (const WaitingStep& step : of.waiting) {
    if (count == 0) return;
    const int64_t waiting = std::min(step.count, count);
    cost->Add(step.level, waiting * step.cost);
    count -= waiting;
  }
}

}  // namespace sluice
