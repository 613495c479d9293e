// Deltas from the decision to the client that has them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/state/state_fixture.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class OutboxTest : public StateTest {
 protected:
  void SetUp() override {
    Do(Added("m", {.cpu = 1000}));
    for (uint64_t uid = 1; uid <= 3; ++uid) Do(Submitted(uid, {.cpu = 100}));
  }
  std::vector<uint64_t> TasksInOutbox() const {
    std::vector<uint64_t> uids;
    for (const Delta& delta : Outbox()) uids.push_back(delta.task.value);
    return uids;
  }
};

TEST_F(OutboxTest, KeepsTheOrderOfDecisions) {
  Place(3, "m");
  Place(1, "m");
  Place(2, "m");
  EXPECT_THAT(TasksInOutbox(), ElementsAre(3, 1, 2));
}

TEST_F(OutboxTest, KnowsWhatNobodyWasTold) {
  EXPECT_FALSE(state_.IsUntold({1})) << "there is nothing to tell";
  Place(1, "m");
  EXPECT_TRUE(state_.IsUntold({1}));
  const auto sequences = BeginAll();
  EXPECT_FALSE(state_.IsUntold({1})) << "someone may know already";
  state_.EndDelivery(sequences[0], /*is_delivered=*/false);
  EXPECT_FALSE(state_.IsUntold({1})) << "it may have come all the same";
  DeliverAll();
  EXPECT_FALSE(state_.IsUntold({1}));
}

// The task's client knows where it runs, though it asked again.
TEST_F(OutboxTest, KnowsThatARepeatedReportIsNoNews) {
  Run(1, "m");
  Do(Submitted(1, {.cpu = 100}));
  ASSERT_THAT(Outbox(), SizeIs(1));
  EXPECT_FALSE(state_.IsUntold({1}));
}

TEST_F(OutboxTest, KeepsWhatDidNotArrive) {
  Place(1, "m");
  const auto sequences = BeginAll();
  EXPECT_TRUE(Outbox()[0].is_in_flight);
  state_.EndDelivery(sequences[0], /*is_delivered=*/false);
  EXPECT_THAT(TasksInOutbox(), ElementsAre(1));
  EXPECT_FALSE(Outbox()[0].is_in_flight);
}

TEST_F(OutboxTest, TakesBackAPlacementNobodyWasToldOf) {
  Place(1, "m");
  const uint64_t sequence = TaskOf(1).sequence;
  state_.Withdraw({1});
  EXPECT_THAT(Outbox(), IsEmpty());
  EXPECT_TRUE(IsWaiting(1));
  EXPECT_EQ(TaskOf(1).sequence, sequence) << "it keeps its age";
  EXPECT_EQ(UsedCpu("m"), 0);
}

TEST_F(OutboxTest, SparesWhoWasToldToLeaveUntilSomeoneKnows) {
  Run(1, "m");
  EXPECT_FALSE(state_.Spare({1})) << "nobody told it to leave";
  EXPECT_TRUE(state_.Preempt({1}));
  EXPECT_TRUE(state_.Spare({1}));
  EXPECT_THAT(Outbox(), IsEmpty());
  EXPECT_FALSE(TaskOf(1).is_evicted);
  EXPECT_TRUE(state_.Preempt({1})) << "it can be told so again";
  BeginAll();
  EXPECT_FALSE(state_.Spare({1}));
  EXPECT_TRUE(TaskOf(1).is_evicted);
}

TEST_F(OutboxTest, CannotUndoAStopThatTookThePlaceOfARepetition) {
  Run(1, "m");
  Do(Submitted(1, {.cpu = 100}));
  ASSERT_THAT(Outbox(), SizeIs(1));
  EXPECT_FALSE(state_.Preempt({1}));
}

// I4: after the removal is acknowledged the client knows the task no more.
TEST_F(OutboxTest, DropsWhatConcernsATaskThatEnded) {
  for (uint64_t uid = 1; uid <= 3; ++uid) Place(uid, "m");
  Do(Removed(1));
  Do(Completed(2));
  Do(Failed(3));
  EXPECT_THAT(Outbox(), IsEmpty());
  EXPECT_EQ(UsedCpu("m"), 0);
}

TEST_F(OutboxTest, ForgetsARevokedDeltaInFlight) {
  Place(1, "m");
  const auto sequences = BeginAll();
  Do(Removed(1));
  EXPECT_THAT(Outbox(), IsEmpty());
  state_.EndDelivery(sequences[0], /*is_delivered=*/true);
  EXPECT_EQ(state_.FindHolder({1}), nullptr);
}

TEST_F(OutboxTest, DoesNotMistakeALaterDeltaForARevokedOne) {
  Place(1, "m");
  const auto sequences = BeginAll();
  Do(Removed(1));
  Do(Submitted(1, {.cpu = 100}));
  Place(1, "m");
  state_.EndDelivery(sequences[0], /*is_delivered=*/true);
  EXPECT_THAT(TasksInOutbox(), ElementsAre(1));
}

// A client that restarted while its reply was on the way is told once.
TEST_F(OutboxTest, TellsAPlacementOnceThatWasLostAndAskedForAgain) {
  Place(1, "m");
  const auto sequences = BeginAll();
  Do(Submitted(1, {.cpu = 100}));
  EXPECT_THAT(Outbox(), SizeIs(2)) << "the first may arrive at the old client";
  state_.EndDelivery(sequences[0], /*is_delivered=*/false);
  EXPECT_THAT(TasksInOutbox(), ElementsAre(1));
  EXPECT_FALSE(state_.IsUntold({1}));
}

TEST_F(OutboxTest, TellsAPlacementAgainThatArrivedAndWasAskedForAgain) {
  Place(1, "m");
  const auto sequences = BeginAll();
  Do(Submitted(1, {.cpu = 100}));
  state_.EndDelivery(sequences[0], /*is_delivered=*/true);
  EXPECT_THAT(TasksInOutbox(), ElementsAre(1));
  EXPECT_FALSE(state_.IsUntold({1}));
}

// Its client asked again before the call ended that names its place: nobody
// knows whether it runs.
TEST_F(OutboxTest, LetsNothingBeStoppedWhosePlacementIsUnderWay) {
  Place(1, "m");
  EXPECT_TRUE(state_.CanPreempt(TaskOf(1))) << "nobody knows of it";
  const auto sequences = BeginAll();
  EXPECT_FALSE(state_.CanPreempt(TaskOf(1)));
  Do(Submitted(1, {.cpu = 100}));
  ASSERT_THAT(Outbox(), SizeIs(2)) << "the placement, and its repetition";
  EXPECT_FALSE(state_.CanPreempt(TaskOf(1)));
  state_.EndDelivery(sequences[0], /*is_delivered=*/true);
  EXPECT_TRUE(state_.CanPreempt(TaskOf(1))) << "the repetition is no news";
  Place(2, "m");
  state_.EndDelivery(BeginAll().back(), /*is_delivered=*/false);
  EXPECT_FALSE(state_.CanPreempt(TaskOf(2))) << "it may have come";
}

using OutboxDeathTest = OutboxTest;

TEST_F(OutboxDeathTest, RefusesToTakeBackWhatSomeoneKnows) {
  Run(1, "m");
  EXPECT_DEATH(state_.Withdraw({1}), "IsUntold");
  Place(2, "m");
  BeginAll();
  EXPECT_DEATH(state_.Withdraw({2}), "IsUntold");
  EXPECT_DEATH(state_.Withdraw({3}), "Check failed");
  EXPECT_DEATH(state_.BeginDelivery(99), "Check failed");
}

}  // namespace
}  // namespace sluice
