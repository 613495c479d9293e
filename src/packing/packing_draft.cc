#include "packing/packing_draft.h"

#include <algorithm>
#include <utility>

namespace sluice {

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

int64_t WaitingCostOf(const PackingClass& of, int64_t count) {
  int64_t cost = 0;
  for (const WaitingStep& step : FirstSteps(of, count)) {
    cost += step.count * step.cost;
  }
  return cost;
}

PackingDraft::PackingDraft(const PackingProblem& problem, PackingRest rest)
    : problem_(&problem), rest_(std::move(rest)) {}

int64_t PackingDraft::CostOfPattern(const Pattern& pattern) const {
  int64_t cost = 0;
  for (const auto& [task_class, count] : pattern.tasks) {
    cost += CostOn(pattern.group, task_class) * count;
  }
  return cost;
}

PackingCost PackingDraft::Cost() const {
  PackingCost cost = {0, placed_cost_};
  for (size_t c = 0; c < rest_.tasks.size(); ++c) {
    cost.waiting += WaitingCostOf(problem_->classes[c], rest_.tasks[c]);
  }
  return cost;
}

bool PackingDraft::Put(const Pattern& pattern) {
  int64_t machines = std::min(pattern.machines, rest_.machines[pattern.group]);
  bool has_put = false;
  while (machines > 0) {
    Pattern put{pattern.group, machines, {}};
    for (const auto& [task_class, count] : pattern.tasks) {
      const int64_t left = rest_.tasks[task_class];
      const int64_t placed = std::min(count, left);
      if (placed == 0) continue;
      put.tasks.emplace_back(task_class, placed);
      put.machines = std::min(put.machines, left / placed);
    }
    if (put.tasks.empty()) break;
    machines -= put.machines;
    rest_.machines[put.group] -= put.machines;
    for (const auto& [task_class, count] : put.tasks) {
      rest_.tasks[task_class] -= count * put.machines;
    }
    placed_cost_ += CostOfPattern(put) * put.machines;
    patterns_.push_back(std::move(put));
    has_put = true;
  }
  return has_put;
}

void PackingDraft::FillUp() {
  for (size_t g = 0; g < rest_.machines.size(); ++g) {
    if (rest_.machines[g] == 0) continue;
    patterns_.push_back({g, std::exchange(rest_.machines[g], 0), {}});
  }
  for (size_t c = 0; c < rest_.tasks.size(); ++c) {
    if (rest_.tasks[c] == 0) continue;
    std::vector<size_t> order;
    for (size_t p = 0; p < patterns_.size(); ++p) {
      if (CostOn(patterns_[p].group, c) != kNotAllowed) order.push_back(p);
    }
    std::ranges::stable_sort(
        order, {}, [&](size_t p) { return CostOn(patterns_[p].group, c); });
    for (const size_t p : order) {
      while (rest_.tasks[c] > 0 && FillOne(p, c)) {
      }
    }
  }
}

// As many more of the class as fit on the machines of a pattern.  Returns
// whether there were any.
bool PackingDraft::FillOne(size_t p, size_t task_class) {
  Pattern& pattern = patterns_[p];
  const PackingClass& one = problem_->classes[task_class];
  std::vector<int64_t> free = problem_->groups[pattern.group].free;
  int64_t more = one.per_machine_max;
  for (const auto& [c, count] : pattern.tasks) {
    if (c == task_class) more -= count;
    for (size_t d = 0; d < free.size(); ++d) {
      free[d] -= problem_->classes[c].request[d] * count;
    }
  }
  more = std::min(more, rest_.tasks[task_class]);
  for (size_t d = 0; d < free.size() && more > 0; ++d) {
    if (one.request[d] > 0) more = std::min(more, free[d] / one.request[d]);
  }
  if (more <= 0 || pattern.machines == 0) return false;
  Pattern filled = pattern;
  filled.machines = std::min(pattern.machines, rest_.tasks[task_class] / more);
  const auto it = std::ranges::lower_bound(filled.tasks, task_class, {},
                                           &std::pair<size_t, int64_t>::first);
  if (it != filled.tasks.end() && it->first == task_class) {
    it->second += more;
  } else {
    filled.tasks.insert(it, {task_class, more});
  }
  rest_.tasks[task_class] -= more * filled.machines;
  placed_cost_ += CostOn(pattern.group, task_class) * more * filled.machines;
  pattern.machines -= filled.machines;
  if (pattern.machines == 0) {
    pattern = std::move(filled);
  } else {
    patterns_.push_back(std::move(filled));
  }
  return true;
}

void PackingDraft::TakeOut(size_t p, PackingRest* rest) {
  Pattern& pattern = patterns_[p];
  --pattern.machines;
  ++rest->machines[pattern.group];
  for (const auto& [task_class, count] : pattern.tasks) {
    rest->tasks[task_class] += count;
  }
  placed_cost_ -= CostOfPattern(pattern);
}

void PackingDraft::PutBack(size_t p) {
  ++patterns_[p].machines;
  placed_cost_ += CostOfPattern(patterns_[p]);
}

void PackingDraft::PutIn(const PackingDraft& made) {
  rest_.tasks = made.rest_.tasks;
  placed_cost_ += made.placed_cost_;
  patterns_.insert(patterns_.end(), made.patterns_.begin(),
                   made.patterns_.end());
  const auto used = std::ranges::count_if(
      patterns_, [](const Pattern& pattern) { return pattern.machines > 0; });
  if (2 * used < std::ssize(patterns_)) {
    std::erase_if(patterns_,
                  [](const Pattern& pattern) { return pattern.machines == 0; });
  }
}

}  // namespace sluice
