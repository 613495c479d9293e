#include "state/requeues.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>
#include <variant>
#include <vector>

#include "unit/state/state_fixture.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using Action = OnFailure::Action;

RemoveMachine FailedMachine(std::string_view uuid) {
  RemoveMachine command = Removed(uuid);
  command.has_failed = true;
  return command;
}

SubmitTask OfJob(uint64_t uid, const OnFailure& on_failure) {
  SubmitTask submit = Submitted(uid, {.cpu = 100});
  submit.on_failure = on_failure;
  return submit;
}

class RequeuesTest : public StateTest {
 protected:
  RequeuesTest() { Do(Added("m", {.cpu = 1000})); }

  void SetOptions(const RequeueOptions& options) {
    Requeues(0, &state_).SetOptions(options);
  }
  void EndBackoffs(int64_t now_ms) { Requeues(now_ms, &state_).EndBackoffs(); }
  void SubmitAndRun(uint64_t uid, const OnFailure& on_failure = {}) {
    Do(OfJob(uid, on_failure));
    Run(uid, "m");
  }
  // It is told to leave, and its client is told.
  void Preempt(uint64_t uid) {
    state_.Preempt({uid});
    DeliverAll();
  }
};

// ---------------------------------------------------------------------------
// Machines that failed

class FailedMachinesTest : public RequeuesTest {
 protected:
  FailedMachinesTest() { SetOptions({.from_failed_machines = true}); }
};

TEST_F(FailedMachinesTest, LeaveTheirTasksWaitingWithTheirAge) {
  Do(Submitted(1, {.cpu = 300}), /*now_ms=*/7);
  Do(Submitted(2, {.cpu = 300}), /*now_ms=*/9);
  Run(1, "m");
  Run(2, "m");
  const uint64_t sequence = TaskOf(1).sequence;
  EXPECT_EQ(Do(FailedMachine("m"), 100), Ack::kOk);
  EXPECT_TRUE(IsWaiting(1));
  EXPECT_TRUE(IsWaiting(2));
  EXPECT_EQ(TaskOf(1).submitted_ms, 7);
  EXPECT_EQ(TaskOf(1).sequence, sequence);
  EXPECT_EQ(TaskOf(1).runs_again, RunsAgain::kMachineFailed);
  EXPECT_EQ(TaskOf(1).lost_on, MachineOf("m").id);
  EXPECT_TRUE(MachineOf("m").IsEmpty());
  EXPECT_EQ(UsedCpu("m"), 0);
  EXPECT_EQ(state_.requeues().lost_count, 2);
}

TEST_F(FailedMachinesTest, HaveNothingWhenTheyComeBack) {
  SubmitAndRun(1);
  Do(FailedMachine("m"));
  Do(Added("m", {.cpu = 1000}));
  EXPECT_TRUE(MachineOf("m").IsUsable());
  EXPECT_TRUE(MachineOf("m").IsEmpty());
  EXPECT_TRUE(IsWaiting(1));
}

TEST_F(FailedMachinesTest, MayFailAgainWithoutEffect) {
  SubmitAndRun(1);
  Do(FailedMachine("m"));
  state_.TakeChanges();
  EXPECT_EQ(Do(FailedMachine("m")), Ack::kOk);
  EXPECT_FALSE(state_.has_changes());
  EXPECT_EQ(state_.requeues().lost_count, 1);
}

TEST_F(FailedMachinesTest, MayHaveBeenRemovedBefore) {
  SubmitAndRun(1);
  Do(Removed("m"));
  ASSERT_EQ(TaskOf(1).state, TaskState::kRunning);
  Do(FailedMachine("m"));
  EXPECT_TRUE(IsWaiting(1));
}

TEST_F(FailedMachinesTest, TakeAlongWhatNobodyWasToldOf) {
  Do(Submitted(1, {.cpu = 100}));
  Do(Submitted(2, {.cpu = 100}));
  Place(1, "m");
  BeginAll();  // The reply is under way.
  Place(2, "m");
  Do(FailedMachine("m"));
  EXPECT_THAT(Outbox(), IsEmpty());
  EXPECT_EQ(TaskOf(1).runs_again, RunsAgain::kMachineFailed);
  EXPECT_EQ(TaskOf(2).runs_again, RunsAgain::kNo) << "it never ran";
  EXPECT_TRUE(IsWaiting(2));
}

