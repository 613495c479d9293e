#include "loop/core_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/strings.h"
#include "persist/recovery.h"
#include "unit/loop/loop_fixture.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const int64_t kRemovalHoldMs = Contract::Options().holds.removal_hold_us / 1000;
const int64_t kReusedUidHoldMs =
    Contract::Options().holds.reused_uid_hold_us / 1000;

class CoreLoopTest : public LoopFixture {
 protected:
  // The solver fails, so the round places nothing and counts a failure.  Once
  // the solver is well again, the next round places task 1.
  void ExpectAbandonedRound(const prometheus::Counter& failures) {
    EXPECT_THAT(Schedule(), IsEmpty());
    Settle();
    EXPECT_EQ(failures.Value(), 1);
    solver_.tamper = nullptr;
    EXPECT_THAT(Schedule(), ElementsAre(1));
  }
};

TEST_F(CoreLoopTest, AcknowledgesOnlyWhatIsDurable) {
  store_.gate.Close();
  Awaited<Ack> ack;
  SubmitAsync(Submitted(1), &ack);
  store_.gate.AwaitArrivals(1);
  EXPECT_FALSE(ack.is_set());
  store_.gate.Open();
  EXPECT_EQ(ack.Get(), Ack::kOk);
}

TEST_F(CoreLoopTest, MakesABatchDurableByOneWrite) {
  store_.gate.Close();
  Awaited<Ack> first;
  SubmitAsync(Submitted(1), &first);
  store_.gate.AwaitArrivals(1);
  std::vector<Awaited<Ack>> acks(100);
  for (size_t i = 0; i < acks.size(); ++i) {
    SubmitAsync(Submitted(2 + i), &acks[i]);
  }
  store_.gate.Open();
  for (Awaited<Ack>& ack : acks) EXPECT_EQ(ack.Get(), Ack::kOk);
  EXPECT_EQ(store_.writes().size(), 2u);
}

TEST_F(CoreLoopTest, WritesNothingForWhatChangesNothing) {
  EXPECT_EQ(Submit(Removed(7)), Ack::kNotFound);
  EXPECT_THAT(store_.writes(), IsEmpty());
}

TEST_F(CoreLoopTest, StampsABatchWithTheTimeOfTheClock) {
  clock_.AdvanceMs(5000);
  const int64_t now_ms = clock_.NowMs();
  Submit(Submitted(1));
  clock_.AdvanceMs(1);
  Awaited<std::pair<int64_t, int64_t>> times;
  ASSERT_TRUE(loop_.Read([&](const CoreView& view) {
    times.Set(
        {view.scheduler.state().FindTask({1})->submitted_ms, view.now_ms});
  }));
  EXPECT_EQ(times.Get(), std::pair(now_ms, now_ms + 1));
}

TEST_F(CoreLoopTest, PlacesWhatWaitsAndTellsItOnce) {
  PlaceOne(1000);
  EXPECT_THAT(Schedule(), IsEmpty());
}

TEST_F(CoreLoopTest, AnswersAScheduleCallOfAnEmptyClusterAtOnce) {
  FakeCall call;
  ASSERT_TRUE(loop_.Schedule(&call));
  const ScheduleReply reply = call.Reply();
  EXPECT_THAT(reply.deltas, IsEmpty());
  EXPECT_THAT(reply.unscheduled, IsEmpty());
  call.End(true);
}

TEST_F(CoreLoopTest, MakesPlacementsDurableBeforeItTellsThem) {
  SubmitOne(1000);
  ScheduleOnceStored([](const ClusterState& stored) {
    return stored.FindTask({1})->state == TaskState::kRunning &&
           stored.outbox().size() == 1;
  });
}

TEST_F(CoreLoopTest, WritesDeliveriesPromptlyWithoutWaitingForTheDisk) {
  SubmitOne(1000);
  Schedule();
  Settle();
  EXPECT_EQ(store_.writes().back(), Durability::kBuffered);
  ClusterState stored;
  ASSERT_THAT(Recover(store_, &stored), IsOk());
  EXPECT_THAT(stored.outbox(), IsEmpty());
  Submit(Submitted(2));
  EXPECT_EQ(store_.writes().back(), Durability::kSynced);
}

