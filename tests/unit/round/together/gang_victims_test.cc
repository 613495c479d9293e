// Gangs that run and are stopped for more urgent tasks: as a whole, or down to
// their minimum.

#include "round/together/gang_victims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/peer_builder.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;
using testing::UnorderedElementsAre;

class GangVictimsTest : public testing::Test {
 protected:
  explicit GangVictimsTest(bool breaks_budgets = false)
      : cluster_({.preemption = {.mode = Preemption::kPriority,
                                 .breaks_budgets = breaks_budgets}}) {}

  std::vector<std::string> Reply() {
    std::vector<std::string> texts = cluster_.Reply(++now_ms_);
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
    return texts;
  }
  // Of 1,000 each, and what was submitted runs.
  void RunOn(int64_t machines) {
    for (int64_t i = 0; i < machines; ++i) {
      cluster_.Apply(
          Added(std::string(1, static_cast<char>('a' + i)), {.cpu = 1000}));
    }
    Reply();
  }
  void Gang(std::string_view job, std::vector<uint64_t> uids, uint64_t minimum,
            TaskOptions options = {}) {
    options.job = job;
    options.cpu = options.cpu == 0 ? 1000 : options.cpu;
    for (const uint64_t uid : uids) {
      cluster_.Apply(Submitted(uid, options, {.gang = {.minimum = minimum}}));
    }
  }
  void Submit(uint64_t uid, uint32_t priority, int64_t cpu = 1000) {
    cluster_.Apply(Submitted(uid, {.cpu = cpu, .priority = priority}));
  }
  std::string StopOf(uint64_t uid) const {
    return "PREEMPT " + std::to_string(uid) + " on " + cluster_.MachineOf(uid);
  }

  TestScheduler cluster_;
  int64_t now_ms_ = 0;
};

class BreakingGangVictimsTest : public GangVictimsTest {
 protected:
  BreakingGangVictimsTest() : GangVictimsTest(/*breaks_budgets=*/true) {}
};

TEST_F(GangVictimsTest, AllOfAGangLeaveThatCannotGoOn) {
  Gang("gang", {1, 2, 3}, 3);
  RunOn(3);
  Submit(4, 9);
  EXPECT_THAT(Reply(), UnorderedElementsAre(StopOf(1), StopOf(2), StopOf(3)));
  EXPECT_EQ(cluster_.scheduler().round_stats().preempted, 3);
  EXPECT_THAT(Reply(), IsEmpty());
  const uint64_t kept = cluster_.state().nominations().machines().at({4}).value;
  for (const uint64_t uid : {1, 2, 3}) cluster_.Apply(Removed(uid));
  EXPECT_THAT(Reply(), SizeIs(1));
  EXPECT_EQ(cluster_.TaskOf(4).machine.value, kept);
}

TEST_F(GangVictimsTest, AGangGoesOnWithItsMinimum) {
  Gang("gang", {1, 2, 3}, 2);
  RunOn(3);
  Submit(4, 9);
  EXPECT_THAT(Reply(), ElementsAre(StartsWith("PREEMPT")));
  Submit(5, 9);
  EXPECT_THAT(Reply(), SizeIs(2)) << "the two that are left";
}

TEST_F(GangVictimsTest, OneTaskIsStoppedRatherThanAGang) {
  Gang("gang", {1, 2}, 2);
  Submit(3, 0);
  RunOn(3);
  Submit(4, 9);
  EXPECT_THAT(Reply(), ElementsAre(StopOf(3)));
}

TEST_F(GangVictimsTest, ALessUrgentGangIsStoppedRatherThanOneTask) {
  Gang("gang", {1, 2}, 2);
  Submit(3, 1);
  RunOn(3);
  Submit(4, 9);
  EXPECT_THAT(Reply(), UnorderedElementsAre(StopOf(1), StopOf(2)));
}

TEST_F(GangVictimsTest, TheSmallerOfTwoGangsIsStopped) {
  Gang("large", {1, 2, 3}, 3);
  Gang("small", {4, 5}, 2);
  RunOn(5);
  Submit(6, 9);
  EXPECT_THAT(Reply(), UnorderedElementsAre(StopOf(4), StopOf(5)));
}

TEST_F(GangVictimsTest, OneGangMakesRoomForAnother) {
  Gang("low", {1, 2, 3, 4}, 4, {.cpu = 500});
  RunOn(2);
  Gang("high", {5, 6}, 2, {.priority = 9});
  EXPECT_THAT(Reply(), SizeIs(4));
  for (const uint64_t uid : {1, 2, 3, 4}) cluster_.Apply(Removed(uid));
  EXPECT_THAT(Reply(), SizeIs(2)) << "both at once";
}