TEST_F(FailedMachinesTest, KeepTheirTasksWithoutTheOption) {
  for (const Action action :
       {Action::kUnset, Action::kNever, Action::kRequeue}) {
    SetOptions({});
    SubmitAndRun(1, {.action = action});
    Do(FailedMachine("m"));
    EXPECT_EQ(TaskOf(1).state, action == Action::kRequeue
                                   ? TaskState::kPending
                                   : TaskState::kRunning);
    Do(Removed(1));
    Do(Added("m", {.cpu = 1000}));
  }
}

TEST_F(FailedMachinesTest, EndWhatWasToldToLeave) {
  for (const uint64_t uid : {1, 2, 3}) SubmitAndRun(uid);
  Preempt(1);
  state_.Preempt({2});
  BeginAll();  // Perhaps its client is told, and perhaps not.
  state_.Preempt({3});
  Do(FailedMachine("m"));
  EXPECT_EQ(TaskOf(1).state, TaskState::kFailed);
  EXPECT_TRUE(IsWaiting(2));
  EXPECT_TRUE(IsWaiting(3));
  EXPECT_FALSE(TaskOf(3).is_evicted);
  EXPECT_THAT(Outbox(), IsEmpty());
}

TEST_F(FailedMachinesTest, RequeueWhatWasToldToLeaveWhereThatIsAskedFor) {
  SetOptions({.from_failed_machines = true, .evicted = true});
  SubmitAndRun(1);
  Preempt(1);
  Do(FailedMachine("m"));
  EXPECT_TRUE(IsWaiting(1));
  EXPECT_FALSE(TaskOf(1).is_evicted);
}

TEST_F(FailedMachinesTest, EndTheTasksOfJobsThatDoNotRunTwice) {
  SubmitAndRun(1, {.action = Action::kNever});
  Do(FailedMachine("m"));
  EXPECT_EQ(TaskOf(1).state, TaskState::kFailed);
}

TEST_F(FailedMachinesTest, StartGangsAnewOfWhichNothingRunsAnyMore) {
  Do(Added("n", {.cpu = 1000}));
  for (const uint64_t uid : {1, 2}) {
    SubmitTask submit = Submitted(uid, {.cpu = 100, .job = "gang"});
    submit.gang = {.minimum = 2};
    Do(submit);
  }
  Run(1, "m");
  Run(2, "n");
  const auto has_started = [this] {
    return state_.FindJob(TaskOf(1).job)->HasStarted();
  };
  Do(FailedMachine("m"));
  EXPECT_TRUE(has_started()) << "the other one runs";
  Do(FailedMachine("n"));
  EXPECT_FALSE(has_started());
}

TEST_F(FailedMachinesTest, DoNotEndTasksThatAreReportedAsFailedTwice) {
  SubmitAndRun(1);
  Do(FailedMachine("m"));
  EXPECT_EQ(Do(Failed(1)), Ack::kOk) << "that was where it ran before";
  EXPECT_TRUE(IsWaiting(1));
  EXPECT_EQ(Do(Removed(1)), Ack::kOk);
  EXPECT_EQ(state_.FindHolder({1}), nullptr);
}

TEST_F(FailedMachinesTest, DoNotEndTasksThatAreReportedOnceTheyHaveAPlace) {
  Do(Added("n", {.cpu = 1000}));
  SubmitAndRun(1);
  Do(FailedMachine("m"));
  Place(1, "n");
  EXPECT_EQ(Do(Failed(1)), Ack::kOk) << "nobody was told that it runs there";
  EXPECT_EQ(TaskOf(1).machine, MachineOf("n").id);
  BeginAll();
  Do(Failed(1));
  EXPECT_EQ(TaskOf(1).state, TaskState::kFailed) << "perhaps it ran there";
}

TEST_F(FailedMachinesTest, LeaveToTheReplyWhatMayNotRunTwiceAndMayHaveBegun) {
  for (const bool is_delivered : {true, false}) {
    Do(Added("m", {.cpu = 1000}));
    Do(OfJob(1, {.action = Action::kNever}));
    Place(1, "m");
    const uint64_t sequence = BeginAll().front();
    Do(FailedMachine("m"));
    EXPECT_EQ(TaskOf(1).state, TaskState::kRunning);
    state_.EndDelivery(sequence, is_delivered);
    EXPECT_EQ(IsWaiting(1), !is_delivered) << "its client knows of no place";
    Do(Removed(1));
  }
}