TEST_F(CoreLoopTest, ServesScheduleCallsOneAfterAnother) {
  FakeCall first;
  FakeCall second;
  ASSERT_TRUE(loop_.Schedule(&first));
  ASSERT_TRUE(loop_.Schedule(&second));
  first.Reply();
  Settle();
  EXPECT_FALSE(second.is_answered());
  first.End(true);
  second.Reply();
  second.End(true);
}

TEST_F(CoreLoopTest, DeliversTheDeltasOfABrokenCallWithTheNext) {
  SubmitOne(1000);
  FakeCall broken;
  ASSERT_TRUE(loop_.Schedule(&broken));
  EXPECT_THAT(TasksOf(broken.Reply()), ElementsAre(1));
  broken.End(/*is_delivered=*/false);
  EXPECT_THAT(Schedule(), ElementsAre(1));
  EXPECT_THAT(Schedule(), IsEmpty());
  EXPECT_EQ(metrics_.delta_deliveries.Value(), 2);
  EXPECT_EQ(metrics_.redelivered_deltas.Value(), 1);
  EXPECT_EQ(metrics_.abandoned_schedules.Value(), 1);
}

TEST_F(CoreLoopTest, DropsACallWhoseClientHasGoneBeforeItsTurn) {
  FakeCall first;
  FakeCall gone;
  ASSERT_TRUE(loop_.Schedule(&first));
  ASSERT_TRUE(loop_.Schedule(&gone));
  first.Reply();
  gone.is_cancelled = true;
  first.End(true);
  EXPECT_THAT(gone.Reply().deltas, IsEmpty());
  gone.End(false);
  EXPECT_EQ(Settle().number, 1u) << "there was a round for nobody";
}

TEST_F(CoreLoopTest, KeepsTheDeltasOfACallWhoseClientGoesDuringItsRound) {
  SubmitOne(1000);
  FakeCall gone;
  BeginSolve(&gone);
  gone.is_cancelled = true;
  solver_.gate.Open();
  EXPECT_THAT(gone.Reply().deltas, IsEmpty());
  gone.End(false);
  EXPECT_THAT(Schedule(), ElementsAre(1));
}

TEST_F(CoreLoopTest, GoesOnWithCommandsAndReadersWhileASolveRuns) {
  SubmitOne(1000);
  FakeCall call;
  BeginSolve(&call);
  EXPECT_EQ(Submit(Submitted(2)), Ack::kOk);
  Settle();
  EXPECT_FALSE(call.is_answered());
  solver_.gate.Open();
  call.Reply();
  call.End(true);
}

TEST_F(CoreLoopTest, NeverTellsOfWhatWasRemovedWhileTheSolveRan) {
  SubmitOne(2000);
  Submit(Submitted(2, {.cpu = 1000}));
  FakeCall call;
  BeginSolve(&call);
  // No reply is in flight yet, so the acknowledgment does not wait.
  EXPECT_EQ(Submit(Removed(1)), Ack::kOk);
  solver_.gate.Open();
  EXPECT_THAT(TasksOf(call.Reply()), ElementsAre(2));
  call.End(true);
}

TEST_F(CoreLoopTest, HoldsBackTheAckOfATaskRemovalThatTheReplyNames) {
  SubmitOne(2000);
  FakeCall call;
  ASSERT_TRUE(loop_.Schedule(&call));
  EXPECT_THAT(TasksOf(call.Reply()), ElementsAre(1));
  Awaited<Ack> ack;
  SubmitAsync(Removed(1), &ack);
  // What the reply does not name is not held back.
  Submit(Submitted(2));
  EXPECT_EQ(Submit(Removed(2)), Ack::kOk);
  call.End(true);
  Settle();
  // Its client has it, and may not have come to it yet.
  EXPECT_FALSE(ack.is_set());
  EXPECT_THAT(Schedule(), IsEmpty());
  EXPECT_EQ(ack.Get(), Ack::kOk);
}

