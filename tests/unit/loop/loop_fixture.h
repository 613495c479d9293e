// A core loop with a real scheduler, and doors where the outside world would
// be: a store and a solver that wait until the test lets them go on, and
// Schedule calls that end when the test says so.
//
// Nothing here waits for time to pass, only for things to happen.

#ifndef SLUICE_TESTS_UNIT_LOOP_LOOP_FIXTURE_H_
#define SLUICE_TESTS_UNIT_LOOP_LOOP_FIXTURE_H_

#include <glog/logging.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "loop/core_loop.h"
#include "observe/metrics.h"
#include "persist/memory_store.h"
#include "solver/registry.h"
#include "util/cluster_builder.h"
#include "util/fake_clock.h"
#include "util/test_scheduler.h"

namespace sluice {

// Open by default.  Whoever comes to a closed gate waits there.
class Gate {
 public:
  void Close() { Set(false); }
  void Open() { Set(true); }

  // Called by what is to wait.  Goes on early if `is_cancelled` turns true.
  void Pass(const std::atomic<bool>* is_cancelled = nullptr) {
    MutexLock lock(mutex_);
    ++arrivals_;
    changed_.NotifyAll();
    while (!is_open_ && (is_cancelled == nullptr || !*is_cancelled)) {
      // Cancelling is an atomic and wakes nobody.
      changed_.WaitFor(mutex_, /*timeout_us=*/1000);
    }
  }

  int arrivals() {
    MutexLock lock(mutex_);
    return arrivals_;
  }
  // Waits until `count` visitors in all have come to the gate.
  void AwaitArrivals(int count) {
    MutexLock lock(mutex_);
    while (arrivals_ < count) changed_.Wait(mutex_);
  }

 private:
  void Set(bool is_open) {
    MutexLock lock(mutex_);
    is_open_ = is_open;
    changed_.NotifyAll();
  }

  Mutex mutex_;
  CondVar changed_;
  bool is_open_ ABSL_GUARDED_BY(mutex_) = true;
  int arrivals_ ABSL_GUARDED_BY(mutex_) = 0;
};

// A value that one thread sets once and another waits for.
template <class T>
class Awaited {
 public:
  void Set(T value) {
    MutexLock lock(mutex_);
    CHECK(!value_.has_value()) << "set twice";
    value_ = std::move(value);
    changed_.NotifyAll();
  }
  T Get() {
    MutexLock lock(mutex_);
    while (!value_.has_value()) changed_.Wait(mutex_);
    return *value_;
  }
  bool is_set() {
    MutexLock lock(mutex_);
    return value_.has_value();
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::optional<T> value_ ABSL_GUARDED_BY(mutex_);
};

// Notes how each batch was written; fails where told to.
class GatedStore final : public Store {
 public:
  absl::Status Write(const WriteBatch& batch, Durability durability) override {
    gate.Pass();
    if (fails) return absl::UnavailableError("disk on fire");
    {
      MutexLock lock(mutex_);
      writes_.push_back(durability);
    }
    return inner_.Write(batch, durability);
  }
  absl::Status Scan(std::string_view prefix, Visitor visit) const override {
    return inner_.Scan(prefix, visit);
  }
  std::string description() const override { return "gated"; }

  std::vector<Durability> writes() {
    MutexLock lock(mutex_);
    return writes_;
  }

  Gate gate;
  std::atomic<bool> fails = false;

 private:
  MemoryStore inner_;
  Mutex mutex_;
  std::vector<Durability> writes_ ABSL_GUARDED_BY(mutex_);
};

// The real solver behind a gate.
class GatedSolver final : public Solver {
 public:
  std::string_view name() const override { return "gated"; }

  FlowSolution Solve(const FlowProblem& problem,
                     const SolveLimits& limits) override {
    gate.Pass(limits.cancelled);
    FlowSolution solution = inner_->Solve(problem, limits);
    if (tamper != nullptr) tamper(&solution);
    return solution;
  }

  Gate gate;
  // Set before a round; changes what the solver says.
  std::function<void(FlowSolution*)> tamper;

 private:
  const std::unique_ptr<Solver> inner_ = MakeSolver("cost_scaling");
};

// A Schedule call whose client is the test.
class FakeCall final : public ScheduleCall {
 public:
  bool IsCancelled() const override { return is_cancelled; }
  void Answer(ScheduleReply reply, std::function<void(bool)> done) override {
    if (on_answer != nullptr) on_answer();
    done_ = std::move(done);
    reply_.Set(std::move(reply));
  }

  ScheduleReply Reply() { return reply_.Get(); }
  bool is_answered() { return reply_.is_set(); }
  // REQUIRES: answered.
  void End(bool is_delivered) { done_(is_delivered); }

  std::atomic<bool> is_cancelled = false;
  std::function<void()> on_answer;  // On the core thread, before the reply.

 private:
  Awaited<ScheduleReply> reply_;
  std::function<void(bool)> done_;
};

inline std::vector<uint64_t> TasksOf(const ScheduleReply& reply) {
  std::vector<uint64_t> tasks;
  for (const auto& entry : reply.deltas) tasks.push_back(entry.task.value);
  return tasks;
}

class LoopFixture : public testing::Test {
 protected:
  explicit LoopFixture(CoreLoop::Options options = {},
                       RoundOptions round_options = {})
      : scheduler_(round_options),
        loop_({scheduler_.mutable_state(), scheduler_.scheduler(), store_,
               solver_, clock_, metrics_},
              options) {
    loop_.Start();
  }
  ~LoopFixture() override {
    store_.gate.Open();
    solver_.gate.Open();
    loop_.Stop();
  }

  // Applies `command` and waits for its acknowledgment.
  Ack Submit(Command command) {
    Awaited<Ack> ack;
    CHECK(loop_.Submit(std::move(command), [&](Ack got) { ack.Set(got); }));
    return ack.Get();
  }
  void SubmitAsync(Command command, Awaited<Ack>* ack) {
    CHECK(loop_.Submit(std::move(command), [ack](Ack got) { ack->Set(got); }));
  }

  // Waits until all that came before it has been handled, and returns the
  // newest round's statistics.
  RoundStats Settle() {
    Awaited<RoundStats> stats;
    CHECK(
        loop_.Read([&](const CoreView& view) { stats.Set(view.last_round); }));
    return stats.Get();
  }

  // A whole Schedule call; returns the tasks it placed.
  std::vector<uint64_t> Schedule() {
    FakeCall call;
    CHECK(loop_.Schedule(&call));
    const std::vector<uint64_t> tasks = TasksOf(call.Reply());
    call.End(/*is_delivered=*/true);
    return tasks;
  }

  FakeClock clock_;
  Metrics metrics_;
  GatedStore store_;
  GatedSolver solver_;
  TestScheduler scheduler_;
  CoreLoop loop_;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_UNIT_LOOP_LOOP_FIXTURE_H_
