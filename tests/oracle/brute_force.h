// The optimum by trying every flow.
//
// Threads: a pure function.

#ifndef SLUICE_TESTS_ORACLE_BRUTE_FORCE_H_
#define SLUICE_TESTS_ORACLE_BRUTE_FORCE_H_

#include <optional>

#include "sluice/flow/problem.h"

namespace sluice {

// Returns the least cost of a flow, or none if no flow is feasible.
// REQUIRES: the product of (capacity + 1) over the arcs is small.
std::optional<FlowCost> BruteForceOptimum(const FlowProblem& problem);

}  // namespace sluice

#endif  // SLUICE_TESTS_ORACLE_BRUTE_FORCE_H_
