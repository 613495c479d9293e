#include "solver/verify_generalized.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/status_macros.h"
#include "base/strings.h"

namespace sluice {
namespace {

// All comparisons are written so that a NaN fails them.

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class... Args>
absl::Status Wrong(const Args&... args) {
  return absl::FailedPreconditionError(StrCat(args...));
}

// The allowed error of a sum of terms with this total size.
double Allowed(double size) { return kGeneralizedTolerance * (1 + size); }

double GainOf(const FlowProblem& problem, ArcIndex arc) {
  const FlowGain gain = problem.gain(arc);
  return static_cast<double>(gain.numerator) /
         static_cast<double>(gain.denominator);
}

struct Totals {
  double cost_max = 1;  // Of any segment, in size; at least 1.
  double objective = 0;
  double objective_size = 0;  // The same without signs.
};

// Adds what `flow` costs to `totals`.
void AddCost(std::span<const CostSegment> segments, double flow,
             Totals* totals) {
  double begin = 0;
  for (const auto& [width, cost] : segments) {
    const double end = begin + static_cast<double>(width);
    const double used = std::clamp(flow, begin, end) - begin;
    totals->objective += used * static_cast<double>(cost);
    totals->objective_size += std::abs(used * static_cast<double>(cost));
    begin = end;
  }
}

// The cost of the segment that holds `flow`, or an infinity beyond all of them.
double CostAt(std::span<const CostSegment> segments, double flow) {
  double end = 0;
  for (const auto& [width, cost] : segments) {
    end += static_cast<double>(width);
    if (flow < end) return static_cast<double>(cost);
  }
  return kInfinity;
}

absl::Status CheckArc(const FlowProblem& problem,
                      const GeneralizedSolution& solution, ArcIndex index,
                      double cost_max) {
  const FlowProblem::Arc& arc = problem.arc(index);
  const double flow = solution.flows[static_cast<size_t>(index)];
  const auto lower = static_cast<double>(arc.lower);
  const auto capacity = static_cast<double>(arc.capacity());
  if (!(lower <= flow && flow <= capacity)) {
    return Wrong("arc ", index, ": flow ", flow, " is outside [", lower, ", ",
                 capacity, "]");
  }
  const double at_tail = solution.potentials[static_cast<size_t>(arc.tail)];
  const double at_head = GainOf(problem, index) *
                         solution.potentials[static_cast<size_t>(arc.head)];
  const double drop = at_tail - at_head;
  const double allowed =
      Allowed(cost_max) +
      kGeneralizedRounding * (std::abs(at_tail) + std::abs(at_head));
  const double more = flow + Allowed(flow);
  const double less = flow - Allowed(flow);
  const auto segments = problem.segments(index);
  if (more < capacity && !(CostAt(segments, more) + drop >= -allowed)) {
    return Wrong("arc ", index, ": more than ", flow, " would lower the cost");
  }
  if (less > lower && !(CostAt(segments, less) + drop <= allowed)) {
    return Wrong("arc ", index, ": less than ", flow, " would lower the cost");
  }
  // An arc without room may hide a NaN potential.
  if (!std::isfinite(drop)) {
    return Wrong("arc ", index, ": a potential is not a number");
  }
  return absl::OkStatus();
}

absl::Status CheckConservation(const FlowProblem& problem,
                               const std::vector<double>& flows) {
  std::vector<double> balance;
  std::vector<double> largest;
  for (NodeIndex node = 0; node < problem.node_count(); ++node) {
    balance.push_back(static_cast<double>(problem.supply(node)));
    largest.push_back(std::abs(balance.back()));
  }
  const auto add = [&balance, &largest](NodeIndex node, double amount) {
    const auto i = static_cast<size_t>(node);
    balance[i] += amount;
    largest[i] = std::max(largest[i], std::abs(amount));
  };
  for (ArcIndex index = 0; index < problem.arc_count(); ++index) {
    const double flow = flows[static_cast<size_t>(index)];
    add(problem.arc(index).tail, -flow);
    add(problem.arc(index).head, GainOf(problem, index) * flow);
  }
  for (NodeIndex node = 0; node < problem.node_count(); ++node) {
    const auto i = static_cast<size_t>(node);
    if (std::abs(balance[i]) <= Allowed(largest[i])) continue;
    return Wrong("node ", node, ": supply and flow in exceed the flow out by ",
                 balance[i]);
  }
  return absl::OkStatus();
}

absl::Status CheckShape(const FlowProblem& problem,
                        const GeneralizedSolution& solution,
                        SolveOutcome outcome) {
  if (solution.outcome != outcome) {
    return absl::InvalidArgumentError(
        StrCat("the outcome is ", SolveOutcomeName(solution.outcome)));
  }
  const ArcIndex flow_count =
      outcome == SolveOutcome::kOptimal ? problem.arc_count() : 0;
  if (std::ssize(solution.flows) != flow_count ||
      std::ssize(solution.potentials) != problem.node_count()) {
    return absl::InvalidArgumentError(
        StrCat(solution.flows.size(), " flows and ", solution.potentials.size(),
               " potentials for ", problem.arc_count(), " arcs and ",
               problem.node_count(), " nodes"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status VerifyGeneralized(const FlowProblem& problem,
                               const GeneralizedSolution& solution) {
  RETURN_IF_ERROR(CheckShape(problem, solution, SolveOutcome::kOptimal));
  Totals totals;
  for (ArcIndex arc = 0; arc < problem.arc_count(); ++arc) {
    const auto segments = problem.segments(arc);
    AddCost(segments, solution.flows[static_cast<size_t>(arc)], &totals);
    for (const CostSegment& segment : segments) {
      totals.cost_max = std::max(totals.cost_max,
                                 std::abs(static_cast<double>(segment.cost)));
    }
  }
  for (ArcIndex arc = 0; arc < problem.arc_count(); ++arc) {
    RETURN_IF_ERROR(CheckArc(problem, solution, arc, totals.cost_max));
  }
  RETURN_IF_ERROR(CheckConservation(problem, solution.flows));
  if (!(std::abs(totals.objective - solution.objective) <=
        Allowed(totals.objective_size))) {
    return Wrong("the flows cost ", totals.objective, ", not the objective ",
                 solution.objective);
  }
  return absl::OkStatus();
}

absl::Status VerifyGeneralizedInfeasible(const FlowProblem& problem,
                                         const GeneralizedSolution& solution) {
  RETURN_IF_ERROR(CheckShape(problem, solution, SolveOutcome::kInfeasible));
  double supplied = 0;
  double carried_min = 0;
  double size = 0;
  for (NodeIndex node = 0; node < problem.node_count(); ++node) {
    const double value = static_cast<double>(problem.supply(node)) *
                         solution.potentials[static_cast<size_t>(node)];
    supplied += value;
    size += std::abs(value);
  }
  for (ArcIndex index = 0; index < problem.arc_count(); ++index) {
    const FlowProblem::Arc& arc = problem.arc(index);
    const double drop = solution.potentials[static_cast<size_t>(arc.tail)] -
                        GainOf(problem, index) *
                            solution.potentials[static_cast<size_t>(arc.head)];
    const FlowUnits bound = drop > 0 ? arc.lower : arc.capacity();
    carried_min += drop * static_cast<double>(bound);
    size += std::abs(drop * static_cast<double>(bound));
  }
  if (supplied < carried_min - kGeneralizedTolerance * size) {
    return absl::OkStatus();
  }
  return Wrong("the potentials value the supply at ", supplied,
               ", which is not below ", carried_min,
               ", the least that the arcs carry");
}

}  // namespace sluice
