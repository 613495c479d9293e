// Min-cost flow where some arcs carry nothing or their capacity: branch and
// bound over relaxations in which they may carry anything between.
//
// A node of the search tree fixes one more arc, and goes to Solver::Resolve()
// as a change of the last one.  The search goes straight down, to the side that
// the relaxation leans to, until a node has nothing better to offer, and then
// on from the open node of the lowest bound: flows come early, bounds rise.
//
// The problem is NP-hard: there is a budget, unless a caller wants none.  What
// the search has when the budget is spent comes back, with the gap to the best
// that may be left to find.
//
// Certificate: with the all-or-none arcs fixed to what they carry, the solution
// is an optimum that VerifySolution() or VerifyGeneralized() accepts; see
// FixAllOrNone().  That no other choice is cheaper is for the search to say.
//
// Threads: the calls block; the solver is the caller's, one call at a time.
// Determinism: as the solver's; ties break by lowest arc index.
//
// Source: Land, Doig: An automatic method of solving discrete programming
// problems, Econometrica 28, 1960.

#ifndef SLUICE_SOLVER_ALL_OR_NONE_H_
#define SLUICE_SOLVER_ALL_OR_NONE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "sluice/flow/problem.h"
#include "sluice/solver/generalized.h"
#include "sluice/solver/solver.h"

namespace sluice {

// Arc scans that a round's search may take: about half a second, which a round
// with hundreds of gangs on thousands of machines would spend many times over.
inline constexpr int64_t kSearchWorkMax = 50000000;

struct AllOrNoneLimits {
  SolveLimits solve = {};     // For all relaxations together.
  int64_t nodes_max = 10000;  // Relaxations to solve.  0: no bound.
  // Arc scans after which no further relaxation begins.  The first is always
  // solved, as a problem without all-or-none arcs is.  0: no bound.
  int64_t search_work_max = kSearchWorkMax;
};

template <class Solution>  // FlowSolution or GeneralizedSolution.
struct AllOrNoneResult {
  // kOptimal: `solution` is proven optimal.  kInfeasible: no flow exists, be it
  // that the relaxation has none (then `solution` is its proof) or that no
  // choice of the arcs has one.  Otherwise the search ended early, for that
  // reason, and may have found a flow.
  SolveOutcome outcome = SolveOutcome::kInvalidProblem;
  // The best flow found, where its outcome is kOptimal.
  Solution solution;
  // No flow costs less; says something where has_bound: where there is a flow,
  // and where the search got beyond its first relaxation.
  decltype(Solution::objective) bound = 0;
  bool has_bound = false;
  int64_t node_count = 0;  // Relaxations solved.
  SolveWork work;          // Of all of them.
  std::string error;       // For people; empty where optimal.

  bool has_flow() const { return solution.outcome == SolveOutcome::kOptimal; }
  // How much cheaper another flow might be.  REQUIRES: has_flow().
  double gap() const {
    return static_cast<double>(solution.objective) - static_cast<double>(bound);
  }
};

// For problems without gains; all flows are whole.
AllOrNoneResult<FlowSolution> SolveAllOrNone(
    const FlowProblem& problem, Solver& solver,
    const AllOrNoneLimits& limits = {});

// For problems with gains.  An all-or-none arc carries exactly nothing or its
// capacity; a flow counts as dearer than another from the tolerance on.
AllOrNoneResult<GeneralizedSolution> SolveAllOrNone(
    const FlowProblem& problem, GeneralizedSolver& solver,
    const AllOrNoneLimits& limits = {});

// Solves a problem with or without such arcs, from `start` if there is one
// (Solver::SolveFrom).  Where the budget ends the search the best flow that was
// found stands for the optimum, or, if there is none yet, the best flow with
// nothing on any all-or-none arc.
FlowSolution SolveWithAllOrNone(const FlowProblem& problem, Solver& solver,
                                const AllOrNoneLimits& limits = {},
                                std::optional<FlowSolution> start = {});

// VerifySolution() with such arcs fixed to what they carry.  That no other
// choice of them is cheaper has no certificate.
absl::Status VerifyWithAllOrNone(const FlowProblem& problem,
                                 const FlowSolution& solution);

// Returns `problem` with each all-or-none arc fixed to what it carries in
// `flows`, its marks cleared.
// REQUIRES: `flows` has all arcs, and nothing or the capacity on those.
FlowProblem FixAllOrNone(const FlowProblem& problem,
                         const std::vector<FlowUnits>& flows);
FlowProblem FixAllOrNone(const FlowProblem& problem,
                         const std::vector<double>& flows);

}  // namespace sluice

#endif  // SLUICE_SOLVER_ALL_OR_NONE_H_