TEST_F(CoreLoopTest, HoldsBackTheAckOfARemovalAfterTheReplyForSoLong) {
  PlaceOne(2000);
  Settle();
  Awaited<Ack> ack;
  SubmitAsync(Removed(1), &ack);
  clock_.AdvanceMs(kRemovalHoldMs - 1);
  Settle();
  EXPECT_FALSE(ack.is_set());
  clock_.AdvanceMs(1);
  EXPECT_EQ(ack.Get(), Ack::kOk);
  // From then on nobody waits.
  Submit(Submitted(2, {.cpu = 1000}));
  EXPECT_THAT(Schedule(), ElementsAre(2));
  Settle();
  clock_.AdvanceMs(kRemovalHoldMs);
  Settle();
  EXPECT_EQ(Submit(Removed(2)), Ack::kOk);
}

// The client makes uids by counting, and forgets the uid once it was removed,
// the one of the newcomer included.
TEST_F(CoreLoopTest, HoldsBackTheAckOfAUidUntilItsNewcomerIsPlacedAndTold) {
  PlaceOne(2000, "old");
  EXPECT_THAT(Schedule(), IsEmpty());
  Submit(Submitted(1, {.cpu = 1000, .name = "new"}));
  Awaited<Ack> ack;
  SubmitAsync(Removed(1), &ack);
  Settle();
  EXPECT_FALSE(ack.is_set());
  EXPECT_THAT(Schedule(), ElementsAre(1)) << "while its client knows the uid";
  Settle();
  EXPECT_FALSE(ack.is_set()) << "it may not have come to it yet";
  EXPECT_THAT(Schedule(), IsEmpty());
  EXPECT_EQ(ack.Get(), Ack::kOk);
  EXPECT_EQ(Submit(Removed(1)), Ack::kOk);
}

TEST_F(CoreLoopTest, HoldsBackTheAckOfAUidForSoLongAndMutesItsNewcomerThen) {
  PlaceOne(1500, "old");
  EXPECT_THAT(Schedule(), IsEmpty());
  Submit(Submitted(1, {.cpu = 1600, .name = "new"}));
  Awaited<Ack> ack;
  SubmitAsync(Removed(1), &ack);
  Settle();
  clock_.AdvanceMs(kReusedUidHoldMs - 1);
  EXPECT_THAT(Schedule(), IsEmpty());
  EXPECT_FALSE(ack.is_set());
  clock_.AdvanceMs(1);
  EXPECT_EQ(ack.Get(), Ack::kOk);
  Submit(Added("large", {.cpu = 5000}));
  EXPECT_THAT(Schedule(), IsEmpty()) << "its client knows it no more";
}

TEST_F(CoreLoopTest, HoldsNoAckBackForWhatIsToBePlacedWhenItEnds) {
  Submit(Added("m", {.cpu = 1500}));
  Submit(Submitted(1, {.cpu = 1600, .name = "old"}));
  Submit(Submitted(1, {.cpu = 1600, .name = "new"}));
  Awaited<Ack> ack;
  SubmitAsync(Removed(1), &ack);
  Settle();
  EXPECT_FALSE(ack.is_set());
  loop_.BeginShutdown();
  EXPECT_EQ(ack.Get(), Ack::kOk);
}

// Else its next uid would be that of a task that waits.
TEST_F(CoreLoopTest,
       HoldsBackTheAcksOfAJobWithTasksThatWaitForACountingClient) {
  PlaceOne(1000);
  EXPECT_THAT(Schedule(), IsEmpty());
  Submit(BeginAnnouncement());
  Submit(Added("n", {.cpu = 1000}));
  Submit(Submitted(1, {.cpu = 1000}));
  Submit(Submitted(2, {.cpu = 1000}));
  Awaited<Ack> ack;
  SubmitAsync(Removed(1), &ack);
  Settle();
  EXPECT_FALSE(ack.is_set());
  EXPECT_THAT(Schedule(), ElementsAre(2));
  clock_.AdvanceMs(kRemovalHoldMs);
  EXPECT_THAT(Schedule(), IsEmpty());
  EXPECT_EQ(ack.Get(), Ack::kOk);
}

