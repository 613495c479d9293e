#include "flow/validate.h"

#include <span>

#include "base/status_macros.h"
#include "base/strings.h"

namespace sluice {
namespace {

absl::Status InvalidArc(ArcIndex arc, std::string_view what) {
  return absl::InvalidArgumentError(StrCat("arc ", arc, ": ", what));
}

// Adds |amount| to *total.  False once the total is beyond the limit.
bool AddSize(FlowUnits amount, FlowUnits* total) {
  // Written so that neither the negation nor the sum can overflow.
  if (amount < -kFlowTotalMax || amount > kFlowTotalMax) return false;
  *total += amount < 0 ? -amount : amount;
  return *total <= kFlowTotalMax;
}

absl::Status ValidateSupplies(const FlowProblem& problem, FlowUnits* total) {
  FlowUnits balance = 0;
  for (NodeIndex node = 0; node < problem.node_count(); ++node) {
    const FlowUnits supply = problem.supply(node);
    if (!AddSize(supply, total)) {
      return absl::OutOfRangeError(StrCat("node ", node, ": supply ", supply,
                                          " takes the sum of supplies beyond ",
                                          kFlowTotalMax));
    }
    balance += supply;
  }
  if (balance != 0 && problem.gains().empty()) {
    return absl::InvalidArgumentError(
        StrCat("supplies add up to ", balance, " and not to zero"));
  }
  return absl::OkStatus();
}

absl::Status ValidateSegments(ArcIndex arc,
                              std::span<const CostSegment> segments,
                              FlowCost cost_max) {
  for (size_t i = 0; i < segments.size(); ++i) {
    const auto& [width, cost] = segments[i];
    if (width < 0 || (width == 0 && segments.size() > 1)) {
      return InvalidArc(
          arc, StrCat("segment ", i, ": width ", width, " is not positive"));
    }
    if (i > 0 && cost < segments[i - 1].cost) {
      return InvalidArc(
          arc, StrCat("segment ", i, ": cost ", cost,
                      " is below the one before it, ", segments[i - 1].cost));
    }
    if (cost > cost_max || cost < -cost_max) {
      return absl::OutOfRangeError(StrCat("arc ", arc, ": cost ", cost,
                                          " is beyond ", cost_max,
                                          ", the limit for this node count"));
    }
  }
  return absl::OkStatus();
}

absl::Status ValidateArc(const FlowProblem& problem, ArcIndex index,
                         FlowCost cost_max, FlowUnits* total) {
  const FlowProblem::Arc& arc = problem.arc(index);
  for (const NodeIndex node : {arc.tail, arc.head}) {
    if (node < 0 || node >= problem.node_count()) {
      return InvalidArc(index, StrCat("no node ", node));
    }
  }
  RETURN_IF_ERROR(ValidateSegments(index, problem.segments(index), cost_max));
  // A negative capacity here is the mark of widths whose sum overflows.
  if (arc.capacity() < 0 || !AddSize(arc.capacity(), total)) {
    return absl::OutOfRangeError(StrCat(
        "arc ", index,
        ": its capacity takes the sum of supplies and capacities beyond ",
        kFlowTotalMax));
  }
  if (arc.lower < 0) {
    return InvalidArc(index, StrCat("lower bound ", arc.lower, " is negative"));
  }
  if (arc.lower > arc.capacity()) {
    return InvalidArc(index, StrCat("lower bound ", arc.lower,
                                    " is above the capacity ", arc.capacity()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ValidateProblem(const FlowProblem& problem) {
  FlowUnits total = 0;
  RETURN_IF_ERROR(ValidateSupplies(problem, &total));
  if (problem.arc_count() > kArcCountMax) {
    return absl::OutOfRangeError(StrCat("the arc count ", problem.arc_count(),
                                        " is beyond ", kArcCountMax));
  }
  const FlowCost cost_max = kScaledCostMax / (problem.node_count() + 1);
  for (ArcIndex arc = 0; arc < problem.arc_count(); ++arc) {
    RETURN_IF_ERROR(ValidateArc(problem, arc, cost_max, &total));
  }
  for (const auto& [arc, gain] : problem.gains()) {
    if (gain.numerator <= 0 || gain.denominator <= 0) {
      return InvalidArc(arc, StrCat("gain ", gain.numerator, "/",
                                    gain.denominator, " is not positive"));
    }
  }
  return absl::OkStatus();
}

absl::Status ValidatePureProblem(const FlowProblem& problem) {
  RETURN_IF_ERROR(ValidateProblem(problem));
  if (!problem.gains().empty()) {
    return InvalidArc(problem.gains().begin()->first,
                      "this algorithm knows no gains");
  }
  if (!problem.all_or_none().empty()) {
    return InvalidArc(*problem.all_or_none().begin(),
                      "this algorithm does not support all-or-none arcs");
  }
  return absl::OkStatus();
}

}  // namespace sluice
