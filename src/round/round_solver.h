// Answers what rounds ask.  The daemon's solver thread and every test solve
// through this.
//
// Every flow is checked against its certificate by code that shares nothing
// with the solvers.  So no faulty solver can make a round commit a flow that is
// not optimal.  A packing needs no such check: what is committed is the flow
// that is drawn over its patterns.  A flow with gains needs none either: its
// bound is proved from its prices, however good they are
// (network/share_network.h).
//
// Threads: none; confined to its owner.
// Determinism: the same work in the same order gets the same answers.

#ifndef SLUICE_ROUND_ROUND_SOLVER_H_
#define SLUICE_ROUND_ROUND_SOLVER_H_

#include <atomic>
#include <cstdint>

#include "absl/status/status.h"
#include "round/context/round_work.h"
#include "sluice/solver/solver.h"
#include "solver/warm_solver.h"

namespace sluice {

class RoundSolver {
 public:
  // `solver` must outlive this, and must not be shared.
  explicit RoundSolver(Solver& solver) : solver_(solver) {}

  struct Result {
    RoundAnswer answer;
    // Not OK if the solver claims an optimum that is none.
    absl::Status certificate;
  };
  // `cancelled`, if not null, can end a running solve.
  Result Solve(const RoundWork& work,
               const std::atomic<bool>* cancelled = nullptr);

 private:
  WarmSolver solver_;
};

// The result of a piece of work, and how long that took.
struct SolveResult {
  RoundSolver::Result result;
  int64_t solve_us = 0;
};

}  // namespace sluice

#endif  // SLUICE_ROUND_ROUND_SOLVER_H_