// It comes to what it was told later than to the acknowledgment.
TEST_F(CoreLoopTest, HoldsBackTheAckUntilACountingClientCallsAgain) {
  Submit(BeginAnnouncement());
  PlaceOne(2000);
  clock_.AdvanceMs(kRemovalHoldMs);
  Settle();
  Awaited<Ack> ack;
  SubmitAsync(Removed(1), &ack);
  Settle();
  clock_.AdvanceMs(kRemovalHoldMs);
  Settle();
  EXPECT_FALSE(ack.is_set());
  EXPECT_THAT(Schedule(), IsEmpty());
  EXPECT_EQ(ack.Get(), Ack::kOk);
}

TEST_F(CoreLoopTest, HoldsBackTheAckForANewcomerThatComesMeanwhile) {
  Submit(BeginAnnouncement());
  PlaceOne(2000, "old");
  Awaited<Ack> ack;
  SubmitAsync(Removed(1), &ack);
  Submit(Submitted(1, {.cpu = 1000, .name = "new"}));
  EXPECT_THAT(Schedule(), ElementsAre(1)) << "while its client knows the uid";
  Settle();
  EXPECT_FALSE(ack.is_set()) << "it may not have come to it yet";
  clock_.AdvanceMs(kRemovalHoldMs);
  EXPECT_THAT(Schedule(), IsEmpty());
  EXPECT_EQ(ack.Get(), Ack::kOk);
}

// Who replaces what is removed does so at once, with the same uid if the
// acknowledgment has not come yet.
TEST_F(CoreLoopTest, HoldsBackTheAckWhileANewcomerMayBeUnderWay) {
  Submit(BeginAnnouncement());
  SubmitOne(3000, "old");
  Submit(Submitted(2, {.cpu = 1000, .name = "other"}));
  EXPECT_THAT(Schedule(), ElementsAre(1, 2));
  EXPECT_THAT(Schedule(), IsEmpty());
  Awaited<Ack> of_two;
  SubmitAsync(Removed(2), &of_two);
  Awaited<Ack> ack;
  SubmitAsync(Removed(1), &ack);
  EXPECT_THAT(Schedule(), IsEmpty());
  clock_.AdvanceMs(kRemovalHoldMs - 1);
  Settle();
  EXPECT_FALSE(of_two.is_set());
  Submit(Submitted(2, {.cpu = 1000, .name = "new"}));
  clock_.AdvanceMs(1);
  EXPECT_EQ(ack.Get(), Ack::kOk) << "nobody came for it";
  Settle();
  EXPECT_FALSE(of_two.is_set());
  EXPECT_THAT(Schedule(), ElementsAre(2));
  EXPECT_THAT(Schedule(), IsEmpty());
  EXPECT_EQ(of_two.Get(), Ack::kOk);
}

TEST_F(CoreLoopTest, MutesANewcomerThatCameMeanwhileAndFindsNoRoom) {
  Submit(BeginAnnouncement());
  PlaceOne(2000, "old");
  Awaited<Ack> ack;
  SubmitAsync(Removed(1), &ack);
  Submit(Submitted(1, {.cpu = 5000, .name = "new"}));
  EXPECT_THAT(Schedule(), IsEmpty());
  EXPECT_FALSE(ack.is_set());
  clock_.AdvanceMs(kReusedUidHoldMs);
  EXPECT_EQ(ack.Get(), Ack::kOk);
  Submit(Added("large", {.cpu = 9000}));
  EXPECT_THAT(Schedule(), IsEmpty()) << "its client knows it no more";
}

