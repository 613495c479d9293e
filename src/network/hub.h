// A node between classes and groups of machines that only aggregates tell apart
// (network/aggregates.h): one arc for each class and one for each group,
// instead of one for each pair.
//
//   class c --> hub --load, slots--> aggregate a --> sink
//               '-- load, slots and aggregate of each of these --> sink
//
// Groups that nothing else leads to, and that are alone in their aggregates,
// share one arc.  A unit costs its machine plus its aggregate.  The number of
// units on the arc says which groups they are for.
//
// Threads: values.

#ifndef SLUICE_NETWORK_HUB_H_
#define SLUICE_NETWORK_HUB_H_

#include <compare>
#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sluice/flow/problem.h"

namespace sluice {

struct Hub {
  struct ArcOf {
    size_t index;
    ArcIndex arc;
  };
  // A step of the shared arc.
  struct Step {
    FlowCost cost;
    size_t group;
    FlowUnits width;

    friend auto operator<=>(const Step&, const Step&) = default;
  };

  // The group takes units at the sum of both costs, as long as both have steps.
  void Share(size_t group, std::span<const CostSegment> machines,
             std::span<const CostSegment> aggregate);
  // Draws the shared arc for at most `units` units, if any group shares it.
  // REQUIRES: it is called once, after the last group.
  void Draw(NodeIndex sink, FlowUnits units, FlowProblem* problem);

  // Which groups get units, and how many each.
  std::deque<std::pair<size_t, FlowUnits>> UnitsBy(
      const FlowSolution& solution) const;

  NodeIndex node = 0;
  std::vector<size_t> members;  // All groups, in the order of their machines.
  std::vector<ArcOf> classes;
  std::vector<ArcOf> groups;  // Those that do not share.
  std::vector<Step> steps;    // The cheapest first, once it is drawn.
  std::optional<ArcIndex> shared;
};

}  // namespace sluice

#endif  // SLUICE_NETWORK_HUB_H_
