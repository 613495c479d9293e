// Min-cost flow with gains: the generalized network simplex method.  For pure
// problems use the solvers of solver.h, which are exact.
//
// Flows are real numbers.  An arc's flow is what enters it at its tail; its
// bounds and cost are in those units.  The flow times its gain arrives at its
// head.  Conservation is an equation at each node,
//
//   supply + sum of what arrives = sum of what leaves,
//
// so a node with a possible surplus needs an arc to lose it on.  The simplest
// is a self-loop: with a gain of 1/2 it swallows half of its flow.  Supplies
// need not add up to zero.
//
// What a solution guarantees, with t = kGeneralizedTolerance:
// * each flow is within its bounds, exactly;
// * at each node conservation holds up to t * (1 + the largest supply or flow
//   there);
// * no reduced cost has the wrong sign by more than t * (1 + the largest cost)
//   plus the rounding of its two potentials, kGeneralizedRounding of their
//   size, at flows that may move by t * (1 + their size): by complementary
//   slackness the flow is optimal up to that.
// A solution that would break this is not returned.  Such a problem, with
// cycles whose gain is close to 1 or with gains whose products explode, ends as
// kCostRange.  VerifyGeneralized() of src/solver/verify_generalized.h checks a
// solution and shares no code with the solver.
//
// Threads: the calls block; one at a time per object.
// Determinism: the same problem gives the same solution, byte for byte, on one
// platform and compiler.
//
// Sources: Ahuja, Magnanti, Orlin: Network Flows, 1993, chapter 15; Brown,
// McBride: Solving generalized networks, Management Science 30, 1984.

#ifndef SLUICE_SOLVER_GENERALIZED_H_
#define SLUICE_SOLVER_GENERALIZED_H_

#include <cstdint>
#include <string>
#include <vector>

#include "sluice/flow/problem.h"
#include "sluice/solver/solver.h"

namespace sluice {

inline constexpr double kGeneralizedTolerance = 1e-9;
inline constexpr double kGeneralizedRounding = 1e-15;

// Limits up to which a double holds each value exactly: of supplies and
// capacities together, and of any cost.
inline constexpr FlowUnits kGeneralizedFlowMax = int64_t{1} << 53;
inline constexpr FlowCost kGeneralizedCostMax = int64_t{1} << 53;

struct GeneralizedSolution {
  SolveOutcome outcome = SolveOutcome::kInvalidProblem;
  // By arc; kOptimal only.
  std::vector<double> flows;
  // By node.  kOptimal: a price such that an arc of marginal cost c and gain g
  // has the reduced cost c + potential[tail] - g * potential[head].
  //
  // kInfeasible: the proof that no flow within the bounds exists (Farkas).
  // With r = potential[tail] - g * potential[head] of an arc, every flow that
  // conserves has
  //   sum of supply * potential = sum of flow * r,
  // but the left side is below the minimum of the right side, which is the sum
  // of r * (r > 0 ? lower : capacity).
  std::vector<double> potentials;
  double objective = 0;
  std::string error;  // For people; empty if optimal.
  SolveWork work;     // phases, pivots (bound flips too) and arc_scans.
};

class GeneralizedSolver {
 public:
  // Solves from scratch.  A problem with an all-or-none arc is kInvalidProblem
  // here: src/solver/all_or_none.h is for those.
  GeneralizedSolution Solve(const FlowProblem& problem,
                            const SolveLimits& limits = {});
};

}  // namespace sluice

#endif  // SLUICE_SOLVER_GENERALIZED_H_
