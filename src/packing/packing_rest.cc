#include "packing/packing_rest.h"

#include <algorithm>

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

void AddWaitingCost(const PackingClass& of, int64_t count, LevelCosts* cost) {
  for (const WaitingStep& step : of.waiting) {
    if (count == 0) return;
    const int64_t waiting = std::min(step.count, count);
    cost->Add(step.level, waiting * step.cost);
    count -= waiting;
  }
}

}  // namespace sluice