TEST_F(FailedMachinesTest, LoseTasksThatTheirClientDoesNotMention) {
  SubmitAndRun(1);
  Do(Submitted(2, {.cpu = 100, .name = "other"}));
  Run(2, "m");
  Do(Submitted(2, {.cpu = 100, .name = "another"}));  // Displaces it.
  Do(BeginAnnouncement());
  Do(FailedMachine("m"));
  EXPECT_TRUE(MachineOf("m").IsEmpty());
  EXPECT_FALSE(IsWaiting(1)) << "it is stale";
  Do(Submitted(1, {.cpu = 100}));
  EXPECT_TRUE(IsWaiting(1));
}

// ---------------------------------------------------------------------------
// Tasks that were told to leave

TEST_F(RequeuesTest, WhatWasToldToLeaveWaitsAgainOnceItHasStopped) {
  SetOptions({.evicted = true});
  SubmitAndRun(1);
  Preempt(1);
  EXPECT_EQ(Do(Failed(1)), Ack::kOk);
  EXPECT_TRUE(IsWaiting(1));
  EXPECT_EQ(TaskOf(1).failures, 0);
  EXPECT_EQ(TaskOf(1).disturbances, 1);
  EXPECT_EQ(TaskOf(1).runs_again, RunsAgain::kEvicted);
  EXPECT_EQ(Do(Failed(1)), Ack::kOk) << "the same report again";
  EXPECT_TRUE(IsWaiting(1));
  EXPECT_EQ(state_.requeues().evicted_count, 1);
}

TEST_F(RequeuesTest, WhatNobodyWasToldToEndHasFailed) {
  SetOptions({.evicted = true});
  SubmitAndRun(1);
  state_.Preempt({1});
  Do(Failed(1));
  EXPECT_EQ(TaskOf(1).state, TaskState::kFailed);
}

TEST_F(RequeuesTest, EvictedTasksWaitAgainAsTheirJobOrTheOptionSays) {
  struct Case {
    Action action;
    bool option;
    TaskState state;
  };
  for (const auto& [action, option, state] :
       std::vector<Case>{{Action::kUnset, false, TaskState::kFailed},
                         {Action::kUnset, true, TaskState::kPending},
                         {Action::kRequeue, false, TaskState::kPending},
                         {Action::kRequeue, true, TaskState::kPending},
                         {Action::kNever, false, TaskState::kFailed},
                         {Action::kNever, true, TaskState::kFailed}}) {
    SetOptions({.evicted = option});
    SubmitAndRun(1, {.action = action});
    Preempt(1);
    Do(Failed(1));
    EXPECT_EQ(TaskOf(1).state, state)
        << static_cast<int>(action) << " " << option;
    EXPECT_EQ(TaskOf(1).retry_ms, 0);
    Do(Removed(1));
  }
}

TEST_F(RequeuesTest, OneThatWasToldToMoveGoesWhereRoomIsKept) {
  SetOptions({.evicted = true});
  Do(Added("n", {.cpu = 100}));
  SubmitAndRun(1);
  state_.Migrate({1}, MachineOf("n").id);
  DeliverAll();
  Do(Failed(1));
  EXPECT_EQ(state_.nominations().machines().at({1}), MachineOf("n").id);
}

// ---------------------------------------------------------------------------
// Tasks that failed

constexpr OnFailure kTwice = {
    .action = Action::kRequeue, .failures_max = 2, .backoff_ms = 1000};

TEST_F(RequeuesTest, FailedOnesWaitForTheirTimeAndThenForAMachine) {
  SubmitAndRun(1, kTwice);
  Do(Failed(1), /*now_ms=*/5000);
  EXPECT_EQ(TaskOf(1).state, TaskState::kPending);
  EXPECT_FALSE(IsWaiting(1));
  EXPECT_EQ(TaskOf(1).retry_ms, 6000);
  EXPECT_TRUE(MachineOf("m").IsEmpty());
  EndBackoffs(5999);
  EXPECT_FALSE(IsWaiting(1));
  EndBackoffs(6000);
  EXPECT_TRUE(IsWaiting(1));
  EXPECT_EQ(TaskOf(1).retry_ms, 0);
  EXPECT_EQ(state_.requeues().failed_count, 1);
}

