// Which solver to use from scratch, by the shape of the problem.
//
// Threads: a pure function.

#ifndef SLUICE_SOLVER_CHOOSE_H_
#define SLUICE_SOLVER_CHOOSE_H_

#include <string_view>

#include "sluice/flow/problem.h"

namespace sluice {

// Returns the name of the solver (solver/registry.h) that is likely to be
// faster for this problem, which must be pure.  One pass over its arcs.
std::string_view ChooseSolver(const FlowProblem& problem);

}  // namespace sluice

#endif  // SLUICE_SOLVER_CHOOSE_H_
