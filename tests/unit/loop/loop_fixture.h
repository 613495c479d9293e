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
#include "persist/recovery.h"
#include "solver/registry.h"
#include "unit/loop/gate.h"
#include "util/cluster_builder.h"
#include "util/fake_clock.h"
#include "util/test_scheduler.h"

namespace sluice {

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
  for (const auto& entry : reply.deltas) tasks.push_back(entry.uid.value);
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

  // A whole Schedule call.  `holds` must be true of what the store holds before
  // its reply leaves the core thread.
  ScheduleReply ScheduleOnceStored(
      const std::function<bool(const ClusterState&)>& holds) {
    FakeCall call;
    Awaited<bool> is_stored;
    call.on_answer = [&] {
      ClusterState stored;
      CHECK(Recover(store_, &stored).ok());
      is_stored.Set(holds(stored));
    };
    CHECK(loop_.Schedule(&call));
    EXPECT_TRUE(is_stored.Get());
    ScheduleReply reply = call.Reply();
    call.End(/*is_delivered=*/true);
    return reply;
  }

  // Starts a Schedule call and stops its round at the gate of the solver.
  void BeginSolve(FakeCall* call) {
    solver_.gate.Close();
    CHECK(loop_.Schedule(call));
    solver_.gate.AwaitArrivals(1);
  }

  // Adds the machine "m" and submits task 1, which needs 1000 millicores.
  void SubmitOne(int64_t machine_cpu, const std::string& task_name = "") {
    Submit(Added("m", {.cpu = machine_cpu}));
    Submit(Submitted(1, {.cpu = 1000, .name = task_name}));
  }
  // The same; a Schedule call then places the task.
  void PlaceOne(int64_t machine_cpu, const std::string& task_name = "") {
    SubmitOne(machine_cpu, task_name);
    EXPECT_EQ(Schedule(), std::vector<uint64_t>{1});
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
