#include "packing/prices_by_size.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/int128.h"
#include "packing/machine_filling.h"
#include "state/dominant_share.h"

namespace sluice {
namespace {

// The worth of a unit of waiting cost relative to the dearest placement.
constexpr double kOverflow = 64;
constexpr size_t kOverflowMax = 3;  // Powers of it.

// All machines combined into one.
PackingGroup WholeOf(const PackingProblem& problem) {
  constexpr Int128 kMax = std::numeric_limits<int64_t>::max();
  PackingGroup all;
  all.machines = 1;
  for (size_t d = 0; d < problem.groups[0].free.size(); ++d) {
    Int128 free = 0;
    for (const PackingGroup& group : problem.groups) {
      free += static_cast<Int128>(group.free[d]) * group.machines;
    }
    all.free.push_back(static_cast<int64_t>(std::clamp<Int128>(free, 0, kMax)));
  }
  return all;
}

// Tasks of levels above are worth far more.
std::vector<int64_t> PricesOfLevel(const PackingProblem& problem,
                                   const PackingGroup& all, size_t level) {
  PackingProblem whole;
  whole.groups.push_back(all);
  std::vector<size_t> class_of;
  std::vector<double> values;
  std::vector<int64_t> counts;
  for (size_t c = 0; c < problem.classes.size(); ++c) {
    std::optional<size_t> last_level;
    for (const WaitingStep& step : problem.classes[c].waiting) {
      if (step.level > level) continue;
      if (last_level != step.level) {
        last_level = step.level;
        class_of.push_back(c);
        values.push_back(0);
        counts.push_back(0);
        whole.classes.emplace_back().request = problem.classes[c].request;
      }
      // The dearest tasks of a level represent all of it.
      values.back() =
          static_cast<double>(step.cost) * OverflowCost(level - step.level);
      counts.back() += step.count;
    }
  }
  whole.costs.emplace_back(whole.classes.size(), 0);
  std::vector<int64_t> prices(problem.classes.size(), 0);
  if (whole.classes.empty()) return prices;
  const std::vector<double> of_steps =
      MachineFilling(whole).PricesBySize(0, values, counts);
  for (size_t i = 0; i < of_steps.size(); ++i) {
    prices[class_of[i]] =
        std::max(prices[class_of[i]],
                 static_cast<int64_t>(std::min(of_steps[i], values[i])));
  }
  return prices;
}

}  // namespace

double OverflowCost(size_t after) {
  return std::pow(kOverflow,
                  static_cast<double>(std::min(after, kOverflowMax)));
}

std::vector<std::vector<int64_t>> FindPricesBySize(
    const PackingProblem& problem) {
  const PackingGroup all = WholeOf(problem);
  std::vector<std::vector<int64_t>> prices;
  for (size_t level = 0; level < problem.level_count(); ++level) {
    prices.push_back(PricesOfLevel(problem, all, level));
  }
  return prices;
}

std::vector<double> FindValuesBySize(
    const PackingProblem& problem,
    const std::vector<std::vector<int64_t>>& prices) {
  // If even the top levels lack room, the lowest one matters little.
  std::vector<double> values(problem.classes.size(), 0);
  for (const std::vector<int64_t>& of_level : prices) {
    if (std::ranges::max(of_level) == 0) continue;
    values.assign(of_level.begin(), of_level.end());
    break;
  }
  if (std::ranges::max(values) == 0) {
    std::vector<int64_t> whole = WholeOf(problem).free;
    for (int64_t& free : whole) free = std::max<int64_t>(free, 1);
    for (size_t c = 0; c < values.size(); ++c) {
      values[c] = DominantShare(problem.classes[c].request, whole).ratio();
    }
  }
  const double most = std::ranges::max(values);
  for (double& value : values) value /= most > 0 ? most : 1;
  return values;
}

}  // namespace sluice
