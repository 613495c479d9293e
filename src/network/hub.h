// A node between classes and groups of machines that only their aggregates tell
// apart (network/aggregates.h): an arc for each class and one for each group,
// instead of one for each pair.
//
//   class c --> hub --load, slots--> aggregate a --> sink
//               '-- load, slots and aggregate of each of these --> sink
//
// Groups to which nothing else leads, and that are alone in their aggregates,
// share one arc: a unit costs its machine and its aggregate, and which of the
// groups it is for follows from how many units the arc carries.
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
  // Of the shared arc.
  struct Step {
    FlowCost cost;
    size_t group;
    FlowUnits width;

    friend auto operator<=>(const Step&, const Step&) = default;
  };

  // The group takes units at the sum of both costs, as many as both have.
  void Share(size_t group, std::span<const CostSegment> machines,
             std::span<const CostSegment> aggregate);
  // Draws the shared arc, if any group shares it, for so many units at most.
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
