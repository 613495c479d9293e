// Uids that come twice (rule R9 of the wire contract).  A client that
// restarted submits what it submitted before, under the same name; one that
// miscounts submits another task under a uid that is still in use.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "unit/state/state_fixture.h"

namespace sluice {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

class UidReuseTest : public StateTest {
 protected:
  void SetUp() override {
    Do(Added("m", {.cpu = 1000}));
    Do(Added("n", {.cpu = 1000}));
  }
  static SubmitTask First() { return Submitted(1, {.cpu = 100, .name = "a"}); }
  static SubmitTask Second() { return Submitted(1, {.cpu = 30, .name = "b"}); }
  static SubmitTask Third() { return Submitted(1, {.cpu = 7, .name = "c"}); }
  static SubmitTask Pod(uint64_t uid, const std::string& name) {
    return Submitted(uid, {.cpu = 100, .name = name});
  }
  size_t HolderCount() { return TaskOf(1).client.earlier_holders.size() + 1; }
  int64_t DisplacedOn(std::string_view uuid) {
    return std::ranges::count_if(MachineOf(uuid).tasks, [this](TaskId id) {
      return state_.FindTask(id)->client.IsDisplaced();
    });
  }
};

TEST_F(UidReuseTest, SameTaskWhileItWaitsKeepsItsAge) {
  Do(First(), 10);
  const uint64_t sequence = TaskOf(1).sequence;
  EXPECT_EQ(Do(First(), 20), Ack::kOk);
  EXPECT_EQ(TaskOf(1).client.expected_removals, 2);
  EXPECT_EQ(TaskOf(1).submitted_ms, 10);
  EXPECT_EQ(TaskOf(1).sequence, sequence);
  EXPECT_EQ(state_.pending_count(), 1);
  EXPECT_EQ(state_.reused_uid_count(), 1);
}

TEST_F(UidReuseTest, SameTaskThatRunsIsReportedAgainWhereItIs) {
  Do(First());
  Run(1, "n");
  EXPECT_EQ(Do(First()), Ack::kOk);
  EXPECT_EQ(TaskOf(1).state, TaskState::kRunning);
  EXPECT_EQ(HolderCount(), 1u);
  ASSERT_THAT(Outbox(), SizeIs(1));
  EXPECT_EQ(Outbox()[0].machine, MachineOf("n").id);
  EXPECT_EQ(UsedCpu("n"), 100) << "its load counts once";
}

TEST_F(UidReuseTest, SameTaskThatNobodyWasToldOfIsReportedOnce) {
  Do(First());
  Place(1, "m");
  Do(First());
  EXPECT_THAT(Outbox(), SizeIs(1));
}

TEST_F(UidReuseTest, SameTaskAskedForTwiceIsReportedAgainOnce) {
  Do(First());
  Run(1, "m");
  Do(First());
  Do(First());
  EXPECT_THAT(Outbox(), SizeIs(1));
}

TEST_F(UidReuseTest, SameTaskThatEndedWaitsAgain) {
  Do(First(), 10);
  Do(Completed(1));
  EXPECT_EQ(Do(First(), 20), Ack::kOk);
  EXPECT_TRUE(IsWaiting(1));
  EXPECT_EQ(TaskOf(1).submitted_ms, 20);
  EXPECT_EQ(HolderCount(), 1u);
}

// A pod that is submitted waits; the machine it was on is gone.
TEST_F(UidReuseTest, SameTaskOnADepartedMachineWaitsAgain) {
  Do(First());
  Run(1, "m");
  Do(Removed("m"));
  EXPECT_EQ(Do(First()), Ack::kOk);
  EXPECT_TRUE(IsWaiting(1));
  EXPECT_EQ(UsedCpu("m"), 0);
  EXPECT_THAT(Outbox(), IsEmpty());
}

TEST_F(UidReuseTest, SameTaskLeavesATombstoneForFurtherRemovals) {
  Do(First());
  Do(First());
  Run(1, "m");
  EXPECT_EQ(Do(Removed(1)), Ack::kOk);
  EXPECT_EQ(TaskOf(1).state, TaskState::kRemoved);
  EXPECT_EQ(UsedCpu("m"), 0) << "the first removal frees it";
  EXPECT_THAT(state_.jobs(), IsEmpty());
  EXPECT_EQ(Do(Completed(1)), Ack::kNotFound);
  EXPECT_EQ(Do(Updated(1, {})), Ack::kNotFound);
  EXPECT_EQ(Do(ReportTaskUsage{TaskUid{1}}), Ack::kNotFound);
  EXPECT_EQ(Do(Removed(1)), Ack::kOk) << "the second is expected";
  EXPECT_EQ(Do(Removed(1)), Ack::kNotFound);
}

TEST_F(UidReuseTest, ANewTaskMayTakeTheUidOfATombstone) {
  Do(First());
  Do(First());
  Do(Removed(1));
  EXPECT_EQ(Do(Second()), Ack::kOk);
  EXPECT_TRUE(IsWaiting(1));
  EXPECT_EQ(HolderCount(), 1u) << "the earlier task is gone";
  EXPECT_EQ(TaskOf(1).class_key.request[kCpu], 30);
  EXPECT_EQ(Do(Removed(1)), Ack::kOk);
  EXPECT_EQ(Do(Removed(1)), Ack::kOk);
  EXPECT_EQ(Do(Removed(1)), Ack::kNotFound);
}

TEST_F(UidReuseTest, OtherTaskTakesTheUidAndTheEarlierOneKeepsItsLoad) {
  Do(First(), 10);
  Run(1, "m");
  EXPECT_EQ(Do(Second(), 20), Ack::kOk);
  EXPECT_EQ(HolderCount(), 2u);
  EXPECT_EQ(TaskOf(1).name, "b");
  EXPECT_EQ(TaskOf(1).submitted_ms, 20);
  EXPECT_TRUE(IsWaiting(1));
  EXPECT_EQ(UsedCpu("m"), 100);
  EXPECT_EQ(UsedPods("m"), 1);
  EXPECT_EQ(DisplacedOn("m"), 1);
  Run(1, "m");
  EXPECT_EQ(UsedCpu("m"), 130);
  EXPECT_EQ(UsedPods("m"), 2);
}

TEST_F(UidReuseTest, TasksKeepTheirIds) {
  Do(First());
  Run(1, "m");
  Do(Second());
  Do(Third());
  EXPECT_EQ(TaskOf(1).name, "c");
  EXPECT_EQ(state_.FindTask({1})->name, "a");
  EXPECT_EQ(state_.FindTask({1})->client.successor, TaskOf(1).id);
  EXPECT_FALSE(state_.uids().AreIds());
  Do(Removed(1));
  Do(Removed(1));
  Do(Removed(1));
  EXPECT_EQ(state_.FindHolder({1}), nullptr);
  EXPECT_TRUE(state_.uids().AreIds());
}

TEST_F(UidReuseTest, AUidMayHaveTheNumberOfAnotherTasksId) {
  Do(First());
  Do(Second());
  const uint64_t number = TaskOf(1).id.value;
  ASSERT_NE(number, 1u);
  EXPECT_EQ(Do(Removed(number)), Ack::kNotFound) << "it is no client's";
  EXPECT_EQ(Do(Completed(number)), Ack::kNotFound);
  EXPECT_EQ(Do(Submitted(number, {.cpu = 5, .name = "d"})), Ack::kOk);
  EXPECT_EQ(TaskOf(1).name, "b");
  EXPECT_EQ(TaskOf(number).name, "d");
  EXPECT_EQ(Do(Removed(number)), Ack::kOk);
  EXPECT_EQ(Do(Removed(number)), Ack::kNotFound);
  EXPECT_EQ(TaskOf(1).name, "b");
}

TEST_F(UidReuseTest, ATaskThatIsSubmittedByAnotherUidKeepsItsId) {
  Do(Pod(1, "ns/a"));
  Run(1, "m");
  Do(Pod(2, "ns/a"));
  EXPECT_EQ(TaskOf(2).id, TaskId{1});
  EXPECT_EQ(Do(Removed(1)), Ack::kNotFound);
  Do(Pod(1, "ns/b"));
  EXPECT_EQ(TaskOf(1).name, "ns/b");
  EXPECT_EQ(TaskOf(2).name, "ns/a");
}

TEST_F(UidReuseTest, OtherTaskReplacesAPlacementNobodyWasToldOf) {
  Do(First());
  Place(1, "m");
  Do(Second());
  EXPECT_EQ(UsedCpu("m"), 0);
  EXPECT_THAT(Outbox(), IsEmpty());
  EXPECT_TRUE(IsWaiting(1));
  EXPECT_EQ(HolderCount(), 2u) << "two removals will come";
}

TEST_F(UidReuseTest, OtherTaskKeepsTheLoadOfAPlacementInFlight) {
  Do(First());
  Place(1, "m");
  const auto sequences = BeginAll();
  Do(Second());
  EXPECT_EQ(UsedCpu("m"), 100);
  EXPECT_EQ(DisplacedOn("m"), 1);
  state_.EndDelivery(sequences[0], /*is_delivered=*/true);
  EXPECT_TRUE(IsWaiting(1));
}

// The client restarted, was about to be told again, and then miscounted.
TEST_F(UidReuseTest, OtherTaskKeepsTheLoadOfATaskThatWaitsToBeReportedAgain) {
  Do(First());
  Run(1, "m");
  Do(First());
  Do(Second());
  EXPECT_EQ(UsedCpu("m"), 100) << "the client was told of it before";
  EXPECT_THAT(Outbox(), IsEmpty());
}

TEST_F(UidReuseTest, OtherTaskKeepsTheLoadsOfAllBeforeIt) {
  Do(First());
  Run(1, "m");
  Do(Second());
  Run(1, "m");
  Do(Third());
  Run(1, "n");
  EXPECT_EQ(UsedCpu("m"), 130);
  EXPECT_EQ(DisplacedOn("m"), 2);
  EXPECT_EQ(UsedCpu("n"), 7);
  EXPECT_EQ(TaskOf(1).client.expected_removals, 3);
}

TEST_F(UidReuseTest, SharedUidHasNoEndThatCouldBeAttributed) {
  Do(First());
  Run(1, "m");
  Do(Second());
  Run(1, "n");
  EXPECT_EQ(Do(Completed(1)), Ack::kOk);
  EXPECT_EQ(Do(Failed(1)), Ack::kOk);
  EXPECT_EQ(TaskOf(1).state, TaskState::kRunning);
  EXPECT_EQ(UsedCpu("m"), 100);
  EXPECT_EQ(UsedCpu("n"), 30);
}

// Nobody says whose removal it is; the older is the likelier to be gone.
TEST_F(UidReuseTest, SharedUidFreesTheOldestLoadAtEachRemoval) {
  Do(First());
  Run(1, "m");
  Do(Second());
  Run(1, "m");
  Do(Third());
  Run(1, "n");
  EXPECT_EQ(Do(Removed(1)), Ack::kOk);
  EXPECT_EQ(UsedCpu("m"), 30) << "a is gone, b and c are left";
  EXPECT_EQ(UsedCpu("n"), 7);
  EXPECT_EQ(DisplacedOn("m"), 1);
  EXPECT_EQ(Do(Removed(1)), Ack::kOk);
  EXPECT_EQ(UsedCpu("m"), 0);
  EXPECT_EQ(UsedCpu("n"), 7);
  EXPECT_EQ(Do(Removed(1)), Ack::kOk);
  EXPECT_EQ(UsedCpu("n"), 0);
  EXPECT_EQ(state_.FindHolder({1}), nullptr);
  EXPECT_THAT(state_.jobs(), IsEmpty());
  EXPECT_EQ(Do(Removed(1)), Ack::kNotFound);
}

// One of the earlier tasks never ran: its removal leaves the other's load.
TEST_F(UidReuseTest, SharedUidKeepsAsManyLoadsAsThereMayBe) {
  Do(First());
  Run(1, "m");
  Do(Second());
  Do(Third());
  ASSERT_EQ(HolderCount(), 3u);
  Do(Removed(1));
  EXPECT_EQ(UsedCpu("m"), 100) << "it may have been b's";
  Do(Removed(1));
  EXPECT_EQ(UsedCpu("m"), 0);
}

TEST_F(UidReuseTest, SharedUidHasAnEndAgainWhenOneHolderIsLeft) {
  Do(First());
  Run(1, "m");
  Do(Second());
  Run(1, "n");
  Do(Removed(1));
  EXPECT_EQ(UsedCpu("m"), 0);
  EXPECT_EQ(Do(Completed(1)), Ack::kOk);
  EXPECT_EQ(TaskOf(1).state, TaskState::kCompleted);
  EXPECT_EQ(UsedCpu("n"), 0);
  EXPECT_EQ(Do(Removed(1)), Ack::kOk);
  EXPECT_EQ(Do(Removed(1)), Ack::kNotFound);
}

TEST_F(UidReuseTest, SharedUidIgnoresAnUpdateOfAnEarlierHolder) {
  Do(First());
  Run(1, "m");
  Do(Second());
  EXPECT_EQ(Do(Updated(1, {.cpu = 999, .name = "a"})), Ack::kOk);
  EXPECT_EQ(TaskOf(1).name, "b");
  EXPECT_EQ(TaskOf(1).class_key.request[kCpu], 30);
  EXPECT_EQ(Do(Updated(1, {.cpu = 40, .name = "b"})), Ack::kOk);
  EXPECT_EQ(TaskOf(1).class_key.request[kCpu], 40);
}

// The client restarted, submitted the same again, and removes each once.
TEST_F(UidReuseTest, SharedUidExpectsARemovalOfEachSubmission) {
  Do(First());
  Do(First());
  Run(1, "m");
  Do(Second());
  Run(1, "n");
  EXPECT_EQ(Do(Removed(1)), Ack::kOk);
  EXPECT_EQ(Do(Removed(1)), Ack::kOk);
  EXPECT_EQ(UsedCpu("m") + UsedCpu("n"), 0) << "both tasks are gone";
  EXPECT_EQ(Do(Removed(1)), Ack::kOk) << "the third is expected";
  EXPECT_EQ(Do(Removed(1)), Ack::kNotFound);
}

// The client has forgotten the uid: it must not meet it again.
TEST_F(UidReuseTest, SharedUidIsMuteAfterItsFirstRemoval) {
  Do(First());
  Run(1, "m");
  Do(Second());
  Do(Removed(1));
  EXPECT_TRUE(TaskOf(1).client.IsMuted());
  EXPECT_FALSE(IsWaiting(1));
  EXPECT_EQ(state_.pending_count(), 0);
  Do(Updated(1, {.cpu = 50, .name = "b"}));
  EXPECT_FALSE(IsWaiting(1)) << "no update brings it back";
}

TEST_F(UidReuseTest, SharedUidThatIsRemovedTakesBackWhatNobodyWasTold) {
  Do(First());
  Run(1, "m");
  Do(Second());
  Place(1, "n");
  Do(Removed(1));
  EXPECT_THAT(Outbox(), IsEmpty());
  EXPECT_EQ(UsedCpu("n"), 0);
  EXPECT_EQ(UsedCpu("m"), 0);
  EXPECT_FALSE(IsWaiting(1));
}

TEST_F(UidReuseTest, SharedUidThatIsRemovedKeepsWhatIsInFlight) {
  Do(First());
  Run(1, "m");
  Do(Second());
  Place(1, "n");
  const auto sequences = BeginAll();
  Do(Removed(1));
  EXPECT_EQ(UsedCpu("n"), 30);
  EXPECT_THAT(Outbox(), IsEmpty());
  state_.EndDelivery(sequences[0], /*is_delivered=*/false);
  EXPECT_THAT(Outbox(), IsEmpty()) << "it may not be reported any more";
}

TEST_F(UidReuseTest, SharedUidSpeaksAgainWhenItIsSubmittedAgain) {
  Do(First());
  Run(1, "m");
  Do(Second());
  Do(Removed(1));
  Do(Third());
  EXPECT_FALSE(TaskOf(1).client.IsMuted());
  EXPECT_TRUE(IsWaiting(1));
  EXPECT_EQ(Do(Removed(1)), Ack::kOk);
  EXPECT_EQ(Do(Removed(1)), Ack::kOk);
  EXPECT_EQ(Do(Removed(1)), Ack::kNotFound);
  EXPECT_EQ(UsedCpu("m"), 0);
}

TEST_F(UidReuseTest, ResubmissionMayNameAnotherJob) {
  Do(Submitted(1, {.job = "a", .name = "a"}));
  Do(Submitted(1, {.job = "b", .name = "a"}));
  ASSERT_THAT(state_.jobs(), SizeIs(1));
  EXPECT_EQ(state_.FindJob(TaskOf(1).job)->uuid, "b");
}

TEST_F(UidReuseTest, ResubmissionMayBeQuarantinedAndComeBack) {
  Do(First());
  Do(Submitted(1, {.name = "a", .quarantine_reason = "no"}));
  EXPECT_TRUE(IsWaiting(1));
  EXPECT_EQ(state_.pending_count(), 0);
  Do(First());
  EXPECT_EQ(state_.pending_count(), 1);
}

// ---------------------------------------------------------------------------
// Pods are known by name, under any uid

TEST_F(UidReuseTest, PodThatWaitsKeepsItsAgeUnderAnotherUid) {
  Do(Pod(1, "ns/a"), 10);
  const uint64_t sequence = TaskOf(1).sequence;
  EXPECT_EQ(Do(Pod(2, "ns/a"), 20), Ack::kOk);
  EXPECT_EQ(state_.FindHolder({1}), nullptr);
  EXPECT_TRUE(IsWaiting(2));
  EXPECT_EQ(TaskOf(2).submitted_ms, 10);
  EXPECT_EQ(TaskOf(2).sequence, sequence);
  EXPECT_EQ(state_.pending_count(), 1);
  EXPECT_EQ(Do(Removed(1)), Ack::kNotFound);
  EXPECT_EQ(Do(Removed(2)), Ack::kOk);
  EXPECT_THAT(state_.jobs(), IsEmpty());
}

TEST_F(UidReuseTest, PodThatRunsIsReportedAgainUnderAnotherUid) {
  Do(Pod(1, "ns/a"));
  Run(1, "m");
  Do(Pod(2, "ns/a"));
  EXPECT_EQ(UsedCpu("m"), 100) << "it counts once";
  ASSERT_THAT(Outbox(), SizeIs(1));
  EXPECT_EQ(Outbox()[0].task, TaskOf(2).id);
  EXPECT_EQ(Outbox()[0].machine, MachineOf("m").id);
  EXPECT_FALSE(state_.IsUntold(TaskOf(2).id)) << "its client was told before";
  Do(Completed(2));
  EXPECT_EQ(UsedCpu("m"), 0);
}

TEST_F(UidReuseTest, PodThatNobodyWasToldOfIsReportedOnceUnderAnotherUid) {
  Do(Pod(1, "ns/a"));
  Place(1, "m");
  Do(Pod(2, "ns/a"));
  ASSERT_THAT(Outbox(), SizeIs(1));
  EXPECT_EQ(Outbox()[0].task, TaskOf(2).id);
  EXPECT_TRUE(state_.IsUntold(TaskOf(2).id));
}

TEST_F(UidReuseTest, PodOnADepartedMachineWaitsAgainUnderAnotherUid) {
  Do(Pod(1, "ns/a"));
  Run(1, "m");
  Do(Removed("m"));
  Do(Pod(2, "ns/a"));
  EXPECT_TRUE(IsWaiting(2));
  EXPECT_EQ(UsedCpu("m"), 0);
}

// A bridge that restarts deals the uids in the order of its list.
TEST_F(UidReuseTest, PodsWhoseUidsAreDealtAnewStayWhereTheyAre) {
  const char* const names[] = {"ns/a", "ns/b", "ns/c"};
  for (uint64_t uid = 1; uid <= 3; ++uid) {
    Do(Pod(uid, names[uid - 1]));
    Run(uid, uid == 2 ? "n" : "m");
  }
  for (uint64_t uid = 1; uid <= 3; ++uid) Do(Pod(uid, names[uid % 3]));
  EXPECT_EQ(UsedCpu("m"), 200);
  EXPECT_EQ(UsedCpu("n"), 100);
  EXPECT_THAT(state_.tasks(), SizeIs(3));
  EXPECT_THAT(Outbox(), SizeIs(3)) << "each is told where it is";
  EXPECT_EQ(TaskOf(1).machine, MachineOf("n").id) << "b";
  for (uint64_t uid = 1; uid <= 3; ++uid) {
    EXPECT_THAT(TaskOf(uid).client.earlier_holders, IsEmpty());
    EXPECT_EQ(TaskOf(uid).name, names[uid % 3]);
    EXPECT_EQ(Do(Removed(uid)), Ack::kOk);
  }
  EXPECT_EQ(UsedCpu("m") + UsedCpu("n"), 0);
  EXPECT_THAT(state_.jobs(), IsEmpty());
}

TEST_F(UidReuseTest, PodThatWasDisplacedIsKnownAgain) {
  Do(Pod(1, "ns/a"));
  Run(1, "m");
  Do(Pod(1, "ns/b"));
  Do(Pod(1, "ns/a"));
  EXPECT_EQ(TaskOf(1).name, "ns/a");
  EXPECT_EQ(TaskOf(1).machine, MachineOf("m").id);
  ASSERT_THAT(TaskOf(1).client.earlier_holders, SizeIs(1));
  EXPECT_EQ(state_.FindTask(TaskOf(1).client.earlier_holders[0])->name, "ns/b");
  EXPECT_EQ(UsedCpu("m"), 100);
}

TEST_F(UidReuseTest, PodThatWasMutedWaitsAgainUnderAnotherUid) {
  Do(Pod(1, "ns/a"));
  Run(1, "m");
  Do(Pod(1, "ns/b"));
  Do(Removed(1));
  EXPECT_FALSE(IsWaiting(1));
  Do(Pod(2, "ns/b"));
  EXPECT_TRUE(IsWaiting(2));
  EXPECT_EQ(state_.FindHolder({1}), nullptr);
}

// What it shared its uid with has none then, and keeps what it uses.
TEST_F(UidReuseTest, PodThatGoesToAnotherUidLeavesEarlierHoldersWhereTheyAre) {
  Do(Pod(1, "ns/a"));
  Run(1, "m");
  Do(Pod(1, "ns/b"));
  Do(Pod(2, "ns/b"));
  EXPECT_EQ(state_.FindHolder({1}), nullptr);
  EXPECT_EQ(UsedCpu("m"), 100);
  EXPECT_EQ(Do(Removed(1)), Ack::kNotFound);
  Do(Pod(3, "ns/a"));
  EXPECT_EQ(TaskOf(3).machine, MachineOf("m").id);
  Do(Removed(3));
  EXPECT_EQ(UsedCpu("m"), 0);
}

TEST_F(UidReuseTest, PodThatEndedIsAnotherThanTheNextOfItsName) {
  Do(Pod(1, "ns/a"));
  Run(1, "m");
  Do(Completed(1));
  Do(Pod(2, "ns/a"));
  EXPECT_TRUE(IsWaiting(2));
  EXPECT_EQ(TaskOf(1).state, TaskState::kCompleted);
}

TEST_F(UidReuseTest, NamesOfAnotherFormAreNotUnique) {
  for (const char* name : {"", "a", "/a", "ns/"}) {
    SCOPED_TRACE(name);
    Do(Submitted(1, {.name = name}));
    Do(Submitted(2, {.name = name}));
    EXPECT_EQ(state_.pending_count(), 2);
    Do(Removed(1));
    Do(Removed(2));
  }
}

TEST_F(UidReuseTest, StrictRepliesKnowNoNames) {
  Do(Pod(1, "ns/a"));
  SubmitTask second = Pod(2, "ns/a");
  second.reject_if_known = true;
  EXPECT_EQ(Do(second), Ack::kOk);
  EXPECT_EQ(state_.pending_count(), 2);
}

}  // namespace
}  // namespace sluice
