#include "oracle/brute_force.h"

#include <algorithm>
#include <vector>

namespace sluice {
namespace {

struct Search {
  const FlowProblem& problem;
  std::vector<FlowUnits> balance;  // By node: supply - flow out + flow in.
  std::optional<FlowCost> best;

  // Tries every flow on the arcs from `arc` on.
  void Try(ArcIndex arc, FlowCost cost) {
    if (arc == problem.arc_count()) {
      const bool is_conserved = std::ranges::all_of(
          balance, [](FlowUnits units) { return units == 0; });
      if (is_conserved && (!best.has_value() || cost < *best)) best = cost;
      return;
    }
    const FlowProblem::Arc& of = problem.arc(arc);
    // By units of flow: what they cost together.
    std::vector<FlowCost> costs = {0};
    for (const CostSegment& segment : problem.segments(arc)) {
      for (FlowUnits i = 0; i < segment.width; ++i) {
        costs.push_back(costs.back() + segment.cost);
      }
    }
    FlowUnits& tail = balance[static_cast<size_t>(of.tail)];
    FlowUnits& head = balance[static_cast<size_t>(of.head)];
    for (FlowUnits flow = of.lower; flow <= of.capacity(); ++flow) {
      tail -= flow;
      head += flow;
      Try(arc + 1, cost + costs[static_cast<size_t>(flow)]);
      head -= flow;
      tail += flow;
    }
  }
};

}  // namespace

std::optional<FlowCost> BruteForceOptimum(const FlowProblem& problem) {
  Search search = {.problem = problem, .balance = {}, .best = std::nullopt};
  for (NodeIndex node = 0; node < problem.node_count(); ++node) {
    search.balance.push_back(problem.supply(node));
  }
  search.Try(0, 0);
  return search.best;
}

}  // namespace sluice
