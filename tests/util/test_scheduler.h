// A scheduler with all that it needs to run whole rounds in a test, solved as
// the daemon solves them: each pass begins at the prices of those before.  Each
// solution is checked by its certificate before it is committed.
//
// Threads: none; confined to the test.

#ifndef SLUICE_TESTS_UTIL_TEST_SCHEDULER_H_
#define SLUICE_TESTS_UTIL_TEST_SCHEDULER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/rng.h"
#include "clients/replies.h"
#include "cost/policy_set.h"
#include "round/context/round_work.h"
#include "round/scheduler.h"
#include "sluice/flow/problem.h"
#include "state/cluster_state.h"
#include "state/command.h"

namespace sluice {

class RoundSolver;
class Solver;

// For a round that may do better than its passes did: as it comes, with next to
// nothing to spend on it, or not at all.
int64_t DrawImproveBudget(Rng* rng);

class TestScheduler {
 public:
  explicit TestScheduler(RoundOptions options = {},
                         std::string_view policies = kDefaultCostModels);
  ~TestScheduler();

  Ack Apply(const Command& command, int64_t now_ms = 0);

  RoundAnswer Solve(const RoundWork& work);

  // The next flow problem of the round, after all that comes before it.
  std::optional<FlowProblem> NextProblem();
  FlowSolution SolveFlow(const FlowProblem& problem);

  void FinishRound();

  // A whole round.
  const RoundStats& Round(int64_t now_ms = 0);

  // Takes a reply and says that its client has it.
  ScheduleReply Deliver(size_t bytes_max = kReplyBytesMax);

  // A whole round and what its client is told: "PLACE 1 on m", "PREEMPT ...".
  std::vector<std::string> Reply(int64_t now_ms);

  // The uuid of the machine that the task is on; "" where it has none.
  std::string MachineOf(uint64_t uid) const;
  const Task& TaskOf(uint64_t uid) const;
  // The task that the uid names, or the task of a feed with that id; else null.
  const Task* FindTask(uint64_t uid) const;

  Scheduler& scheduler() { return *scheduler_; }
  const Scheduler& scheduler() const { return *scheduler_; }
  const ClusterState& state() const { return *state_; }
  ClusterState& mutable_state() { return *state_; }
  Replies& replies() { return *replies_; }
  const PolicySet& policies() const { return *policies_; }
  // Of the state as it is now.
  Eligibility& eligibility();
  const ConstraintSet& constraints() const { return *constraints_; }

 private:
  const std::unique_ptr<PolicySet> policies_;
  const std::unique_ptr<ConstraintSet> constraints_;
  const std::unique_ptr<Solver> solver_;
  const std::unique_ptr<RoundSolver> round_solver_;
  const std::unique_ptr<ClusterState> state_;
  const std::unique_ptr<Replies> replies_;
  const std::unique_ptr<Scheduler> scheduler_;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_UTIL_TEST_SCHEDULER_H_