TEST_F(RequeuesTest, FailedOnesWaitTwiceAsLongEachTimeAndEndAtLast) {
  SubmitAndRun(1, kTwice);
  Do(Failed(1), 5000);
  Do(Failed(1), 5001);
  EXPECT_EQ(TaskOf(1).failures, 1) << "the same report again";
  EndBackoffs(6000);
  Run(1, "m");
  Do(Failed(1), 7000);
  EXPECT_EQ(TaskOf(1).retry_ms, 9000);
  EndBackoffs(9000);
  Run(1, "m");
  Do(Failed(1), 10000);
  EXPECT_EQ(TaskOf(1).state, TaskState::kFailed);
  EXPECT_THAT(state_.requeues().backoffs, IsEmpty());
}

TEST_F(RequeuesTest, NobodyWaitsForLongerThanTheBound) {
  const OnFailure often = {.action = Action::kRequeue, .failures_max = 100};
  SubmitAndRun(1, often);
  int64_t now_ms = 0;
  std::vector<int64_t> waits_s;
  for (int i = 0; i < 40; ++i) {
    Do(Failed(1), now_ms);
    waits_s.push_back((TaskOf(1).retry_ms - now_ms) / 1000);
    now_ms = TaskOf(1).retry_ms;
    EndBackoffs(now_ms);
    Run(1, "m");
  }
  EXPECT_THAT(std::vector(waits_s.begin(), waits_s.begin() + 6),
              ElementsAre(10, 20, 40, 80, 160, 300));
  EXPECT_EQ(waits_s.back(), 300);
}

TEST_F(RequeuesTest, ABackoffIsNotProlongedByAClockThatIsSetBack) {
  SubmitAndRun(1, kTwice);
  Do(Failed(1), /*now_ms=*/1000000000);
  EndBackoffs(0);
  EXPECT_EQ(TaskOf(1).retry_ms, kBackoffMaxMs);
  EndBackoffs(kBackoffMaxMs);
  EXPECT_TRUE(IsWaiting(1));
}

TEST_F(RequeuesTest, WithoutABackoffATaskWaitsForAMachineAtOnce) {
  SubmitAndRun(1, {.action = Action::kRequeue, .backoff_ms = 0});
  Do(Failed(1));
  EXPECT_TRUE(IsWaiting(1));
}

TEST_F(RequeuesTest, ATaskThatNeverRanFailsForGood) {
  Do(OfJob(1, kTwice));
  Do(Failed(1));
  EXPECT_EQ(TaskOf(1).state, TaskState::kFailed);
}

TEST_F(RequeuesTest, ABackoffEndsWithItsTask) {
  for (const Command& command :
       {Command(Removed(1)), Command(Completed(1)),
        Command(UpdateTask{{1}, TaskSpecOf(1, {.cpu = 200})})}) {
    SubmitAndRun(1, kTwice);
    Do(Failed(1), 1000);
    ASSERT_THAT(state_.requeues().backoffs, SizeIs(1));
    Do(command, 1000);
    const bool is_update = std::holds_alternative<UpdateTask>(command);
    EXPECT_THAT(state_.requeues().backoffs, SizeIs(is_update ? 1 : 0));
    EXPECT_EQ(FindContradiction(state_), "");
    Do(Removed(1));
  }
  EXPECT_THAT(state_.requeues().backoffs, IsEmpty());
}

TEST_F(RequeuesTest, ABackoffGoesWithATaskThatLosesItsUid) {
  SubmitTask submit = OfJob(1, kTwice);
  submit.spec.name = "ns/a";
  Do(submit);
  Run(1, "m");
  Do(Failed(1), 1000);
  submit.spec.name = "ns/b";
  Do(submit, 1000);
  EXPECT_EQ(FindContradiction(state_), "");
  EndBackoffs(5000);
  EXPECT_TRUE(IsWaiting(1));
  EXPECT_THAT(state_.unscheduled(), SizeIs(1));
}

TEST_F(RequeuesTest, ASubmissionThatMakesNoSenseKeepsWhatTheJobSays) {
  Do(OfJob(1, kTwice));
  SubmitTask submit = Submitted(2, {.cpu = 100});
  submit.on_failure = std::nullopt;
  Do(submit);
  EXPECT_EQ(state_.FindJob(TaskOf(1).job)->on_failure, kTwice);
  Do(Submitted(3, {.cpu = 100}));
  EXPECT_EQ(state_.FindJob(TaskOf(1).job)->on_failure, OnFailure())
      << "the newest counts";
}

}  // namespace
}  // namespace sluice
