// Checks the certificate that a solution carries, sharing no code with any
// solver: one pass over the arcs proves the optimum.
//
// Threads: a pure function.

#ifndef SLUICE_SOLVER_VERIFY_H_
#define SLUICE_SOLVER_VERIFY_H_

#include "absl/status/status.h"
#include "sluice/flow/problem.h"

namespace sluice {

// Returns OK if `solution` is an optimal flow for `problem`: each flow within
// its bounds, supply conserved at each node, no residual arc of negative
// reduced cost under the potentials, the objective as stated.  All sums are
// exact.
//
// REQUIRES: the arcs of `problem` name nodes of it (ValidateProblem()).
// Errors: kInvalidArgument for a solution that is not kOptimal or of the wrong
// size; kFailedPrecondition, naming the arc or node, for one that is wrong.
absl::Status VerifySolution(const FlowProblem& problem,
                            const FlowSolution& solution);

}  // namespace sluice

#endif  // SLUICE_SOLVER_VERIFY_H_
