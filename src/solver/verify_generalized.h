// Checks what a generalized solution carries against the promises of
// sluice/solver/generalized.h, sharing no code with the solver.
//
// Threads: pure functions.

#ifndef SLUICE_SOLVER_VERIFY_GENERALIZED_H_
#define SLUICE_SOLVER_VERIFY_GENERALIZED_H_

#include "absl/status/status.h"
#include "sluice/flow/problem.h"
#include "sluice/solver/generalized.h"

namespace sluice {

// Returns OK if `solution` is an optimal flow for `problem`: bounds,
// conservation and complementary slackness hold within the promised tolerances,
// and the objective is the cost of the flows.  Marks of all-or-none arcs are
// ignored.
//
// REQUIRES, here and below: the arcs of `problem` name nodes of it and its
// gains are positive (ValidateProblem()).
// Errors: kInvalidArgument for a solution that is not kOptimal or of the wrong
// size; kFailedPrecondition, naming the arc or node, for one that is wrong.
absl::Status VerifyGeneralized(const FlowProblem& problem,
                               const GeneralizedSolution& solution);

// Returns OK if the potentials of `solution` prove that `problem` has no
// feasible flow, by a margin beyond rounding.
// Errors: kInvalidArgument for a solution that is not kInfeasible or of the
// wrong size; kFailedPrecondition where the potentials prove nothing.
absl::Status VerifyGeneralizedInfeasible(const FlowProblem& problem,
                                         const GeneralizedSolution& solution);

}  // namespace sluice

#endif  // SLUICE_SOLVER_VERIFY_GENERALIZED_H_
