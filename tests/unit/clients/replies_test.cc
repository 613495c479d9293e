#include "clients/replies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "util/cluster_builder.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// A delta that names "m" takes at most this much of a reply.
constexpr size_t kDeltaBytes = 21;

class RepliesTest : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
  }
  Scheduler& scheduler() { return cluster_.scheduler(); }
  Replies& replies() { return cluster_.replies(); }
  static std::vector<uint64_t> TasksOf(const ScheduleReply& reply) {
    std::vector<uint64_t> uids;
    for (const ScheduleReply::Entry& entry : reply.deltas) {
      uids.push_back(entry.uid.value);
    }
    return uids;
  }
  static std::vector<uint64_t> WaitingOf(const ScheduleReply& reply) {
    std::vector<uint64_t> uids;
    for (const TaskUid uid : reply.unscheduled) uids.push_back(uid.value);
    return uids;
  }
  TestScheduler cluster_;
};

TEST_F(RepliesTest, AnswersNothingWhereNothingHappened) {
  const ScheduleReply reply = cluster_.Deliver();
  EXPECT_THAT(reply.deltas, IsEmpty());
  EXPECT_THAT(reply.unscheduled, IsEmpty());
}

TEST_F(RepliesTest, NamesTheProcessingUnitWhereThereIsOne) {
  ClusterBuilder()
      .Machine("plain", {.cpu = 1000})
      .Task(1, {.cpu = 1000})
      .ApplyTo(&cluster_);
  cluster_.Round();
  cluster_.Apply(Added("tree", {.cpu = 2000, .pus = {{"tree-pu", {}}}}));
  cluster_.Apply(Submitted(2, {.cpu = 2000}));
  cluster_.Round();
  const ScheduleReply reply = cluster_.Deliver();
  ASSERT_THAT(TasksOf(reply), ElementsAre(1, 2));
  EXPECT_EQ(reply.deltas[0].resource_id, "plain");
  EXPECT_EQ(reply.deltas[1].resource_id, "tree-pu");
  EXPECT_EQ(reply.deltas[1].type, DeltaType::kPlace);
}

// R12: each placement is told once.
TEST_F(RepliesTest, TellsWhatArrivedOnceAndWhatDidNotAgain) {
  ClusterBuilder().Machine("m", {}).Tasks(1, 2).ApplyTo(&cluster_);
  cluster_.Round();
  EXPECT_THAT(replies().Take(kReplyBytesMax).deltas, SizeIs(2));
  EXPECT_TRUE(replies().is_in_flight());
  replies().End(/*is_delivered=*/false);
  EXPECT_FALSE(replies().is_in_flight());
  EXPECT_THAT(TasksOf(cluster_.Deliver()), ElementsAre(1, 2));
  cluster_.Round();
  EXPECT_THAT(cluster_.Deliver().deltas, IsEmpty());
}

// R3: what does not fit into a reply is told by the next.
TEST_F(RepliesTest, CarriesOverWhatDoesNotFitIntoAReply) {
  ClusterBuilder().Machine("m", {}).Tasks(1, 5).ApplyTo(&cluster_);
  cluster_.Round();
  EXPECT_THAT(TasksOf(cluster_.Deliver(2 * kDeltaBytes)), ElementsAre(1, 2));
  EXPECT_THAT(TasksOf(cluster_.Deliver(3 * kDeltaBytes - 1)),
              ElementsAre(3, 4));
  EXPECT_THAT(TasksOf(cluster_.Deliver(kDeltaBytes)), ElementsAre(5));
}

TEST_F(RepliesTest, LeavesLongIdsRoomOnTheWire) {
  const std::string uuid(1000, 'm');
  ClusterBuilder().Machine(uuid, {}).Tasks(1, 3).ApplyTo(&cluster_);
  cluster_.Round();
  EXPECT_THAT(cluster_.Deliver(2040).deltas, SizeIs(2));
  EXPECT_THAT(cluster_.Deliver(1019).deltas, IsEmpty());
}

TEST_F(RepliesTest, NamesEveryTaskThatWaitsQuarantinedOnesToo) {
  ClusterBuilder()
      .Machine("m", {.cpu = 100})
      .Task(3, {.cpu = 100})
      .Task(1, {.cpu = 200})
      .Task(2, {.quarantine_reason = "no"})
      .ApplyTo(&cluster_);
  cluster_.Round();
  const ScheduleReply reply = cluster_.Deliver();
  EXPECT_THAT(TasksOf(reply), ElementsAre(3));
  EXPECT_THAT(WaitingOf(reply), ElementsAre(1, 2));
  EXPECT_THAT(WaitingOf(cluster_.Deliver()), ElementsAre(1, 2));
}

TEST_F(RepliesTest, NamesTheWaitingInTurnWhereTheyDoNotAllFit) {
  ClusterBuilder().Tasks(1, 5).ApplyTo(&cluster_);
  EXPECT_THAT(WaitingOf(cluster_.Deliver(29)), ElementsAre(1, 2));
  EXPECT_THAT(WaitingOf(cluster_.Deliver(20)), ElementsAre(3, 4));
  EXPECT_THAT(WaitingOf(cluster_.Deliver(20)), ElementsAre(5, 1));
  cluster_.Apply(Removed(2));
  EXPECT_THAT(WaitingOf(cluster_.Deliver(20)), ElementsAre(3, 4));
  EXPECT_THAT(WaitingOf(cluster_.Deliver(9)), IsEmpty());
  EXPECT_THAT(WaitingOf(cluster_.Deliver(40)), ElementsAre(1, 3, 4, 5));
}

