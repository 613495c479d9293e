#include "packing/merged_classes.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include "absl/container/flat_hash_map.h"

namespace sluice {

MergedClasses::MergedClasses(const PackingProblem& problem)
    : problem_(problem) {
  const bool has_company =
      std::ranges::any_of(problem.classes, &PackingClass::needs_company);
  absl::flat_hash_map<std::vector<int64_t>, size_t> known;
  for (size_t c = 0; c < problem.classes.size(); ++c) {
    const PackingClass& one = problem.classes[c];
    std::vector<int64_t> look = one.request;
    for (const std::vector<int64_t>& costs : problem.costs) {
      look.push_back(costs[c]);
    }
    for (const PackingCap& cap : problem.caps) look.push_back(cap.Counts(c));
    look.push_back(std::ssize(one.budgets));
    look.insert(look.end(), one.budgets.begin(), one.budgets.end());
    look.push_back(std::ssize(one.apart_from));
    look.insert(look.end(), one.apart_from.begin(), one.apart_from.end());
    if (has_company) AddCompany(c, &look);
    size_t merged = merged_.classes.size();
    // Limits and running tasks belong to a single class.
    if (one.per_machine_max == std::numeric_limits<int64_t>::max() &&
        !one.runs) {
      merged = known.try_emplace(std::move(look), merged).first->second;
    }
    if (merged == merged_.classes.size()) {
      merged_.classes.push_back(one);
      merged_.classes.back().waiting.clear();
      members_.emplace_back();
    }
    merged_of_.push_back(merged);
    members_[merged].push_back(c);
  }
  is_same_ = members_.size() == problem.classes.size();
  if (is_same_) return;
  const auto merge = [&](std::vector<size_t>* classes) {
    std::set<size_t> merged;
    for (const size_t c : *classes) merged.insert(merged_of_[c]);
    classes->assign(merged.begin(), merged.end());
  };
  for (PackingClass& one : merged_.classes) {
    merge(&one.apart_from);
    merge(&one.company);
  }
  merged_.company = problem.company;
  for (std::vector<size_t>& classes : merged_.company) merge(&classes);
  merged_.staying = problem.staying;
  for (auto& of_kind : merged_.staying) {
    for (auto& [c, count] : of_kind) c = merged_of_[c];
    std::ranges::sort(of_kind);
  }
  merged_.caps = problem.caps;
  merged_.spreads = problem.spreads;
  merged_.budgets = problem.budgets;
  for (PackingCap& cap : merged_.caps) merge(&cap.classes);
  MergeWaiting();
  merged_.groups = problem.groups;
  for (const std::vector<int64_t>& costs : problem.costs) {
    std::vector<int64_t>& row = merged_.costs.emplace_back();
    for (const auto& members : members_) row.push_back(costs[members[0]]);
  }
  merged_.former = Merge(problem.former);
}

std::vector<Pattern> MergedClasses::Merge(
    const std::vector<Pattern>& patterns) const {
  if (is_same_) return patterns;
  std::vector<Pattern> merged;
  for (const Pattern& pattern : patterns) {
    std::map<size_t, int64_t> tasks;
    for (const auto& [c, count] : pattern.tasks) tasks[merged_of_[c]] += count;
    merged.push_back(
        {pattern.group, pattern.machines, {tasks.begin(), tasks.end()}});
  }
  return merged;
}

void MergedClasses::MergeWaiting() {
  for (size_t m = 0; m < members_.size(); ++m) {
    // By level, the lowest first, and waiting cost.
    std::map<size_t, std::map<int64_t, int64_t>, std::greater<>> counts;
    for (const size_t c : members_[m]) {
      for (const WaitingStep& step : problem_.classes[c].waiting) {
        counts[step.level][step.cost] += step.count;
      }
    }
    for (const auto& [level, by_cost] : counts) {
      for (const auto& [cost, count] : by_cost) {
        merged_.classes[m].waiting.push_back({count, cost, level});
      }
    }
  }
}

void MergedClasses::AddCompany(size_t task_class,
                               std::vector<int64_t>* look) const {
  const PackingClass& one = problem_.classes[task_class];
  look->push_back(one.needs_company);
  look->push_back(std::ssize(one.company));
  look->insert(look->end(), one.company.begin(), one.company.end());
  const auto names = [&](const std::vector<size_t>& classes) {
    return std::ranges::binary_search(classes, task_class);
  };
  for (const PackingClass& other : problem_.classes) {
    if (other.needs_company) look->push_back(names(other.company));
  }
  for (const std::vector<size_t>& there : problem_.company) {
    look->push_back(names(there));
  }
}

std::vector<Pattern> MergedClasses::Part(
    const std::vector<Pattern>& patterns) const {
  if (is_same_) return patterns;
  std::vector<int64_t> counts(members_.size(), 0);
  for (const Pattern& pattern : patterns) {
    for (const auto& [m, count] : pattern.tasks) {
      counts[m] += count * pattern.machines;
    }
  }
  // By merged class: how many tasks of each class, the last one taken first.
  std::vector<std::vector<std::pair<size_t, int64_t>>> left(members_.size());
  const std::vector<int64_t> placed = MakeSeating().Seat(counts).tasks;
  for (size_t c = placed.size(); c-- > 0;) {
    if (placed[c] > 0) left[merged_of_[c]].emplace_back(c, placed[c]);
  }
  std::vector<Pattern> parted;
  for (const Pattern& pattern : patterns) {
    for (int64_t machines = pattern.machines; machines > 0;) {
      // What the next machine gets, and how many machines may get the same.
      Pattern part{pattern.group, machines, {}};
      for (const auto& [m, count] : pattern.tasks) {
        int64_t missing = count;
        for (auto it = left[m].rbegin(); missing > 0 && it != left[m].rend();
             ++it) {
          const int64_t taken = std::min(missing, it->second);
          part.tasks.emplace_back(it->first, taken);
          part.machines = std::min(part.machines, it->second / taken);
          missing -= taken;
        }
      }
      for (const auto& [m, count] : pattern.tasks) {
        for (int64_t missing = count * part.machines;
             missing > 0 && !left[m].empty();) {
          const int64_t taken = std::min(missing, left[m].back().second);
          missing -= taken;
          left[m].back().second -= taken;
          if (left[m].back().second == 0) left[m].pop_back();
        }
      }
      machines -= part.machines;
      std::ranges::sort(part.tasks);
      parted.push_back(std::move(part));
    }
  }
  return parted;
}

}  // namespace sluice
