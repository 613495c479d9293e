// Tasks that run again, round by round: what is placed where a machine failed,
// and how gangs are healed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "explain/explanation.h"
#include "util/cluster_builder.h"
#include "util/peer_builder.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

const RoundOptions kOptions = {
    .evicts_on_no_execute = true,
    .requeues = {.from_failed_machines = true, .evicted = true},
    .preemption = {.mode = Preemption::kPriority}};

// What a round that has ended tells its client.
std::vector<std::string> Told(TestScheduler* cluster) {
  std::vector<std::string> texts;
  for (const ScheduleReply::Entry& entry : cluster->Deliver().deltas) {
    texts.push_back(
        StrCat(entry.type == DeltaType::kPlace ? "PLACE " : "LEAVE ",
               entry.uid.value, " on ", entry.resource_id));
  }
  return texts;
}

class RunAgainTest : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
  }

  static void FailMachine(std::string_view uuid, TestScheduler* cluster) {
    RemoveMachine command = Removed(uuid);
    command.has_failed = true;
    EXPECT_EQ(cluster->Apply(command), Ack::kOk);
  }
  void FailMachine(std::string_view uuid) { FailMachine(uuid, &cluster_); }
  // Ends the round.  The machine fails after so many steps, while the solver
  // works on the next; where there are not so many, after the round, and
  // returns false.
  static bool FailMachineInStep(std::string_view uuid, int step,
                                TestScheduler* cluster) {
    int count = 0;
    while (const auto work = cluster->scheduler().NextStep()) {
      if (count++ == step) FailMachine(uuid, cluster);
      cluster->scheduler().FinishStep(cluster->Solve(*work));
    }
    if (count > step) return true;
    FailMachine(uuid, cluster);
    return false;
  }
  void FailMachineInRound(std::string_view uuid, int64_t now_ms) {
    cluster_.scheduler().StartRound(now_ms);
    EXPECT_TRUE(FailMachineInStep(uuid, 0, &cluster_));
  }
  void SubmitGang(uint64_t count, const Gang& gang) {
    for (uint64_t uid = 1; uid <= count; ++uid) {
      cluster_.Apply(Submitted(uid, {.cpu = 100}, {.gang = gang}));
    }
  }
  std::string Explain(uint64_t uid, int64_t now_ms = 0) {
    return sluice::Explain(cluster_.TaskOf(uid), cluster_.scheduler(), now_ms)
        .summary;
  }

  TestScheduler cluster_{kOptions};
};

TEST_F(RunAgainTest, WhatAFailedMachineRanIsPlacedElsewhere) {
  cluster_.Apply(Added("m", {.cpu = 200}));
  cluster_.Apply(Submitted(1, {.cpu = 200}));
  ASSERT_THAT(cluster_.Reply(0), ElementsAre("PLACE 1 on m"));
  FailMachine("m");
  EXPECT_THAT(Explain(1), StartsWith("its machine m failed; 0/0 machines"));
  cluster_.Apply(Added("n", {.cpu = 200}));
  EXPECT_THAT(cluster_.Reply(1), ElementsAre("PLACE 1 on n"));
  cluster_.Apply(Added("m", {.cpu = 200}));
  EXPECT_THAT(cluster_.Reply(2), IsEmpty());
}

TEST_F(RunAgainTest, TheOldestGoesFirst) {
  cluster_.Apply(Added("m", {.cpu = 100}), 0);
  cluster_.Apply(Submitted(1, {.cpu = 100}), 0);
  ASSERT_THAT(cluster_.Reply(0), ElementsAre("PLACE 1 on m"));
  cluster_.Apply(Submitted(2, {.cpu = 100}), 1000);
  FailMachine("m");
  cluster_.Apply(Added("n", {.cpu = 100}), 2000);
  EXPECT_THAT(cluster_.Reply(2000), ElementsAre("PLACE 1 on n"));
}

