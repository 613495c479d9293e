// LEMON's opinion on a flow problem of ours without gains and all-or-none arcs.
//
// Threads: a free function without state.

#ifndef SLUICE_TESTS_ORACLE_LEMON_PROBLEM_H_
#define SLUICE_TESTS_ORACLE_LEMON_PROBLEM_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "oracle/lemon_reference.h"
#include "sluice/flow/problem.h"

namespace sluice {

// The least cost; nothing where the problem is infeasible.
inline std::optional<int64_t> OptimumByLemon(const FlowProblem& problem) {
  std::vector<int64_t> supplies;
  for (NodeIndex node = 0; node < problem.node_count(); ++node) {
    supplies.push_back(problem.supply(node));
  }
  std::vector<PlainArc> arcs;
  for (ArcIndex arc = 0; arc < problem.arc_count(); ++arc) {
    FlowUnits lower = problem.arc(arc).lower;
    for (const auto& [width, cost] : problem.segments(arc)) {
      const FlowUnits lower_here = std::min(lower, width);
      lower -= lower_here;
      arcs.push_back({problem.arc(arc).tail, problem.arc(arc).head, lower_here,
                      width, cost});
    }
  }
  return SolveWithLemon(LemonAlgorithm::kNetworkSimplex, supplies, arcs)
      .objective;
}

}  // namespace sluice

#endif  // SLUICE_TESTS_ORACLE_LEMON_PROBLEM_H_
