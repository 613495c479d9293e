// A scheduler with all that it needs to run whole rounds in a test, solved as
// the daemon solves them: each pass begins at the prices of those before.  Each
// solution is checked by its certificate before it is committed.
//
// Threads: none; confined to the test.

#ifndef SLUICE_TESTS_UTIL_TEST_SCHEDULER_H_
#define SLUICE_TESTS_UTIL_TEST_SCHEDULER_H_

#include <glog/logging.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/limits.h"
#include "base/rng.h"
#include "constraints/constraint_set.h"
#include "core/round_solver.h"
#include "core/scheduler.h"
#include "cost/policy_set.h"
#include "solver/registry.h"
#include "state/cluster_state.h"

namespace sluice {

// For a round that may do better than its passes did: as it comes, with next to
// nothing to spend on it, or not at all.
inline int64_t DrawImproveBudget(Rng* rng) {
  if (rng->Chance(1, 2)) return RoundOptions().improve_budget;
  return rng->Chance(1, 2) ? rng->Between(1, 100000) : 0;
}

class TestScheduler {
 public:
  explicit TestScheduler(
      RoundOptions options = {},
      std::string_view policies =
          "cpu_memory,node_affinity,pod_affinity,taint,topology_spread")
      : policies_(*PolicySet::FromNames(policies)),
        solver_(MakeSolver("automatic")),
        round_solver_(*solver_),
        scheduler_(policies_, constraints_, options) {}

  Ack Apply(const Command& command, int64_t now_ms = 0) {
    return scheduler_.Apply(command, now_ms);
  }

  RoundAnswer Solve(const RoundWork& work) {
    RoundSolver::Result result = round_solver_.Solve(work);
    CHECK(result.certificate.ok()) << result.certificate;
    return std::move(result.answer);
  }

  // The next flow problem of the round, after all that comes before it.
  std::optional<FlowProblem> NextProblem() {
    while (std::optional<RoundWork> work = scheduler_.NextStep()) {
      if (auto* problem = std::get_if<FlowProblem>(&*work)) {
        return std::move(*problem);
      }
      scheduler_.FinishStep(Solve(*work));
    }
    return std::nullopt;
  }
  FlowSolution SolveFlow(const FlowProblem& problem) {
    return std::get<FlowSolution>(Solve(RoundWork(problem)));
  }

  void FinishRound() {
    while (const std::optional<RoundWork> work = scheduler_.NextStep()) {
      scheduler_.FinishStep(Solve(*work));
    }
  }

  // A whole round.
  const RoundStats& Round(int64_t now_ms = 0) {
    scheduler_.StartRound(now_ms);
    FinishRound();
    return scheduler_.round_stats();
  }

  // Takes a reply and says that its client has it.
  ScheduleReply Deliver(size_t bytes_max = kReplyBytesMax) {
    ScheduleReply reply = scheduler_.TakeReply(bytes_max);
    scheduler_.EndReply(/*is_delivered=*/true);
    return reply;
  }

  // The uuid of the machine that the task is on; "" where it has none.
  std::string MachineOf(uint64_t uid) const {
    const Task* task = state().FindTask({uid});
    if (task == nullptr || task->state != TaskState::kRunning) return "";
    return state().FindMachine(task->machine)->uuid;
  }

  const Task& TaskOf(uint64_t uid) const {
    const Task* task = state().FindTask({uid});
    CHECK(task != nullptr) << "no task " << uid;
    return *task;
  }

  Scheduler& scheduler() { return scheduler_; }
  const Scheduler& scheduler() const { return scheduler_; }
  const ClusterState& state() const { return scheduler_.state(); }
  ClusterState& mutable_state() { return scheduler_.mutable_state(); }
  const PolicySet& policies() const { return policies_; }
  // Of the state as it is now.
  Eligibility& eligibility() {
    scheduler_.eligibility().Refresh(&mutable_state());
    return scheduler_.eligibility();
  }
  const ConstraintSet& constraints() const { return constraints_; }

 private:
  PolicySet policies_;
  ConstraintSet constraints_;
  std::unique_ptr<Solver> solver_;
  RoundSolver round_solver_;
  Scheduler scheduler_;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_UTIL_TEST_SCHEDULER_H_