// Whoever waited for the acknowledgment has ended; the uid is another's now.
TEST_F(CoreLoopTest, MutesNothingOfANewLifeForARemovalOfTheOneBefore) {
  AddMachine add = Added("m", {.cpu = 2000});
  add.may_begin_anew = true;
  Submit(BeginAnnouncement());
  Submit(add);
  Submit(Submitted(1, {.cpu = 1000, .name = "ns/removed"}));
  Submit(Submitted(2, {.cpu = 1000, .name = "ns/bound"}));
  EXPECT_THAT(Schedule(), ElementsAre(1, 2));
  clock_.AdvanceMs(Contract::Options().announcement_quiet_ms);
  Awaited<Ack> ack;
  SubmitAsync(Removed(1), &ack);
  Submit(BeginAnnouncement());
  Submit(Submitted(1, {.cpu = 1000, .name = "ns/bound"}));
  clock_.AdvanceMs(kRemovalHoldMs);
  EXPECT_THAT(Schedule(), IsEmpty()) << "its machine is yet to be announced";
  Submit(add);
  EXPECT_THAT(Schedule(), ElementsAre(1));
  EXPECT_EQ(ack.Get(), Ack::kOk);
}

TEST_F(CoreLoopTest, PlacesWhatWaitsLongUnderAUidThatTheLifeBeforeRemoved) {
  Submit(BeginAnnouncement());
  PlaceOne(2000);
  clock_.AdvanceMs(Contract::Options().announcement_quiet_ms);
  Awaited<Ack> ack;
  SubmitAsync(Removed(1), &ack);
  Submit(BeginAnnouncement());
  Submit(Submitted(1, {.cpu = 5000}));
  clock_.AdvanceMs(kReusedUidHoldMs);
  EXPECT_EQ(ack.Get(), Ack::kOk);
  Submit(Added("large", {.cpu = 9000}));
  EXPECT_THAT(Schedule(), ElementsAre(1));
}

TEST_F(CoreLoopTest, BeginsOnceWhereAClientBeginsOnTwoConnections) {
  AddMachine add = Added("m", {.cpu = 2000});
  add.may_begin_anew = true;
  Submit(add);
  Submit(Submitted(1, {.cpu = 1000}));
  Submit(add);
  Submit(Submitted(1, {.cpu = 1000}));
  Submit(BeginAnnouncement());
  EXPECT_THAT(Schedule(), ElementsAre(1)) << "it was announced just before";
}

TEST_F(CoreLoopTest, EndsAnAnnouncementWhenNothingIsAnnouncedAnyMore) {
  SubmitOne(1000);
  Submit(BeginAnnouncement());
  EXPECT_THAT(Schedule(), IsEmpty()) << "nothing is known to its client yet";
  // It may take its time to begin ...
  clock_.AdvanceMs(Contract::Options().announcement_quiet_ms);
  EXPECT_THAT(Schedule(), IsEmpty());
  // ... but where it never does it did not begin anew.
  clock_.AdvanceMs(10 * Contract::Options().announcement_quiet_ms);
  Settle();
  EXPECT_THAT(Schedule(), ElementsAre(1));
}

TEST_F(CoreLoopTest, TakesACallThatCameAheadForNoProofThatRepliesAreRead) {
  SubmitOne(2000);
  FakeCall first;
  FakeCall ahead;
  ASSERT_TRUE(loop_.Schedule(&first));
  ASSERT_TRUE(loop_.Schedule(&ahead));
  EXPECT_THAT(TasksOf(first.Reply()), ElementsAre(1));
  first.End(true);
  ahead.Reply();
  ahead.End(true);
  Settle();
  Awaited<Ack> ack;
  SubmitAsync(Removed(1), &ack);
  Settle();
  EXPECT_FALSE(ack.is_set());
  EXPECT_THAT(Schedule(), IsEmpty());
  EXPECT_EQ(ack.Get(), Ack::kOk);
}

TEST_F(CoreLoopTest, HoldsBackTheAckOfAMachineRemovalThatTheReplyNames) {
  Submit(Added("m", {.cpu = 2000}));
  Submit(Added("other", {.cpu = 500}));
  Submit(Submitted(1, {.cpu = 1000}));
  FakeCall call;
  ASSERT_TRUE(loop_.Schedule(&call));
  call.Reply();
  Awaited<Ack> ack;
  SubmitAsync(Removed("m"), &ack);
  EXPECT_EQ(Submit(Removed("other")), Ack::kOk);
  EXPECT_FALSE(ack.is_set());
  call.End(false);
  EXPECT_EQ(ack.Get(), Ack::kOk);
  // The client that broke off may have read it or not; the machine is gone.
  EXPECT_THAT(Schedule(), IsEmpty());
}

