#include "solver/verify.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/int128.h"
#include "base/status_macros.h"
#include "base/strings.h"

namespace sluice {
namespace {

template <class... Args>
absl::Status Wrong(const Args&... args) {
  return absl::FailedPreconditionError(StrCat(args...));
}

// What an arc's cost function says at a given flow.
struct CostAt {
  Int128 total = 0;
  std::optional<FlowCost> next;  // Of one more unit, if there is room.
  std::optional<FlowCost> last;  // Of the last unit, if there is one.
};

CostAt EvaluateCost(std::span<const CostSegment> segments, FlowUnits flow) {
  CostAt at;
  for (const auto& [width, cost] : segments) {
    const FlowUnits used = std::min(flow, width);
    at.total += Int128{used} * cost;
    flow -= used;
    if (used > 0) at.last = cost;
    if (used < width) {
      at.next = cost;
      break;
    }
  }
  return at;
}

absl::Status CheckArc(const FlowProblem& problem, const FlowSolution& solution,
                      ArcIndex index, Int128* objective) {
  const FlowProblem::Arc& arc = problem.arc(index);
  const FlowUnits flow = solution.flows[static_cast<size_t>(index)];
  if (flow < arc.lower || flow > arc.capacity()) {
    return Wrong("arc ", index, ": flow ", flow, " is outside [", arc.lower,
                 ", ", arc.capacity(), "]");
  }
  const CostAt at = EvaluateCost(problem.segments(index), flow);
  *objective += at.total;
  const Int128 drop =
      Int128{solution.potentials[static_cast<size_t>(arc.tail)]} -
      solution.potentials[static_cast<size_t>(arc.head)];
  if (at.next.has_value() && *at.next + drop < 0) {
    return Wrong("arc ", index, ": one unit more than ", flow,
                 " would lower the cost");
  }
  if (flow > arc.lower && *at.last + drop > 0) {
    return Wrong("arc ", index, ": one unit less than ", flow,
                 " would lower the cost");
  }
  return absl::OkStatus();
}

absl::Status CheckConservation(const FlowProblem& problem,
                               const std::vector<FlowUnits>& flows) {
  std::vector<Int128> balance(static_cast<size_t>(problem.node_count()));
  for (NodeIndex node = 0; node < problem.node_count(); ++node) {
    balance[static_cast<size_t>(node)] = problem.supply(node);
  }
  for (ArcIndex index = 0; index < problem.arc_count(); ++index) {
    const FlowProblem::Arc& arc = problem.arc(index);
    const FlowUnits flow = flows[static_cast<size_t>(index)];
    balance[static_cast<size_t>(arc.tail)] -= flow;
    balance[static_cast<size_t>(arc.head)] += flow;
  }
  for (NodeIndex node = 0; node < problem.node_count(); ++node) {
    if (balance[static_cast<size_t>(node)] == 0) continue;
    return Wrong("node ", node, ": the flow out does not match the supply ",
                 problem.supply(node), " and the flow in");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status VerifySolution(const FlowProblem& problem,
                            const FlowSolution& solution) {
  if (solution.outcome != SolveOutcome::kOptimal) {
    return absl::InvalidArgumentError(
        StrCat("the outcome is ", SolveOutcomeName(solution.outcome)));
  }
  if (std::ssize(solution.flows) != problem.arc_count() ||
      std::ssize(solution.potentials) != problem.node_count()) {
    return absl::InvalidArgumentError(
        StrCat(solution.flows.size(), " flows and ", solution.potentials.size(),
               " potentials for ", problem.arc_count(), " arcs and ",
               problem.node_count(), " nodes"));
  }
  Int128 objective = 0;
  for (ArcIndex arc = 0; arc < problem.arc_count(); ++arc) {
    RETURN_IF_ERROR(CheckArc(problem, solution, arc, &objective));
  }
  RETURN_IF_ERROR(CheckConservation(problem, solution.flows));
  if (objective != solution.objective) {
    return Wrong("the flows do not cost the objective ", solution.objective);
  }
  return absl::OkStatus();
}

}  // namespace sluice
