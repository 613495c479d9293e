#include "network/aggregate_ladders.h"

#include <algorithm>

#include "network/arc_cost.h"

namespace sluice {
namespace {

// As many tasks as this part of those before take a step together.
constexpr FlowUnits kStepPart = 20;

}  // namespace

AggregateLadders::AggregateLadders(const Aggregates& aggregates,
                                   const PolicySet& policies,
                                   const Resources& mean_request)
    : aggregates_(aggregates),
      policies_(policies),
      mean_request_(mean_request),
      ladders_(aggregates.size()) {}

void AggregateLadders::Extend(size_t aggregate, size_t index) {
  auto& [steps, width] = ladders_[aggregate];
  while (steps.size() <= index) {
    const auto& [used, capacity] = aggregates_[aggregate];
    FlowCost cost = 0;
    if (width == 0) {
      cost = policies_.AggregateCost(used, capacity) * kPartsPerPoint;
    } else {
      Resources more = used;
      more.AddScaled(mean_request_, width);
      cost = policies_.AggregateCost(more, capacity) * kPartsPerPoint;
    }
    // It must not fall.
    steps.push_back({std::max<FlowUnits>(width / kStepPart, 1),
                     std::max(cost, steps.empty() ? 0 : steps.back().cost)});
    width += steps.back().width;
  }
}

FlowCost AggregateLadders::CostAfter(size_t aggregate, FlowUnits before) {
  for (size_t index = 0;; ++index) {
    const auto [width, cost] = Step(aggregate, index);
    if (before < width) return cost;
    before -= width;
  }
}

std::span<const CostSegment> AggregateLadders::Steps(size_t aggregate,
                                                     FlowCost most,
                                                     FlowUnits limit) {
  if (aggregate == kNoAggregate) return {&kFree, 1};
  size_t count = 0;
  for (; limit > 0; ++count) {
    const auto [width, cost] = Step(aggregate, count);
    if (cost > most) break;
    limit -= width;
  }
  return std::span(ladders_[aggregate].steps).first(count);
}

}  // namespace sluice