TEST_F(RunAgainTest, AGangThatLostSomeIsHealedBeforeOthersStart) {
  cluster_.Apply(Added("m", {.cpu = 200}));
  cluster_.Apply(Added("n", {.cpu = 200}));
  SubmitGang(4, {.minimum = 4});
  cluster_.Reply(0);
  FailMachine("m");
  cluster_.Apply(Submitted(9, {.cpu = 100, .job = "other"}), 1);
  cluster_.Apply(Added("o", {.cpu = 200}), 1);
  cluster_.Reply(1);
  for (uint64_t uid = 1; uid <= 4; ++uid) {
    EXPECT_NE(cluster_.MachineOf(uid), "") << uid;
  }
  EXPECT_EQ(cluster_.MachineOf(9), "");
}

TEST_F(RunAgainTest, AGangThatLostAllStartsAsAWhole) {
  cluster_.Apply(Added("m", {.cpu = 400}));
  SubmitGang(4, {.minimum = 4});
  cluster_.Reply(0);
  FailMachine("m");
  cluster_.Apply(Added("n", {.cpu = 300}), 1);
  EXPECT_THAT(cluster_.Reply(1), IsEmpty()) << "three of it have room";
  EXPECT_THAT(Explain(1), HasSubstr("its machine m failed"));
  cluster_.Apply(Added("o", {.cpu = 100}), 2);
  EXPECT_THAT(cluster_.Reply(2), SizeIs(4));
}

TEST_F(RunAgainTest, WhatATaintTookOffIsPlacedElsewhereOnceItHasStopped) {
  cluster_.Apply(Added("m", {.cpu = 100}));
  cluster_.Apply(Submitted(1, {.cpu = 100}));
  ASSERT_THAT(cluster_.Reply(0), ElementsAre("PLACE 1 on m"));
  cluster_.Apply(Updated("m", {.cpu = 100, .taints = {NoExecute("sick")}}));
  cluster_.Apply(Added("n", {.cpu = 100}));
  ASSERT_THAT(cluster_.Reply(1), ElementsAre("PREEMPT 1 on m"));
  EXPECT_THAT(cluster_.Reply(2), IsEmpty()) << "it has not stopped";
  cluster_.Apply(Failed(1), 3);
  EXPECT_THAT(Explain(1), StartsWith("it was told to leave its machine; "));
  EXPECT_THAT(cluster_.Reply(3), ElementsAre("PLACE 1 on n"));
}

TEST_F(RunAgainTest, WhatFailedIsPlacedInARoundAfterItsPause) {
  cluster_.Apply(Added("m", {.cpu = 100}));
  SubmitTask submit = Submitted(1, {.cpu = 100});
  submit.on_failure = {.action = OnFailure::Action::kRequeue};
  cluster_.Apply(submit);
  ASSERT_THAT(cluster_.Reply(0), ElementsAre("PLACE 1 on m"));
  cluster_.Apply(Failed(1), 1000);
  EXPECT_EQ(RunsAgainText(cluster_.TaskOf(1), cluster_.state(), 4500),
            "failed 1 time of at most 3; waits 7 s more");
  EXPECT_THAT(cluster_.Reply(10999), IsEmpty());
  EXPECT_THAT(cluster_.Reply(11000), ElementsAre("PLACE 1 on m"));
  cluster_.Apply(Failed(1), 12000);
  EXPECT_EQ(RunsAgainText(cluster_.TaskOf(1), cluster_.state(), 12000),
            "failed 2 times of at most 3; waits 20 s more");
}

// ---------------------------------------------------------------------------
// Machines that fail while a round is planned

TEST_F(RunAgainTest, WhatAMachineRanThatFailsInARoundIsPlacedByALaterPass) {
  cluster_.Apply(Added("m", {.cpu = 200}));
  cluster_.Apply(Submitted(1, {.cpu = 200}));
  ASSERT_THAT(cluster_.Reply(0), ElementsAre("PLACE 1 on m"));
  cluster_.Apply(Added("n", {.cpu = 300}));
  cluster_.Apply(Submitted(2, {.cpu = 100}));
  FailMachineInRound("m", 1);
  EXPECT_THAT(Told(&cluster_), ElementsAre("PLACE 2 on n", "PLACE 1 on n"));
}

