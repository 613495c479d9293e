#include "solver/solution.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "base/int128.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "flow/validate.h"

namespace sluice {

std::optional<FlowSolution> RefuseUnlessPure(const FlowProblem& problem) {
  const absl::Status status = ValidatePureProblem(problem);
  if (status.ok()) return std::nullopt;
  FlowSolution solution;
  solution.outcome = absl::IsOutOfRange(status) ? SolveOutcome::kCostRange
                                                : SolveOutcome::kInvalidProblem;
  solution.error = Message(status);
  return solution;
}

std::optional<FlowCost> Objective(const FlowProblem& problem,
                                  const std::vector<FlowUnits>& flows) {
  Int128 sum = 0;
  for (ArcIndex arc = 0; arc < problem.arc_count(); ++arc) {
    FlowUnits rest = flows[static_cast<size_t>(arc)];
    for (const CostSegment& segment : problem.segments(arc)) {
      if (rest == 0) break;
      const FlowUnits units = std::min(rest, segment.width);
      sum += Int128{units} * segment.cost;
      rest -= units;
    }
  }
  const auto objective = static_cast<FlowCost>(sum);
  if (objective != sum) return std::nullopt;
  return objective;
}

FlowUnits SelfLoopFlow(const FlowProblem& problem, ArcIndex arc) {
  FlowUnits flow = 0;
  for (const CostSegment& segment : problem.segments(arc)) {
    if (segment.cost >= 0) break;
    flow += segment.width;
  }
  return std::max(flow, problem.arc(arc).lower);
}

std::string InfeasibleText(const std::vector<NodeIndex>& witness_cut) {
  return StrCat("the supply of ", witness_cut.size(), " nodes, node ",
                witness_cut.front(),
                " the first, exceeds what the arcs out of them can carry");
}

std::vector<NodeIndex> ReachableNodes(const FlowProblem& problem,
                                      const std::vector<FlowUnits>& flows,
                                      NodeIndex from) {
  // The residual arcs by tail, as (tail, head).
  std::vector<std::pair<NodeIndex, NodeIndex>> residual;
  for (ArcIndex i = 0; i < problem.arc_count(); ++i) {
    const FlowProblem::Arc& arc = problem.arc(i);
    const FlowUnits flow = flows[static_cast<size_t>(i)];
    if (flow < arc.capacity()) residual.emplace_back(arc.tail, arc.head);
    if (flow > arc.lower) residual.emplace_back(arc.head, arc.tail);
  }
  std::ranges::sort(residual);
  std::vector<bool> is_reached(static_cast<size_t>(problem.node_count()));
  std::vector<NodeIndex> reached = {from};
  is_reached[static_cast<size_t>(from)] = true;
  for (size_t i = 0; i < reached.size(); ++i) {
    for (auto arc = std::ranges::lower_bound(
             residual, std::pair<NodeIndex, NodeIndex>(reached[i], 0));
         arc != residual.end() && arc->first == reached[i]; ++arc) {
      if (is_reached[static_cast<size_t>(arc->second)]) continue;
      is_reached[static_cast<size_t>(arc->second)] = true;
      reached.push_back(arc->second);
    }
  }
  std::ranges::sort(reached);
  return reached;
}

}  // namespace sluice
