#include "packing/merged_groups.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace sluice {

MergedGroups::MergedGroups(const PackingProblem& problem) : problem_(problem) {
  merged_.classes = problem.classes;
  merged_.costs = problem.costs;
  merged_.company = problem.company;
  merged_.staying = problem.staying;
  merged_.caps = problem.caps;
  merged_.spreads = problem.spreads;
  merged_.budgets = problem.budgets;
  const size_t dimensions =
      problem.groups.empty() ? 0 : problem.groups[0].free.size();
  // A common divisor of all requests, and their sum.
  std::vector<int64_t> unit(dimensions, 0);
  std::vector<int64_t> all(dimensions, 0);
  for (const PackingClass& one : problem.classes) {
    const int64_t count = one.count();
    for (size_t d = 0; d < dimensions; ++d) {
      const int64_t request = one.request[d];
      unit[d] = std::gcd(unit[d], request);
      int64_t of_class = 0;
      int64_t sum = 0;
      if (__builtin_mul_overflow(request, count, &of_class) ||
          __builtin_add_overflow(all[d], of_class, &sum)) {
        sum = std::numeric_limits<int64_t>::max();
      }
      all[d] = sum;
    }
  }
  absl::flat_hash_map<
      std::tuple<size_t, std::vector<size_t>, std::vector<int64_t>>, size_t>
      known;
  for (size_t g = 0; g < problem.groups.size(); ++g) {
    PackingGroup group = problem.groups[g];
    for (size_t d = 0; d < dimensions; ++d) {
      int64_t& free = group.free[d];
      free = std::clamp<int64_t>(free, 0, all[d]);
      if (unit[d] > 0) free -= free % unit[d];
    }
    const auto [it, is_new] = known.try_emplace(
        {group.kind, group.caps, group.free}, merged_.groups.size());
    if (is_new) {
      merged_.groups.push_back(group);
      members_.emplace_back();
    } else {
      merged_.groups[it->second].machines += group.machines;
    }
    members_[it->second].push_back(g);
    merged_of_.push_back(it->second);
  }
  merged_.former = problem.former;
  for (Pattern& pattern : merged_.former) {
    pattern.group = merged_of_[pattern.group];
  }
}

std::vector<Pattern> MergedGroups::Part(
    const std::vector<Pattern>& patterns) const {
  std::vector<int64_t> left;
  for (const PackingGroup& group : problem_.groups) {
    left.push_back(group.machines);
  }
  std::vector<size_t> next(members_.size(), 0);
  std::vector<Pattern> parted;
  for (const Pattern& pattern : patterns) {
    for (int64_t machines = pattern.machines; machines > 0;) {
      const size_t g = members_[pattern.group][next[pattern.group]];
      const int64_t taken = std::min(machines, left[g]);
      if (taken > 0) parted.push_back({g, taken, pattern.tasks});
      machines -= taken;
      left[g] -= taken;
      if (left[g] == 0) ++next[pattern.group];
    }
  }
  return parted;
}

}  // namespace sluice
