#include "network/aggregate_ladders.h"

#include <algorithm>
#include <limits>

#include "network/arc_cost.h"

namespace sluice {
namespace {

// Of the tasks before, as many take a step together.
constexpr FlowUnits kStepPart = 20;

constexpr FlowUnits kUnlimited = std::numeric_limits<FlowUnits>::max();

}  // namespace

AggregateLadders::AggregateLadders(const Aggregates& aggregates,
                                   const PolicySet& policies,
                                   const Resources& mean_request)
    : aggregates_(aggregates),
      policies_(policies),
      mean_request_(mean_request),
      ladders_(aggregates.size()) {}

CostSegment AggregateLadders::Step(size_t aggregate, size_t index) {
  if (aggregate == Aggregates::kNone) return {kUnlimited, 0};
  auto& [steps, width] = ladders_[aggregate];
  while (steps.size() <= index) {
    Resources used = aggregates_[aggregate].used;
    used.AddScaled(mean_request_, width);
    const FlowCost cost =
        policies_.AggregateCost(used, aggregates_[aggregate].capacity) *
        kPartsPerPoint;
    // It may fall for no unit.
    steps.push_back({std::max<FlowUnits>(width / kStepPart, 1),
                     std::max(cost, steps.empty() ? 0 : steps.back().cost)});
    width += steps.back().width;
  }
  return steps[index];
}

FlowCost AggregateLadders::CostAfter(size_t aggregate, FlowUnits before) {
  for (size_t index = 0;; ++index) {
    const auto [width, cost] = Step(aggregate, index);
    if (before < width) return cost;
    before -= width;
  }
}

std::vector<CostSegment> AggregateLadders::Steps(size_t aggregate,
                                                 FlowCost most,
                                                 FlowUnits limit) {
  std::vector<CostSegment> steps;
  for (size_t index = 0; limit > 0; ++index) {
    CostSegment step = Step(aggregate, index);
    if (step.cost > most) break;
    step.width = std::min(step.width, limit);
    limit -= step.width;
    steps.push_back(step);
  }
  return steps;
}

}  // namespace sluice
