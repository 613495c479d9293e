// The thread on which a round's work is solved, one piece at a time, while the
// core thread goes on with commands.
//
// Threads: any may call Solve(), SolveInline() and Cancel(); only the owner
// calls Start() and Stop().

#ifndef SLUICE_LOOP_SOLVER_THREAD_H_
#define SLUICE_LOOP_SOLVER_THREAD_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>

#include "base/mutex.h"
#include "round/context/round_work.h"
#include "round/round_solver.h"
#include "sluice/base/clock.h"
#include "sluice/solver/solver.h"

namespace sluice {

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
  // Instead of Start(): solves what was handed in on the calling thread, and
  // delivers the result.  Returns false if there was nothing.
  bool SolveOnce();

  // REQUIRES, here and below: the result of the previous Solve() has been
  // delivered.
  void Solve(RoundWork work);
  // Solves on the calling thread, which is faster for small problems.
  SolveResult SolveInline(const RoundWork& work) { return SolveOne(work); }

  // Ends the solve that is running, and every later one, with kCancelled.
  void Cancel() { is_cancelled_ = true; }

  // Cancels, and waits for the thread to end.  No-op if it is not running.
  void Stop();

 private:
  void Run();
  SolveResult SolveOne(const RoundWork& work);

  RoundSolver solver_;  // Used by the thread or the caller of SolveInline().
  const Clock& clock_;
  const std::function<void(SolveResult)> done_;
  std::thread thread_;
  std::atomic<bool> is_cancelled_ = false;

  Mutex mutex_;
  CondVar has_work_;
  std::optional<RoundWork> work_ ABSL_GUARDED_BY(mutex_);
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace sluice

#endif  // SLUICE_LOOP_SOLVER_THREAD_H_