TEST_F(RunAgainTest, NothingIsPlacedOnAMachineThatFailsInTheRound) {
  cluster_.Apply(Added("m", {.cpu = 100}));
  cluster_.Apply(Submitted(1, {.cpu = 100}));
  FailMachineInRound("m", 1);
  EXPECT_THAT(Told(&cluster_), IsEmpty());
  EXPECT_EQ(cluster_.TaskOf(1).runs_again, RunsAgain::kNo) << "it never ran";
  cluster_.Apply(Added("n", {.cpu = 100}));
  EXPECT_THAT(cluster_.Reply(2), ElementsAre("PLACE 1 on n"));
}

TEST_F(RunAgainTest, NobodyIsToldToLeaveAMachineThatFailsInTheRound) {
  cluster_.Apply(Added("m", {.cpu = 100}));
  cluster_.Apply(Submitted(1, {.cpu = 100}));
  ASSERT_THAT(cluster_.Reply(0), ElementsAre("PLACE 1 on m"));
  cluster_.Apply(Submitted(2, {.cpu = 100, .priority = 5}));
  FailMachineInRound("m", 1);
  EXPECT_THAT(Told(&cluster_), IsEmpty());
  EXPECT_THAT(cluster_.state().nominations().machines(), IsEmpty());
  cluster_.Apply(Added("n", {.cpu = 100}));
  EXPECT_THAT(cluster_.Reply(2), ElementsAre("PLACE 2 on n"));
  EXPECT_THAT(Explain(1), StartsWith("its machine m failed"));
}

// Full of what may be stopped, with a gang and others that are more urgent and
// a domain that is to be spread over.
void FillAndSubmitMore(TestScheduler* cluster) {
  ClusterBuilder()
      .Machines("m", 4, {.cpu = 1000})
      .Tasks(1, 12, {.cpu = 300, .job = "old"})
      .ApplyTo(cluster);
  cluster->Reply(0);
  for (uint64_t uid = 21; uid <= 24; ++uid) {
    cluster->Apply(Submitted(uid, {.cpu = 400, .priority = 5, .job = "gang"},
                             {.gang = {.minimum = 4}}));
  }
  ClusterBuilder()
      .Tasks(31, 6, {.cpu = 100, .priority = 3, .job = "new"})
      .Tasks(41, 4, {.cpu = 200, .job = "small"})
      .ApplyTo(cluster);
}

// What a round told to leave does so, and is reported.  Returns what was told.
std::vector<std::string> Obey(TestScheduler* cluster) {
  const std::vector<std::string> texts = Told(cluster);
  std::vector<uint64_t> leaving;
  for (const auto& [id, task] : cluster->state().tasks()) {
    if (task->is_evicted) leaving.push_back(id.value);
  }
  for (const uint64_t uid : leaving) cluster->Apply(Failed(uid));
  return texts;
}

TEST_F(RunAgainTest, InWhateverStepOfARoundAMachineFailsAllRunsInTheEnd) {
  int step = 0;
  for (bool was_in_round = true; was_in_round; ++step) {
    TestScheduler cluster(kOptions);
    FillAndSubmitMore(&cluster);
    cluster.scheduler().StartRound(1);
    was_in_round = FailMachineInStep("m1", step, &cluster);
    EXPECT_THAT(Obey(&cluster), Not(Contains(EndsWith(" on m1")))) << step;
    EXPECT_EQ(FindContradiction(cluster.state()), "") << step;
    EXPECT_EQ(cluster.state().requeues().lost_count, 3) << step;
    ClusterBuilder().Machines("n", 4, {.cpu = 1000}).ApplyTo(&cluster, 2);
    for (int64_t now_ms = 2; now_ms < 10; ++now_ms) {
      cluster.Round(now_ms);
      Obey(&cluster);
    }
    EXPECT_EQ(FindContradiction(cluster.state()), "") << step;
    for (const auto& [id, task] : cluster.state().tasks()) {
      EXPECT_NE(cluster.MachineOf(id.value), "") << id.value << " " << step;
    }
  }
  EXPECT_GT(step, 3);
}

}  // namespace
}  // namespace sluice
