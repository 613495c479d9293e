#include "state/adoptions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "unit/state/state_fixture.h"

namespace sluice {
namespace {

using testing::IsEmpty;

class AdoptionsTest : public StateTest {
 protected:
  Ack SubmitRunning(uint64_t uid, const std::string& uuid) {
    SubmitTask submit = Submitted(uid, {.cpu = 100});
    submit.runs_on = uuid;
    return Do(submit, /*now_ms=*/5);
  }
  Ack AddRunning(std::string_view uuid, const std::vector<TaskUid>& running) {
    AddMachine add = Added(uuid, {.cpu = 1000});
    add.running = running;
    return Do(add, /*now_ms=*/6);
  }
  // Counted there, and nobody is told.
  void ExpectAdopted(uint64_t uid, std::string_view uuid) {
    const Task& task = TaskOf(uid);
    EXPECT_EQ(task.state, TaskState::kRunning);
    EXPECT_EQ(task.machine, MachineOf(uuid).id);
    EXPECT_EQ(task.runs_on, "");
    EXPECT_FALSE(IsWaiting(uid));
    EXPECT_THAT(Outbox(), IsEmpty());
    EXPECT_TRUE(state_.pending().empty());
    EXPECT_THAT(state_.adoptions().awaiting, IsEmpty());
    EXPECT_THAT(state_.adoptions().claimants, IsEmpty());
  }
};

TEST_F(AdoptionsTest, TaskIsTakenAsPlacedWhereItRuns) {
  Do(Added("m", {.cpu = 1000}));
  EXPECT_EQ(SubmitRunning(1, "m"), Ack::kOk);
  ExpectAdopted(1, "m");
  EXPECT_EQ(UsedCpu("m"), 100);
  EXPECT_EQ(TaskOf(1).placed_ms, 5);
  EXPECT_FALSE(TaskOf(1).is_start_known);
}

TEST_F(AdoptionsTest, PartsOfAMachineStandForIt) {
  Do(Added("m", {.cpu = 1000, .pus = {{"m-pu", {{"cpu", 1000}}}}}));
  SubmitRunning(1, "m-pu");
  ExpectAdopted(1, "m");
}

TEST_F(AdoptionsTest, TaskMayComeBeforeItsMachine) {
  SubmitRunning(1, "m");
  SubmitRunning(2, "m-pu");
  EXPECT_TRUE(state_.pending().empty()) << "elsewhere it would run twice";
  EXPECT_TRUE(IsWaiting(1));
  Do(Added("other", {.cpu = 1000}));
  EXPECT_EQ(TaskOf(1).state, TaskState::kPending);
  Do(Added("m", {.cpu = 1000, .pus = {{"m-pu", {{"cpu", 1000}}}}}));
  ExpectAdopted(1, "m");
  ExpectAdopted(2, "m");
  EXPECT_EQ(UsedCpu("m"), 200);
}

TEST_F(AdoptionsTest, MachineMaySayWhatItRuns) {
  Do(Submitted(1, {.cpu = 100}));
  EXPECT_EQ(AddRunning("m", {{1}}), Ack::kOk);
  ExpectAdopted(1, "m");
}

TEST_F(AdoptionsTest, MachineMaySayItBeforeTheTaskComes) {
  AddRunning("m", {{1}, {2}});
  Do(Submitted(1, {.cpu = 100}));
  EXPECT_EQ(TaskOf(1).state, TaskState::kRunning);
  EXPECT_EQ(UsedCpu("m"), 100);
  Do(Submitted(2, {.cpu = 100}));
  ExpectAdopted(2, "m");
}

TEST_F(AdoptionsTest, BothMaySayIt) {
  AddRunning("m", {{1}});
  SubmitRunning(1, "m");
  SubmitRunning(1, "m");
  ExpectAdopted(1, "m");
  EXPECT_EQ(UsedCpu("m"), 100) << "once";
}

TEST_F(AdoptionsTest, TaskKnowsBetterThanMachinesWhereItRuns) {
  AddRunning("m", {{1}});
  Do(Added("n", {.cpu = 1000}));
  SubmitRunning(1, "n");
  ExpectAdopted(1, "n");
  EXPECT_EQ(UsedCpu("m"), 0);
}

TEST_F(AdoptionsTest, ClientKnowsBetterThanADecisionNobodyWasToldOf) {
  Do(Added("m", {.cpu = 1000}));
  Do(Added("n", {.cpu = 1000}));
  Do(Submitted(1, {.cpu = 100}));
  Place(1, "m");
  SubmitRunning(1, "n");
  ExpectAdopted(1, "n");
  EXPECT_EQ(UsedCpu("m"), 0);
}

TEST_F(AdoptionsTest, WhatWasPlacedStaysWhatAMachineSays) {
  Do(Added("m", {.cpu = 1000}));
  Do(Submitted(1, {.cpu = 100}));
  Run(1, "m");
  AddRunning("n", {{1}});
  ExpectAdopted(1, "m");
}

TEST_F(AdoptionsTest, OfTwoMachinesTheLaterIsBelieved) {
  AddRunning("m", {{1}});
  AddRunning("n", {{1}});
  Do(Submitted(1, {.cpu = 100}));
  ExpectAdopted(1, "n");
}

TEST_F(AdoptionsTest, WhatDoesNotFitIsKept) {
  Do(Added("m", {.cpu = 50}));
  SubmitRunning(1, "m");
  SubmitRunning(2, "m");
  ExpectAdopted(1, "m");
  EXPECT_EQ(UsedCpu("m"), 200);
  Do(RemoveTask{{1}});
  EXPECT_EQ(UsedCpu("m"), 100);
}

TEST_F(AdoptionsTest, ClientMayWithdrawIt) {
  SubmitRunning(1, "nowhere");
  Do(Submitted(1, {.cpu = 100}));
  EXPECT_TRUE(TaskOf(1).IsSchedulable());
  EXPECT_FALSE(state_.pending().empty());
  EXPECT_THAT(state_.adoptions().awaiting, IsEmpty());
}

TEST_F(AdoptionsTest, EndsOfTasksEndIt) {
  AddRunning("m", {{1}, {2}, {3}});
  EXPECT_EQ(Do(CompleteTask{{1}}), Ack::kNotFound);
  EXPECT_EQ(Do(FailTask{{2}}), Ack::kNotFound);
  EXPECT_EQ(Do(RemoveTask{{3}}), Ack::kNotFound);
  EXPECT_THAT(state_.adoptions().claimants, IsEmpty());
  Do(Submitted(1, {.cpu = 100}));
  EXPECT_TRUE(TaskOf(1).IsSchedulable()) << "a new one";

  SubmitRunning(5, "nowhere");
  SubmitRunning(6, "nowhere");
  Do(CompleteTask{{5}});
  Do(RemoveTask{{6}});
  EXPECT_THAT(state_.adoptions().awaiting, IsEmpty());
}

TEST_F(AdoptionsTest, ClaimsGoWithTheMachine) {
  AddRunning("m", {{1}});
  Do(Removed("m"));
  Do(Submitted(1, {.cpu = 100}));
  EXPECT_TRUE(TaskOf(1).IsSchedulable());
}

TEST_F(AdoptionsTest, MachineThatHasGoneIsKnown) {
  Do(Added("m", {.cpu = 1000}));
  Do(Submitted(9, {.cpu = 100}));
  Run(9, "m");
  Do(Removed("m"));
  SubmitRunning(1, "m");
  ExpectAdopted(1, "m");
  Do(Added("m", {.cpu = 1000}));
  EXPECT_EQ(UsedCpu("m"), 200);
}

TEST_F(AdoptionsTest, PodsThatOthersReportedAreCountedOnce) {
  Do(Added("m", {.cpu = 1000}));
  SubmitTask submit = Submitted(1, {.cpu = 100});
  submit.spec.name = "ns/pod";
  submit.runs_on = "m";
  Do(AddForeignPod{"ns/pod", "m", {{"cpu", 300}}});
  Do(submit);
  ExpectAdopted(1, "m");
  EXPECT_EQ(UsedCpu("m"), 100);
}

TEST_F(AdoptionsTest, TaskThatLosesItsUidIsAwaitedUnderItsNewId) {
  SubmitTask first = Submitted(1, {.cpu = 100});
  first.spec.name = "a";
  first.runs_on = "m";
  Do(first);
  SubmitTask second = Submitted(1, {.cpu = 200});
  second.spec.name = "b";
  Do(second);
  Do(Added("m", {.cpu = 1000}));
  EXPECT_EQ(UsedCpu("m"), 100);
  EXPECT_EQ(TaskOf(1).state, TaskState::kPending);
  EXPECT_THAT(state_.adoptions().awaiting, IsEmpty());
}

}  // namespace
}  // namespace sluice
