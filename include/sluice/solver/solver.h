// A solver turns a flow problem into an optimal flow and its proof.
//
// Threads: the calls block; one at a time per Solver object.
// Determinism: the same calls give the same solutions, byte for byte.
// Errors: none thrown and none as Status: what can happen is a SolveOutcome.

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
  // Polled every few thousand arc scans, at least once a pass over the arcs;
  // once it is seen true the outcome is kCancelled.  May be null.
  const std::atomic<bool>* cancelled = nullptr;
  // Arc scans (SolveWork) after which the outcome is kBudgetSpent, looked at
  // as often.  0: no bound.
  int64_t work_max = 0;
};

class Solver {
 public:
  virtual ~Solver() = default;
  virtual std::string_view name() const = 0;

  // Solves from scratch.  Where Resolve() will follow, begin problem.log()
  // before: then what that needs is prepared here, once.
  virtual FlowSolution Solve(const FlowProblem& problem,
                             const SolveLimits& limits) = 0;
  FlowSolution Solve(const FlowProblem& problem) { return Solve(problem, {}); }

  // Solves again after changes: *solution is what this object found for
  // `problem` last, and is brought up to date in place; problem.log() holds
  // what changed since (so begin it anew after each call).  Where that was no
  // optimum, or there is no log, this is Solve(); so it is for a solver that
  // keeps nothing, which is the default.
  virtual void Resolve(const FlowProblem& problem, const SolveLimits& limits,
                       FlowSolution* solution) {
    *solution = Solve(problem, limits);
  }

  // Solves with *solution to begin with: a flow by arc and a potential by node,
  // be they the optimum of a problem much like this one or any other numbers.
  // They decide how long it takes, and which of several optima is found.  It
  // becomes the solution.  For a solver that has no use for it this is Solve().
  virtual void SolveFrom(const FlowProblem& problem, const SolveLimits& limits,
                         FlowSolution* solution) {
    *solution = Solve(problem, limits);
  }
};

}  // namespace sluice

#endif  // SLUICE_SOLVER_SOLVER_H_
