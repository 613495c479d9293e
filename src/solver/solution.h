// What every solver of pure problems begins and ends with.
//
// Threads: pure functions.

#ifndef SLUICE_SOLVER_SOLUTION_H_
#define SLUICE_SOLVER_SOLUTION_H_

#include <optional>
#include <vector>

#include "sluice/flow/problem.h"

namespace sluice {

// The answer to a problem that is not valid, or not pure; none if it is both.
std::optional<FlowSolution> RefuseUnlessPure(const FlowProblem& problem);

// What `flows` cost, by arc, or none if that is beyond 64 bits.
std::optional<FlowCost> Objective(const FlowProblem& problem,
                                  const std::vector<FlowUnits>& flows);

}  // namespace sluice

#endif  // SLUICE_SOLVER_SOLUTION_H_
