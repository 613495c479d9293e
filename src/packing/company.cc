#include "packing/company.h"

#include <algorithm>
#include <utility>

#include "packing/pattern_rules.h"

namespace sluice {

bool HasCompany(const PackingProblem& problem, const Pattern& pattern,
                size_t task_class) {
  const PackingClass& one = problem.classes[task_class];
  return !one.needs_company ||
         !problem.NeedsCompany(task_class,
                               problem.groups[pattern.group].kind) ||
         std::ranges::any_of(one.company, [&](size_t other) {
           return CountOf(other, pattern) > 0;
         });
}

Pattern WithCompany(const PackingProblem& problem, Pattern pattern) {
  const auto is_alone = [&problem](const Pattern& all) {
    return [&problem, &all](const auto& tasks) {
      return !HasCompany(problem, all, tasks.first);
    };
  };
  while (std::ranges::any_of(pattern.tasks, is_alone(pattern))) {
    const Pattern all = pattern;
    std::erase_if(pattern.tasks, is_alone(all));
  }
  return pattern;
}

int64_t CountFreeToLeave(const PackingProblem& problem, const Pattern& pattern,
                         size_t task_class) {
  const int64_t count = CountOf(task_class, pattern);
  if (count == 0) return 0;
  Pattern without = pattern;
  AddTasks(task_class, -count, &without);
  const bool is_missed =
      std::ranges::any_of(without.tasks, [&](const auto& tasks) {
        return !HasCompany(problem, without, tasks.first);
      });
  return is_missed ? count - 1 : count;
}

std::vector<bool> FindCompany(const PackingProblem& problem) {
  std::vector<bool> is_company(problem.classes.size(), false);
  for (const PackingClass& one : problem.classes) {
    for (const size_t c : one.company) is_company[c] = true;
  }
  return is_company;
}

std::vector<size_t> CompanyDepths(const PackingProblem& problem) {
  std::vector<size_t> depths(problem.classes.size(), 0);
  for (bool has_risen = true; std::exchange(has_risen, false);) {
    for (size_t c = 0; c < depths.size(); ++c) {
      const PackingClass& one = problem.classes[c];
      size_t depth = one.needs_company ? 1 : 0;
      for (const size_t other : one.company) {
        depth = std::max(depth, depths[other] + 1);
      }
      has_risen = has_risen || depth > depths[c];
      depths[c] = depth;
    }
  }
  return depths;
}

}  // namespace sluice
