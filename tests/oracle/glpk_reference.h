// GLPK's simplex method and branch and bound on flow problems with gains,
// minimum flows, convex costs and all-or-none arcs: an opinion that knows of
// linear programs only and of no networks.
//
// Good for up to some 5,000 arcs.
//
// Threads: none; the library has a global state.

#ifndef SLUICE_TESTS_ORACLE_GLPK_REFERENCE_H_
#define SLUICE_TESTS_ORACLE_GLPK_REFERENCE_H_

#include <optional>

#include "sluice/flow/problem.h"

namespace sluice {

struct GlpkResult {
  std::optional<double> objective;  // None: infeasible.
  bool is_conclusive = true;        // False where the library gave up.
  double cpu_seconds = 0;           // Of the solve call alone.
};

// Ignores marks of all-or-none arcs.
GlpkResult SolveWithGlpk(const FlowProblem& problem);

// Heeds them: each carries its capacity times a binary variable.
GlpkResult SolveAllOrNoneWithGlpk(const FlowProblem& problem);

}  // namespace sluice

#endif  // SLUICE_TESTS_ORACLE_GLPK_REFERENCE_H_