TEST_F(RepliesTest, GivesDeltasRoomBeforeTheWaiting) {
  ClusterBuilder()
      .Machine("m", {.cpu = 100})
      .Tasks(1, 2, {.cpu = 50})
      .Tasks(3, 3, {.cpu = 101})
      .ApplyTo(&cluster_);
  cluster_.Round();
  const ScheduleReply reply = cluster_.Deliver(kDeltaBytes + 10);
  EXPECT_THAT(TasksOf(reply), ElementsAre(1));
  EXPECT_THAT(reply.unscheduled, IsEmpty());
  EXPECT_THAT(WaitingOf(cluster_.Deliver(kDeltaBytes + 10)), ElementsAre(3));
}

// R4: nothing that was acknowledged as removed is told.
TEST_F(RepliesTest, DropsWhatWasRemovedBeforeTheReply) {
  ClusterBuilder()
      .Machines("m", 2, {.cpu = 100})
      .Tasks(1, 2, {.cpu = 100})
      .ApplyTo(&cluster_);
  cluster_.Round();
  ASSERT_EQ(cluster_.MachineOf(2), "m1");
  cluster_.Apply(Removed(1));
  cluster_.Apply(Removed("m1"));
  const ScheduleReply reply = cluster_.Deliver();
  EXPECT_THAT(reply.deltas, IsEmpty());
  EXPECT_THAT(WaitingOf(reply), ElementsAre(2));
}

TEST_F(RepliesTest, KnowsWhichRemovalsMustWaitForTheReplyInFlight) {
  ClusterBuilder()
      .Machine("m", {.cpu = 100})
      .Machine("n", {.cpu = 200})
      .Task(1, {.cpu = 200})
      .Task(2, {.cpu = 300})
      .ApplyTo(&cluster_);
  cluster_.Round();
  ASSERT_EQ(cluster_.MachineOf(1), "n");
  EXPECT_FALSE(replies().ConcernsUnread(Removed(1)));
  replies().Take(kReplyBytesMax);
  cluster_.Apply(Submitted(3));
  EXPECT_TRUE(replies().ConcernsUnread(Removed(1)));
  EXPECT_TRUE(replies().ConcernsUnread(Removed(2))) << "it waits";
  EXPECT_TRUE(replies().ConcernsUnread(Removed("n")));
  EXPECT_FALSE(replies().ConcernsUnread(Removed(3)));
  EXPECT_FALSE(replies().ConcernsUnread(Removed("m")));
  EXPECT_FALSE(replies().ConcernsUnread(Removed("unknown")));
  EXPECT_FALSE(replies().ConcernsUnread(Completed(1)));
  EXPECT_FALSE(replies().ConcernsUnread(Submitted(1)));
  replies().End(/*is_delivered=*/true);
  EXPECT_TRUE(replies().ConcernsUnread(Removed(1)));
  replies().NoteRead();
  EXPECT_FALSE(replies().ConcernsUnread(Removed(1)));
}

TEST_F(RepliesTest, RemembersTwoRepliesThatMayNotBeRead) {
  ClusterBuilder()
      .Machine("m", {.cpu = 100})
      .Task(1, {.cpu = 100})
      .ApplyTo(&cluster_);
  const auto reply = [&](bool is_delivered) {
    cluster_.Round();
    replies().Take(kReplyBytesMax);
    replies().End(is_delivered);
  };
  reply(true);
  EXPECT_TRUE(replies().ConcernsUnread(Removed(1)));
  reply(true);
  EXPECT_TRUE(replies().ConcernsUnread(Removed(1)));
  reply(true);
  EXPECT_FALSE(replies().ConcernsUnread(Removed(1)));
  cluster_.Apply(Submitted(2));
  reply(false);
  EXPECT_FALSE(replies().ConcernsUnread(Removed(2)))
      << "the client that it was for is gone";
}

TEST_F(RepliesTest, PlacesAnewWhatWasInFlightToADepartedMachine) {
  ClusterBuilder()
      .Machine("m", {.cpu = 100})
      .Task(1, {.cpu = 100})
      .ApplyTo(&cluster_);
  cluster_.Round();
  replies().Take(kReplyBytesMax);
  cluster_.Apply(Removed("m"));
  replies().End(/*is_delivered=*/false);
  cluster_.Apply(Added("n", {.cpu = 100}));
  cluster_.Round();
  const ScheduleReply reply = cluster_.Deliver();
  ASSERT_THAT(TasksOf(reply), ElementsAre(1));
  EXPECT_EQ(reply.deltas[0].resource_id, "n");
}

using RepliesDeathTest = RepliesTest;

TEST_F(RepliesDeathTest, RefusesCallsOutOfOrder) {
  EXPECT_DEATH(scheduler().NextStep(), "is_in_round");
  EXPECT_DEATH(scheduler().FinishStep(Pause()), "is_in_round");
  EXPECT_DEATH(replies().End(true), "is_in_flight");
  replies().Take(0);
  EXPECT_DEATH(replies().Take(0), "is_in_flight");
  scheduler().StartRound(0);
  EXPECT_DEATH(scheduler().StartRound(0), "is_in_round");
}

}  // namespace
}  // namespace sluice
