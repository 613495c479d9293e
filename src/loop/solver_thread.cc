#include "loop/solver_thread.h"

#include <glog/logging.h>

#include <utility>

#include "solver/all_or_none.h"

namespace sluice {

SolverThread::SolverThread(Solver& solver, const Clock& clock,
                           std::function<void(SolveResult)> done)
    : solver_(solver), clock_(clock), done_(std::move(done)) {}

SolverThread::~SolverThread() { Stop(); }

void SolverThread::Start() {
  thread_ = std::thread([this] { Run(); });
}

void SolverThread::Solve(FlowProblem problem) {
  {
    MutexLock lock(mutex_);
    CHECK(!problem_.has_value()) << "a solve is still waiting";
    problem_ = std::move(problem);
  }
  work_.NotifyOne();
}

void SolverThread::Stop() {
  if (!thread_.joinable()) return;
  Cancel();
  {
    MutexLock lock(mutex_);
    is_stopping_ = true;
  }
  work_.NotifyOne();
  thread_.join();
}

void SolverThread::Run() {
  for (;;) {
    std::optional<FlowProblem> problem;
    {
      MutexLock lock(mutex_);
      while (!problem_.has_value() && !is_stopping_) work_.Wait(mutex_);
      // What was handed in before the stop is still answered.
      if (!problem_.has_value()) return;
      problem.swap(problem_);
    }
    done_(SolveOne(*problem));
  }
}

SolveResult SolverThread::SolveOne(const FlowProblem& problem) {
  SolveResult result;
  const int64_t start_us = clock_.MonotonicUs();
  result.solution =
      solver_.Solve(problem, {.solve = {.cancelled = &is_cancelled_}});
  if (result.solution.outcome == SolveOutcome::kOptimal) {
    result.certificate = VerifyWithAllOrNone(problem, result.solution);
  }
  result.solve_us = clock_.MonotonicUs() - start_us;
  return result;
}

}  // namespace sluice
