#include "oracle/witness_cut.h"

#include <vector>

#include "base/strings.h"

namespace sluice {

absl::Status VerifyWitnessCut(const FlowProblem& problem,
                              std::span<const NodeIndex> cut) {
  std::vector<bool> is_inside(static_cast<size_t>(problem.node_count()));
  FlowUnits supply = 0;
  for (const NodeIndex node : cut) {
    if (node < 0 || node >= problem.node_count() ||
        is_inside[static_cast<size_t>(node)]) {
      return absl::InvalidArgumentError(StrCat("node ", node, " in the cut"));
    }
    is_inside[static_cast<size_t>(node)] = true;
    supply += problem.supply(node);
  }
  FlowUnits leaving = 0;
  for (ArcIndex index = 0; index < problem.arc_count(); ++index) {
    const FlowProblem::Arc& arc = problem.arc(index);
    const bool is_from_inside = is_inside[static_cast<size_t>(arc.tail)];
    const bool is_to_inside = is_inside[static_cast<size_t>(arc.head)];
    if (is_from_inside && !is_to_inside) leaving += arc.capacity();
    if (!is_from_inside && is_to_inside) leaving -= arc.lower;
  }
  if (supply > leaving) return absl::OkStatus();
  return absl::FailedPreconditionError(StrCat(
      "the cut's supply ", supply, " can leave, the arcs carry ", leaving));
}

}  // namespace sluice
