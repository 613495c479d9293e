// A solver turns a flow problem into an optimal flow and its proof.
//
// Threads: the calls block; one at a time per Solver object.
// Determinism: the same calls give the same solutions, byte for byte.
// Errors: no exceptions and no Status: the SolveOutcome says what happened.

#ifndef SLUICE_SOLVER_SOLVER_H_
#define SLUICE_SOLVER_SOLVER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

#include "sluice/flow/problem.h"

namespace sluice {

// What may end a solve before its optimum.
struct SolveLimits {
  // Polled every few thousand arc scans, at least once a pass over the arcs.
  // Once it is true the outcome is kCancelled.  May be null.
  const std::atomic<bool>* cancelled = nullptr;
  // The number of arc scans (SolveWork) after which the outcome is
  // kBudgetSpent; checked equally often. 0: no bound.
  int64_t work_max = 0;
};

class Solver {
 public:
  virtual ~Solver() = default;
  virtual std::string_view name() const = 0;

  // Solves from scratch.  If Resolve() will follow, begin problem.log() before:
  // then its preparations are made here, once.
  virtual FlowSolution Solve(const FlowProblem& problem,
                             const SolveLimits& limits) = 0;
  FlowSolution Solve(const FlowProblem& problem) { return Solve(problem, {}); }

  // Solves again after changes. *solution is what this object last found for
  // `problem`, and is updated in place. problem.log() holds what changed since
  // (so restart it after each call).  If *solution is not optimal, or there is
  // no log, this is Solve().  It is also Solve() for a solver that keeps
  // nothing, which is the default.
  virtual void Resolve(const FlowProblem& problem, const SolveLimits& limits,
                       FlowSolution* solution) {
    *solution = Solve(problem, limits);
  }

  // Starts from *solution: a flow by arc and a potential by node.  Any start is
  // accepted; a near-optimal one is fastest.  The start also decides which of
  // several optima is found. *solution becomes the result.  For a solver that
  // cannot use it, this is Solve().
  virtual void SolveFrom(const FlowProblem& problem, const SolveLimits& limits,
                         FlowSolution* solution) {
    *solution = Solve(problem, limits);
  }
};

}  // namespace sluice

#endif  // SLUICE_SOLVER_SOLVER_H_
