#include "packing/coarse_groups.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <tuple>
#include <vector>

#include "base/int128.h"

namespace sluice {
namespace {

// A machine with the mean of what these have free.
PackingGroup MeanOf(const PackingProblem& problem,
                    std::span<const size_t> groups) {
  PackingGroup mean = problem.groups[groups[0]];
  mean.machines = 0;
  for (const size_t g : groups) mean.machines += problem.groups[g].machines;
  for (size_t d = 0; d < mean.free.size(); ++d) {
    Int128 sum = 0;
    for (const size_t g : groups) {
      sum += static_cast<Int128>(problem.groups[g].free[d]) *
             problem.groups[g].machines;
    }
    mean.free[d] = static_cast<int64_t>(sum / mean.machines);
  }
  return mean;
}

}  // namespace

PackingProblem CoarseProblem(const PackingProblem& problem, size_t groups_max) {
  PackingProblem coarse;
  coarse.classes = problem.classes;
  coarse.costs = problem.costs;
  coarse.company = problem.company;
  coarse.staying = problem.staying;
  coarse.caps = problem.caps;
  coarse.spreads = problem.spreads;
  coarse.budgets = problem.budgets;
  std::vector<size_t> order(problem.groups.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, [&](size_t a, size_t b) {
    const PackingGroup& group_a = problem.groups[a];
    const PackingGroup& group_b = problem.groups[b];
    return std::tie(group_a.kind, group_a.caps, group_a.free, a) <
           std::tie(group_b.kind, group_b.caps, group_b.free, b);
  });
  const size_t width =
      (order.size() + groups_max - 1) / std::max<size_t>(groups_max, 1);
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin + 1;
    while (
        end < order.size() && end - begin < width &&
        problem.groups[order[end]].kind == problem.groups[order[begin]].kind &&
        problem.groups[order[end]].caps == problem.groups[order[begin]].caps) {
      ++end;
    }
    coarse.groups.push_back(
        MeanOf(problem, std::span(order).subspan(begin, end - begin)));
    begin = end;
  }
  return coarse;
}

}  // namespace sluice
