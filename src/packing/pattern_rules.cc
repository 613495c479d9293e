#include "packing/pattern_rules.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "packing/company.h"

namespace sluice {

void AddTasks(size_t task_class, int64_t count, Pattern* pattern) {
  const auto it = std::ranges::lower_bound(pattern->tasks, task_class, {},
                                           &std::pair<size_t, int64_t>::first);
  if (it == pattern->tasks.end() || it->first != task_class) {
    pattern->tasks.insert(it, {task_class, count});
    return;
  }
  it->second += count;
  if (it->second == 0) pattern->tasks.erase(it);
}

int64_t CountOf(size_t task_class, const Pattern& pattern) {
  const auto it = std::ranges::lower_bound(pattern.tasks, task_class, {},
                                           &std::pair<size_t, int64_t>::first);
  return it == pattern.tasks.end() || it->first != task_class ? 0 : it->second;
}

int64_t RoomOn(const PackingProblem& problem, const Pattern& pattern,
               size_t task_class) {
  const PackingClass& one = problem.classes[task_class];
  const std::vector<int64_t>& free = problem.groups[pattern.group].free;
  if (!HasCompany(problem, pattern, task_class)) return 0;
  int64_t room = problem.MostOn(task_class, problem.groups[pattern.group].kind);
  for (const auto& [c, count] : pattern.tasks) {
    if (one.IsApartFrom(c)) return 0;
    if (c == task_class) room -= count;
  }
  for (size_t d = 0; d < free.size() && room > 0; ++d) {
    if (one.request[d] <= 0) continue;
    int64_t left = free[d];
    for (const auto& [c, count] : pattern.tasks) {
      left -= problem.classes[c].request[d] * count;
    }
    room = std::min(room, left / one.request[d]);
  }
  return room;
}

int64_t RoomInCaps(const PackingProblem& problem, size_t group,
                   size_t task_class, const std::vector<int64_t>& caps) {
  int64_t room = std::numeric_limits<int64_t>::max();
  for (const size_t cap : problem.groups[group].caps) {
    const int64_t weight = problem.WeightIn(problem.caps[cap], task_class);
    if (weight == 0) continue;
    room = std::min(room, (caps[cap] + problem.caps[cap].rise_max) / weight);
  }
  return room;
}

int64_t RiseOf(const PackingProblem& problem, const PackingSpread& spread,
               const std::vector<int64_t>& caps) {
  int64_t rise = spread.rise_max;
  for (size_t i = 0; i < spread.caps.size(); ++i) {
    const size_t cap = spread.caps[i];
    rise = std::min(rise, spread.ahead[i] + problem.caps[cap].most - caps[cap]);
  }
  return rise;
}

void TakeFromCaps(const PackingProblem& problem, const Pattern& pattern,
                  int64_t times, std::vector<int64_t>* caps) {
  for (const size_t cap : problem.groups[pattern.group].caps) {
    for (const auto& [c, count] : pattern.tasks) {
      (*caps)[cap] -= problem.WeightIn(problem.caps[cap], c) * count * times;
    }
  }
}

int64_t CountedBy(const PackingProblem& problem, size_t cap,
                  const Pattern& pattern) {
  int64_t sum = 0;
  for (const auto& [c, count] : pattern.tasks) {
    sum += problem.WeightIn(problem.caps[cap], c) * count;
  }
  return sum;
}

Pattern WithinCaps(const PackingProblem& problem, Pattern pattern,
                   const std::vector<int64_t>& caps) {
  bool fits = true;  // One machine, with all that it holds.
  int64_t machines = pattern.machines;
  for (const size_t cap : problem.groups[pattern.group].caps) {
    const int64_t taken = CountedBy(problem, cap, pattern);
    if (taken <= 0) continue;
    const int64_t room = caps[cap] + problem.caps[cap].rise_max;
    fits = fits && taken <= room;
    machines = std::min(machines, room / taken);
  }
  if (fits) {
    pattern.machines = machines;
    return pattern;
  }
  std::vector<int64_t> left = caps;
  Pattern within{pattern.group, pattern.machines, {}};
  for (const auto& [c, count] : pattern.tasks) {
    const int64_t placed =
        std::min(count, RoomInCaps(problem, pattern.group, c, left));
    if (placed <= 0) continue;
    within.tasks.emplace_back(c, placed);
    TakeFromCaps(problem, {pattern.group, 1, {{c, placed}}}, 1, &left);
  }
  for (const size_t cap : problem.groups[pattern.group].caps) {
    const int64_t taken = caps[cap] - left[cap];
    if (taken > 0) {
      within.machines = std::min(
          within.machines, (caps[cap] + problem.caps[cap].rise_max) / taken);
    }
  }
  return within;
}

}  // namespace sluice
