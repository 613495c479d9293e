#include "core/preemption_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "core/explanation.h"
#include "util/peer_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::EndsWith;

class PreemptionTextTest : public testing::Test {
 protected:
  PreemptionTextTest() {
    cluster_.Apply(Added("m", {.cpu = 1000}));
    cluster_.Apply(Added("n", {.cpu = 1000}));
  }
  // A task that runs.
  void RunTask(uint64_t uid, const TaskOptions& options) {
    cluster_.Apply(Submitted(uid, options));
    cluster_.Reply(++now_ms_);
  }
  void Wait(const TaskOptions& options) {
    cluster_.Apply(Submitted(kWaiting, options));
  }
  std::string MayStop() {
    cluster_.mutable_state().SyncPeers();
    return MayStopText(cluster_.TaskOf(kWaiting), cluster_.state(),
                       cluster_.constraints(), {.mode = Preemption::kPriority});
  }
  std::string StoppedFor(uint64_t uid) {
    return StoppedForText(cluster_.TaskOf(uid), cluster_.state());
  }

  static constexpr uint64_t kWaiting = 11;
  TestScheduler cluster_{{.preemption = {.mode = Preemption::kPriority}}};
  int64_t now_ms_ = 0;
};

TEST_F(PreemptionTextTest, CountsTheMachinesThatWouldHaveRoom) {
  RunTask(1, {.cpu = 1000});
  RunTask(2, {.cpu = 1000});
  Wait({.cpu = 500, .priority = 9});
  EXPECT_EQ(MayStop(),
            "; 2 machines would have room for it without what is less urgent, "
            "which the next round may stop");
  EXPECT_THAT(
      cluster_.scheduler().Explain(cluster_.TaskOf(kWaiting), 0).summary,
      EndsWith(MayStop()));
}

TEST_F(PreemptionTextTest, SaysWhatIsMissing) {
  RunTask(1, {.cpu = 1000, .priority = 9});
  RunTask(2, {.cpu = 500});
  Wait({.cpu = 2000, .priority = 9});
  EXPECT_EQ(MayStop(),
            "; no machine would have room for it without what is less urgent");
  cluster_.Apply(Removed(2));
  EXPECT_EQ(MayStop(), "; nothing that is less urgent can be stopped");
}

TEST_F(PreemptionTextTest, NamesTheBudgetsThatProtect) {
  const DisruptionBudget budget = {
      .limit = DisruptionBudget::Limit::kMinAvailable, .amount = 3};
  RunTask(1, {.cpu = 1000, .job = "web", .budget = budget});
  RunTask(2, {.cpu = 1000, .job = "web", .budget = budget});
  Wait({.cpu = 500, .priority = 9});
  EXPECT_EQ(MayStop(),
            "; 2 machines would have room for it without what is less urgent, "
            "but disruption budgets protect that: web needs 3 available tasks "
            "and has 2");
}

TEST_F(PreemptionTextTest, SaysThatATaskDisplacesNobody) {
  RunTask(1, {.cpu = 1000});
  TaskOptions meek{.cpu = 1000, .priority = 9};
  meek.rules.never_preempts = true;
  Wait(meek);
  EXPECT_EQ(MayStop(),
            "; nobody is stopped for it: its preemption policy is NEVER");
}

TEST_F(PreemptionTextTest, SaysForWhomATaskWasStopped) {
  RunTask(1, {.cpu = 1000, .priority = 9});
  RunTask(2, {.cpu = 1000});
  EXPECT_EQ(StoppedFor(2), "");
  Wait({.cpu = 500, .priority = 9, .name = "urgent"});
  RunTask(12, {.cpu = 500, .priority = 5});
  EXPECT_EQ(StoppedFor(2), " to make room for urgent of priority 9 and 1 more");
  EXPECT_EQ(MayStop(), "") << "room is kept for it";
}

}  // namespace
}  // namespace sluice
