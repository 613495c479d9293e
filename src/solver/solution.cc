#include "solver/solution.h"

#include <algorithm>

#include "absl/status/status.h"
#include "base/int128.h"
#include "base/status_macros.h"
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

}  // namespace sluice
