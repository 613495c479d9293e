#include "round/context/round_stats.h"

#include <algorithm>

namespace sluice {

double PartNotNeeded(int64_t cost, int64_t bound) {
  if (cost <= bound || cost == 0) return 0;
  return static_cast<double>(cost - bound) / static_cast<double>(cost);
}

std::optional<double> RoundStats::WaitingGap(size_t begin, size_t end) const {
  if (!is_bound_known) return std::nullopt;
  int64_t waiting = 0;
  int64_t needed = 0;
  end = std::min(end, std::max(cost.waiting.size(), bound.waiting.size()));
  for (size_t level = begin; level < end; ++level) {
    waiting += cost.waiting[level];
    needed += bound.waiting[level];
  }
  return PartNotNeeded(waiting, needed);
}

std::optional<double> RoundStats::PlacementGap() const {
  if (!is_bound_known) return std::nullopt;
  if (bound.waiting < cost.waiting && cost.placed > 0) return std::nullopt;
  return PartNotNeeded(cost.placed, bound.placed);
}

std::optional<double> RoundStats::Gap() const {
  // Nullopt compares less than any number.
  return std::max(WaitingGap(0, cost.waiting.size()), PlacementGap());
}

std::optional<size_t> RoundStats::LevelOf(uint32_t priority) const {
  const auto it = std::ranges::find_if(levels, [&](const RoundLevel& level) {
    return priority >= level.lowest.value_or(0);
  });
  if (it == levels.end()) return std::nullopt;
  return static_cast<size_t>(it - levels.begin());
}

}  // namespace sluice
