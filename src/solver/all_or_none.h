// Min-cost flow where some arcs carry nothing or their capacity: branch and
// bound over relaxations in which they may carry anything between.
//
// A node of the search tree fixes one more arc, and is passed to
// Solver::Resolve() as a change from the last one.  The search goes straight
// down, to the side that the relaxation leans to, until a node has nothing
// better to offer.  Then it continues from the open node with the lowest bound:
// flows come early, and bounds rise.
//
// The problem is NP-hard, so there is a budget unless a caller wants none.
// When it is spent, the search returns what it has, with the gap to the best
// flow that may remain to be found.
//
// Certificate: with the all-or-none arcs fixed to what they carry, the solution
// is an optimum that VerifySolution() or VerifyGeneralized() accepts; see
// FixAllOrNone().  Only the search shows that no other choice is cheaper.
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

// The budget of a round's search in arc scans: about half a second.  A round
// with hundreds of gangs on thousands of machines would take many times that.
inline constexpr int64_t kSearchWorkMax = 50000000;

struct AllOrNoneLimits {
  SolveLimits solve = {};     // For all relaxations together.
  int64_t nodes_max = 10000;  // Relaxations to solve.  0: no bound.
  // No further relaxation begins after this many arc scans.  The first one is
  // always solved, like a problem without all-or-none arcs. 0: no bound.
  int64_t search_work_max = kSearchWorkMax;
};

template <class Solution>  // FlowSolution or GeneralizedSolution.
struct AllOrNoneResult {
  // kOptimal: `solution` is proved optimal. kInfeasible: no flow exists; either
  // the relaxation has none (then `solution` is its proof), or no choice of the
  // arcs has one.  Otherwise the search ended early for that reason, and may
  // have found a flow.
  SolveOutcome outcome = SolveOutcome::kInvalidProblem;
  // The best flow found, if its outcome is kOptimal.
  Solution solution;
  // No flow costs less.  Valid if has_bound: if there is a flow, or the search
  // got beyond its first relaxation.
  decltype(Solution::objective) bound = 0;
  bool has_bound = false;
  int64_t node_count = 0;  // Relaxations solved.
  SolveWork work;          // Of all of them.
  std::string error;       // For people; empty if optimal.

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
// capacity; a flow counts as more expensive only beyond the tolerance.
AllOrNoneResult<GeneralizedSolution> SolveAllOrNone(
    const FlowProblem& problem, GeneralizedSolver& solver,
    const AllOrNoneLimits& limits = {});

// Solves a problem with or without such arcs, from `start` if there is one
// (Solver::SolveFrom).  If the budget ends the search, it returns the best flow
// found or, if there is none yet, the best flow with nothing on any all-or-none
// arc.
FlowSolution SolveWithAllOrNone(const FlowProblem& problem, Solver& solver,
                                const AllOrNoneLimits& limits = {},
                                std::optional<FlowSolution> start = {});

// VerifySolution() with such arcs fixed to what they carry.  There is no
// certificate that no other choice of them is cheaper.
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
