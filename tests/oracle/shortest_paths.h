// The optimum by successive shortest paths, plain and slow: convex arcs become
// an arc a segment, and each path is found by Bellman-Ford.
//
// Threads: a pure function.

#ifndef SLUICE_TESTS_ORACLE_SHORTEST_PATHS_H_
#define SLUICE_TESTS_ORACLE_SHORTEST_PATHS_H_

#include <optional>

#include "sluice/flow/problem.h"

namespace sluice {

// Returns the least cost of a flow, or none if no flow is feasible.
std::optional<FlowCost> ShortestPathsOptimum(const FlowProblem& problem);

}  // namespace sluice

#endif  // SLUICE_TESTS_ORACLE_SHORTEST_PATHS_H_