TEST_F(CoreLoopTest, AbandonsARoundWhoseCertificateIsWrong) {
  SubmitOne(1000);
  solver_.tamper = [](FlowSolution* solution) { solution->objective -= 1; };
  ExpectAbandonedRound(metrics_.certificate_failures);
}

TEST_F(CoreLoopTest, AbandonsARoundThatHasNoOptimum) {
  SubmitOne(1000);
  solver_.tamper = [](FlowSolution* solution) {
    *solution = FlowSolution();
    solution->outcome = SolveOutcome::kCostRange;
  };
  ExpectAbandonedRound(metrics_.solve_failures);
}

TEST_F(CoreLoopTest, ShowsReadersTheTimesOfTheLastRound) {
  SubmitOne(1000);
  FakeCall call;
  BeginSolve(&call);
  Settle();  // The step that drew the problem has ended.
  clock_.AdvanceUs(700);
  solver_.gate.Open();
  call.Reply();
  call.End(true);
  const RoundStats stats = Settle();
  EXPECT_EQ(stats.number, 1u);
  EXPECT_EQ(stats.placed, 1);
  EXPECT_EQ(stats.solve_us, 700);
  EXPECT_EQ(stats.total_us, 700);
  EXPECT_EQ(stats.longest_step_us, 0) << "commands went on";
  EXPECT_EQ(metrics_.rounds.Value(), 1);
  EXPECT_EQ(metrics_.placements.Value(), 1);
}

TEST_F(CoreLoopTest, CountsVerdictsAsRoundsEnd) {
  Submit(Added("m", {.cpu = 1000, .taints = {NoSchedule("dedicated")}}));
  Submit(Submitted(1, {.cpu = 1000}));
  EXPECT_THAT(Schedule(), IsEmpty());
  Settle();
  EXPECT_GT(metrics_.verdict_evaluations.Value(), 0);
  EXPECT_GT(metrics_.verdict_invalidations.Value(), 0);
}

TEST_F(CoreLoopTest, CountsEventsAndUidsThatCameTwice) {
  Submit(Submitted(1));
  Submit(Submitted(1));
  Settle();
  EXPECT_EQ(metrics_.events.With("submit_task").Value(), 2);
  EXPECT_EQ(metrics_.reused_uids.Value(), 1);
}

TEST_F(CoreLoopTest, AbortsTheSolveAndAnswersEmptyAtShutdown) {
  SubmitOne(1000);
  solver_.gate.Close();
  FakeCall active;
  FakeCall waiting;
  ASSERT_TRUE(loop_.Schedule(&active));
  ASSERT_TRUE(loop_.Schedule(&waiting));
  solver_.gate.AwaitArrivals(1);
  loop_.BeginShutdown();
  EXPECT_THAT(active.Reply().deltas, IsEmpty());
  EXPECT_THAT(waiting.Reply().deltas, IsEmpty());
  FakeCall late;
  ASSERT_TRUE(loop_.Schedule(&late));
  EXPECT_THAT(late.Reply().deltas, IsEmpty());
  EXPECT_EQ(Submit(Removed(1)), Ack::kOk) << "events still count";
  EXPECT_EQ(metrics_.solve_failures.Value(), 0);
}

TEST_F(CoreLoopTest, FinishesWhatIsInItsMailboxBeforeItStops) {
  store_.gate.Close();
  std::vector<Awaited<Ack>> acks(3000);
  for (size_t i = 0; i < acks.size(); ++i) {
    SubmitAsync(Submitted(i), &acks[i]);
  }
  std::thread stopper([this] { loop_.Stop(); });
  store_.gate.Open();
  stopper.join();
  for (Awaited<Ack>& ack : acks) EXPECT_TRUE(ack.is_set());
  ClusterState stored;
  ASSERT_THAT(Recover(store_, &stored), IsOk());
  EXPECT_EQ(stored.tasks().size(), acks.size());
}

