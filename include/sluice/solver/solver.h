// A solver turns a flow problem into an optimal flow and its proof.
//
// Threads: Solve() blocks; one call at a time per Solver object.
// Determinism: the same problem gives the same solution, byte for byte.
// Errors: none thrown and none as Status: what can happen is a SolveOutcome.

#ifndef SLUICE_SOLVER_SOLVER_H_
#define SLUICE_SOLVER_SOLVER_H_

#include <atomic>
#include <memory>
#include <string_view>

#include "sluice/flow/problem.h"

namespace sluice {

class Solver {
 public:
  virtual ~Solver() = default;
  virtual std::string_view name() const = 0;

  // `cancelled` may be null; it is polled every few thousand arc scans, at
  // least once a pass over the arcs, and once it is seen true the outcome is
  // kCancelled.
  virtual FlowSolution Solve(const FlowProblem& problem,
                             const std::atomic<bool>* cancelled) = 0;

  FlowSolution Solve(const FlowProblem& problem) {
    return Solve(problem, nullptr);
  }
};

}  // namespace sluice

#endif  // SLUICE_SOLVER_SOLVER_H_
