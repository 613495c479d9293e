#include "loop/solver_thread.h"

#include <glog/logging.h>

#include <utility>

namespace sluice {

SolverThread::SolverThread(Solver& solver, const Clock& clock,
                           std::function<void(SolveResult)> done)
    : solver_(solver), clock_(clock), done_(std::move(done)) {}

SolverThread::~SolverThread() { Stop(); }

void SolverThread::Start() {
  thread_ = std::thread([this] { Run(); });
}

void SolverThread::Solve(RoundWork work) {
  {
    MutexLock lock(mutex_);
    CHECK(!work_.has_value()) << "a solve is still waiting";
    work_ = std::move(work);
  }
  has_work_.NotifyOne();
}

void SolverThread::Stop() {
  if (!thread_.joinable()) return;
  Cancel();
  {
    MutexLock lock(mutex_);
    is_stopping_ = true;
  }
  has_work_.NotifyOne();
  thread_.join();
}

bool SolverThread::SolveOnce() {
  std::optional<RoundWork> work;
  {
    MutexLock lock(mutex_);
    work.swap(work_);
  }
  if (work.has_value()) done_(SolveOne(*work));
  return work.has_value();
}

void SolverThread::Run() {
  for (;;) {
    std::optional<RoundWork> work;
    {
      MutexLock lock(mutex_);
      while (!work_.has_value() && !is_stopping_) has_work_.Wait(mutex_);
      // What was handed in before the stop is still answered.
      if (!work_.has_value()) return;
      work.swap(work_);
    }
    done_(SolveOne(*work));
  }
}

SolveResult SolverThread::SolveOne(const RoundWork& work) {
  const int64_t start_us = clock_.MonotonicUs();
  SolveResult result{solver_.Solve(work, &is_cancelled_), 0};
  result.solve_us = clock_.MonotonicUs() - start_us;
  return result;
}

}  // namespace sluice