TEST_F(CoreLoopTest, ReleasesHeldAcksWhenItStops) {
  SubmitOne(1000);
  FakeCall call;
  ASSERT_TRUE(loop_.Schedule(&call));
  call.Reply();
  Awaited<Ack> ack;
  SubmitAsync(Removed(1), &ack);
  loop_.Stop();
  EXPECT_EQ(ack.Get(), Ack::kOk);
}

TEST_F(CoreLoopTest, TakesNothingInOnceItHasStopped) {
  loop_.Stop();
  FakeCall call;
  EXPECT_FALSE(loop_.Submit(Submitted(1), [](Ack) { FAIL(); }));
  EXPECT_FALSE(loop_.Schedule(&call));
  EXPECT_FALSE(loop_.Read([](const CoreView&) { FAIL(); }));
  EXPECT_FALSE(call.is_answered());
}

class TinyMailboxTest : public LoopFixture {
 protected:
  TinyMailboxTest() : LoopFixture({.mailbox_max = 1}) {}
};

TEST_F(TinyMailboxTest, RefusesWhenFullOnlyWhoMayBeRefused) {
  store_.gate.Close();
  Awaited<Ack> writing;
  SubmitAsync(Submitted(1), &writing);
  store_.gate.AwaitArrivals(1);  // Nobody empties the mailbox from here on.
  Awaited<Ack> waiting;
  SubmitAsync(Submitted(2), &waiting);
  EXPECT_FALSE(loop_.Submit(
      Submitted(3), [](Ack) { FAIL(); }, CoreLoop::Admission::kIfRoom));
  EXPECT_FALSE(loop_.Read([](const CoreView&) { FAIL(); }));
  EXPECT_EQ(metrics_.mailbox_refusals.Value(), 2);
  Awaited<Ack> beyond;
  SubmitAsync(Submitted(4), &beyond);
  store_.gate.Open();
  EXPECT_EQ(writing.Get(), Ack::kOk);
  EXPECT_EQ(waiting.Get(), Ack::kOk);
  EXPECT_EQ(beyond.Get(), Ack::kOk);
}

class SmallReplyTest : public LoopFixture {
 protected:
  // Room for two deltas with short names.
  SmallReplyTest()
      : LoopFixture({.core = {.contract = {.reply_bytes_max = 50}}}) {}
};

TEST_F(SmallReplyTest, CarriesOverWhatDoesNotFitAReply) {
  Submit(Added("m", {.cpu = 5000}));
  for (uint64_t uid = 1; uid <= 5; ++uid) {
    Submit(Submitted(uid, {.cpu = 1000}));
  }
  EXPECT_THAT(Schedule(), ElementsAre(1, 2));
  EXPECT_THAT(Schedule(), ElementsAre(3, 4));
  EXPECT_THAT(Schedule(), ElementsAre(5));
  EXPECT_THAT(Schedule(), IsEmpty());
  EXPECT_EQ(metrics_.redelivered_deltas.Value(), 0);
}

class BufferedTest : public LoopFixture {
 protected:
  BufferedTest() : LoopFixture({.durability = Durability::kBuffered}) {}
};

TEST_F(BufferedTest, WaitsForNoDiskWhereItIsToldSo) {
  SubmitOne(1000);
  Schedule();
  EXPECT_THAT(store_.writes(), Each(Durability::kBuffered));
}

class EvictingTest : public LoopFixture {
 protected:
  EvictingTest() : LoopFixture({}, {.evicts_on_no_execute = true}) {}
};

TEST_F(EvictingTest, MakesEvictionsDurableBeforeItTellsThem) {
  SubmitOne(1000);
  Schedule();
  Submit(Updated("m", {.cpu = 1000, .taints = {NoExecute("sick")}}));
  const ScheduleReply reply =
      ScheduleOnceStored([&](const ClusterState& stored) {
        return stored.FindTask({1})->is_evicted &&
               stored.outbox().size() == 1 &&
               store_.writes().back() == Durability::kSynced;
      });
  ASSERT_THAT(TasksOf(reply), ElementsAre(1));
  EXPECT_EQ(reply.deltas[0].type, DeltaType::kPreempt);
  EXPECT_EQ(Settle().evicted, 1);
  EXPECT_EQ(metrics_.evictions.Value(), 1);
}