TEST_F(GangVictimsTest, WhatElseTheGangLeavesIsForOthers) {
  Gang("gang", {1, 2}, 2);
  Submit(3, 1);
  RunOn(3);
  Submit(4, 9);
  Submit(5, 5);
  EXPECT_THAT(Reply(), UnorderedElementsAre(StopOf(1), StopOf(2)))
      << "and 3 stays, since 5 has room where the second one was";
}

TEST_F(GangVictimsTest, AGangStaysOfWhichOneTaskIsAsUrgent) {
  Gang("gang", {1}, 2);
  Gang("gang", {2}, 2, {.priority = 9});
  RunOn(2);
  Submit(3, 9);
  EXPECT_THAT(Reply(), IsEmpty());
}

TEST_F(GangVictimsTest, ABudgetLetsTheSurplusGoAndNoMore) {
  Gang("gang", {1, 2, 3}, 2,
       {.budget = DisruptionBudget{
            .limit = DisruptionBudget::Limit::kMaxUnavailable, .amount = 1}});
  RunOn(3);
  Submit(4, 9);
  Submit(5, 9);
  EXPECT_THAT(Reply(), ElementsAre(StartsWith("PREEMPT")));
}

TEST_F(GangVictimsTest, AGangStaysOfWhichABudgetLetsTooFewGo) {
  Gang("gang", {1, 2, 3}, 3,
       {.budget = DisruptionBudget{
            .limit = DisruptionBudget::Limit::kMaxUnavailable, .amount = 2}});
  RunOn(3);
  Submit(4, 9);
  EXPECT_THAT(Reply(), IsEmpty());
}

TEST_F(BreakingGangVictimsTest, AGangLeavesAllTheSameWhereBudgetsMayBeBroken) {
  Gang("gang", {1, 2, 3}, 3,
       {.budget = DisruptionBudget{
            .limit = DisruptionBudget::Limit::kMaxUnavailable, .amount = 0}});
  RunOn(3);
  Submit(4, 9);
  EXPECT_THAT(Reply(), SizeIs(3));
}

TEST_F(GangVictimsTest, WhatCompletedCountsTowardsTheMinimum) {
  Gang("gang", {1, 2, 3}, 2);
  RunOn(3);
  cluster_.Apply(Completed(1));
  Submit(4, 0);
  Reply();
  Submit(5, 9);
  EXPECT_THAT(Reply(), AllOf(SizeIs(1), Not(Contains(StopOf(1)))));
}

TEST_F(GangVictimsTest, WhatWaitsOfItIsNotPlacedWhereItLeaves) {
  Gang("gang", {1, 2}, 2, {.cpu = 500});
  RunOn(1);
  Gang("gang", {3}, 2, {.cpu = 500});
  EXPECT_THAT(Reply(), IsEmpty()) << "there is no room";
  Submit(4, 9, 500);
  EXPECT_THAT(Reply(), UnorderedElementsAre(StopOf(1), StopOf(2)));
  EXPECT_THAT(Reply(), IsEmpty());
}

TEST_F(GangVictimsTest, ItComesBackAsAWhole) {
  Gang("gang", {1, 2}, 2);
  RunOn(2);
  Submit(3, 9);
  Reply();
  for (const uint64_t uid : {1, 2}) cluster_.Apply(Removed(uid));
  Gang("gang", {4, 5}, 2);
  EXPECT_THAT(Reply(), ElementsAre(StartsWith("PLACE 3"))) << "no half of it";
  cluster_.Apply(Added("c", {.cpu = 1000}));
  EXPECT_THAT(Reply(), SizeIs(2));
}

TEST_F(GangVictimsTest, ItGoesOnWhereItsStopIsTakenBack) {
  Gang("gang", {1, 2}, 2);
  RunOn(2);
  Submit(3, 9);
  cluster_.Round(++now_ms_);
  EXPECT_FALSE(cluster_.state().FindJob(cluster_.TaskOf(1).job)->HasStarted());
  cluster_.Apply(Removed(3));
  cluster_.Apply(Added("c", {.cpu = 1000}));
  Gang("gang", {4}, 2);
  for (const uint64_t uid : {1, 2}) {
    if (cluster_.TaskOf(uid).is_evicted) {
      ASSERT_TRUE(cluster_.mutable_state().Spare({uid}));
    }
  }
  EXPECT_TRUE(cluster_.state().FindJob(cluster_.TaskOf(1).job)->was_started);
  EXPECT_THAT(Reply(), ElementsAre("PLACE 4 on c")) << "as any other";
}

TEST_F(GangVictimsTest, AMachineThatIsGoneLeavesTheRestAlone) {
  Gang("gang", {1, 2, 3}, 2);
  RunOn(3);
  cluster_.Apply(Removed(cluster_.MachineOf(1)));
  Submit(4, 9);
  EXPECT_THAT(Reply(), IsEmpty())
      << "the first still runs, as far as anybody knows";
}

}  // namespace
}  // namespace sluice
