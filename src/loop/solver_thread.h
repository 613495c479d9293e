// The thread on which flow problems are solved, one at a time, while the core
// thread goes on with commands.
//
// Every solution is checked here against its certificate before the core sees
// it, so that no solver, however wrong, can make the scheduler commit a flow
// that is not optimal.
//
// Threads: Solve() and Cancel() any; Start() and Stop() the owner's.

#ifndef SLUICE_LOOP_SOLVER_THREAD_H_
#define SLUICE_LOOP_SOLVER_THREAD_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>

#include "absl/status/status.h"
#include "base/mutex.h"
#include "sluice/base/clock.h"
#include "sluice/flow/problem.h"
#include "sluice/solver/solver.h"
#include "solver/warm_solver.h"

namespace sluice {

// A solution and what the independent check says of it.
struct SolveResult {
  FlowSolution solution;
  // Not OK: the solver claims an optimum that is none.
  absl::Status certificate;
  int64_t solve_us = 0;  // Check included.
};

class SolverThread {
 public:
  // `done` is called on the solver thread with the result of each Solve().
  // `solver` and `clock` must outlive this.
  SolverThread(Solver& solver, const Clock& clock,
               std::function<void(SolveResult)> done);
  ~SolverThread();

  SolverThread(const SolverThread&) = delete;
  SolverThread& operator=(const SolverThread&) = delete;

  void Start();

  // REQUIRES: the result of the Solve() before has been delivered.
  void Solve(FlowProblem problem);

  // Ends the solve that is running, and every later one, with kCancelled.
  void Cancel() { is_cancelled_ = true; }

  // Cancels, and waits for the thread to end.  No-op if it is not running.
  void Stop();

 private:
  void Run();
  SolveResult SolveOne(const FlowProblem& problem);

  WarmSolver solver_;  // The thread's alone.
  const Clock& clock_;
  const std::function<void(SolveResult)> done_;
  std::thread thread_;
  std::atomic<bool> is_cancelled_ = false;

  Mutex mutex_;
  CondVar work_;
  std::optional<FlowProblem> problem_ ABSL_GUARDED_BY(mutex_);
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace sluice

#endif  // SLUICE_LOOP_SOLVER_THREAD_H_