TEST_F(CoreLoopTest, MakesAMoveDurableBeforeItTellsIt) {
  Submit(Added("from", {.cpu = 1000}));
  Submit(Submitted(1, {.cpu = 1000}));
  Schedule();
  Submit(Added("to", {.cpu = 1000, .pus = {{"to/0", {{"cpu", 1000}}}}}));
  Awaited<bool> is_told;
  ASSERT_TRUE(loop_.Read([&](const CoreView& /*view*/) {
    ClusterState& state = scheduler_.mutable_state();
    state.Migrate({1}, state.FindMachine("to")->id);
    is_told.Set(true);
  }));
  is_told.Get();
  const ScheduleReply reply =
      ScheduleOnceStored([](const ClusterState& stored) {
        return stored.FindTask({1})->is_evicted &&
               stored.outbox().begin()->second.type == DeltaType::kMigrate;
      });
  ASSERT_THAT(TasksOf(reply), ElementsAre(1));
  EXPECT_EQ(reply.deltas[0].type, DeltaType::kMigrate);
  EXPECT_EQ(reply.deltas[0].resource_id, "to/0");
  Submit(Submitted(2, {.cpu = 1000}));
  EXPECT_THAT(Schedule(), ElementsAre(2)) << "its successor";
}

using CoreLoopDeathTest = CoreLoopTest;

TEST_F(CoreLoopDeathTest, EndsTheProcessWhenTheStoreCannotBeWritten) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        store_.fails = true;
        Submit(Submitted(1));
      },
      testing::ExitedWithCode(1), "cannot write to the store.*disk on fire");
}

// Many threads at once: what thread sanitizer should see.
// Full machines, and more work than fits.
TEST_F(CoreLoopTest, CountsNoPackingAsASolve) {
  constexpr int kMachines = 300;
  constexpr uint64_t kTasks = 8 * kMachines;
  uint64_t uid = 0;
  for (int i = 0; i < kMachines; ++i) {
    Submit(Added(StrCat("m", i), {.cpu = 800}));
  }
  while (uid < kTasks) Submit(Submitted(++uid, {.cpu = 100}));
  for (int i = 0; i < 400; ++i) Submit(Submitted(++uid, {.cpu = 101 + i}));
  Schedule();
  EXPECT_GT(metrics_.packings.Value(), 0);
  EXPECT_EQ(metrics_.packing_seconds.Collect().histogram.sample_count,
            metrics_.packings.Value());
  EXPECT_GT(metrics_.passes.Value(), 0);
  EXPECT_EQ(metrics_.solves.Value(), metrics_.passes.Value());
  EXPECT_EQ(metrics_.solve_seconds.Collect().histogram.sample_count,
            metrics_.passes.Value());
}

TEST_F(CoreLoopTest, IsUsedByManyThreadsAtOnce) {
  constexpr uint64_t kThreads = 4;
  constexpr uint64_t kTasks = 200;
  Submit(Added("m", {.cpu = 1000000, .pods = 1000000}));
  std::atomic<bool> is_over = false;
  std::thread scheduling([&] {
    while (!is_over) Schedule();
  });
  std::vector<std::thread> clients;
  for (uint64_t t = 0; t < kThreads; ++t) {
    clients.emplace_back([this, t] {
      for (uint64_t i = 0; i < kTasks; ++i) {
        const uint64_t uid = t * kTasks + i + 1;
        EXPECT_EQ(Submit(Submitted(uid, {.cpu = 1})), Ack::kOk);
        if (i % 16 == 0) Settle();
        if (i % 2 != 0) continue;
        EXPECT_EQ(Submit(Removed(uid)), Ack::kOk);
      }
    });
  }
  for (std::thread& client : clients) client.join();
  is_over = true;
  scheduling.join();
  while (!Schedule().empty()) {
  }
  Awaited<size_t> left;
  ASSERT_TRUE(loop_.Read([&](const CoreView& view) {
    left.Set(view.scheduler.state().tasks().size());
  }));
  EXPECT_EQ(left.Get(), kThreads * kTasks / 2);
}

}  // namespace
}  // namespace sluice
