// Tasks that are stopped for more urgent ones, and tasks that wait for that.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "util/peer_builder.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class PreemptionTest : public testing::Test {
 protected:
  explicit PreemptionTest(Preemption preemption = Preemption::kPriority)
      : cluster_({.preemption = {.mode = preemption}}) {}
  void TearDown() override {
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
  }
  std::vector<std::string> Reply() {
    std::vector<std::string> texts = cluster_.Reply(++now_ms_);
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
    return texts;
  }
  void Machine(std::string_view uuid, int64_t cpu) {
    cluster_.Apply(Added(uuid, {.cpu = cpu}));
  }
  void Submit(uint64_t uid, int64_t cpu, uint32_t priority) {
    cluster_.Apply(Submitted(uid, {.cpu = cpu, .priority = priority}));
  }
  void Remove(uint64_t uid) { cluster_.Apply(Removed(uid)); }
  // The machine that room is kept on for the task; "" where there is none.
  std::string NominatedFor(uint64_t uid) const {
    const auto it = cluster_.state().nominations().machines().find({uid});
    return it == cluster_.state().nominations().machines().end()
               ? ""
               : cluster_.state().FindMachine(it->second)->uuid;
  }

  TestScheduler cluster_;
  int64_t now_ms_ = 0;
};

class NoPreemptionTest : public PreemptionTest {
 protected:
  NoPreemptionTest() : PreemptionTest(Preemption::kOff) {}
};

TEST_F(NoPreemptionTest, StopsNothing) {
  Machine("m", 1000);
  Submit(1, 1000, 0);
  Reply();
  Submit(2, 1000, 9);
  EXPECT_THAT(Reply(), IsEmpty());
}

TEST_F(PreemptionTest, GivesFreeRoomToTheMoreUrgentTask) {
  for (const char* uuid : {"full", "empty"}) Machine(uuid, 1000);
  Submit(1, 1000, 0);
  const std::vector<std::string> first = Reply();
  ASSERT_THAT(first, SizeIs(1));
  const std::string full = cluster_.MachineOf(1);
  const std::string empty = full == "full" ? "empty" : "full";
  Submit(2, 1000, 5);
  Submit(3, 1000, 9);
  EXPECT_THAT(Reply(), UnorderedElementsAre("PREEMPT 1 on " + full,
                                            "PLACE 3 on " + empty));
  EXPECT_EQ(NominatedFor(2), full);
  EXPECT_THAT(Reply(), IsEmpty());
}

TEST_F(PreemptionTest, GivesRoomThatComesToTheMoreUrgentTask) {
  Machine("m", 1000);
  Submit(1, 1000, 0);
  Reply();
  Submit(2, 1000, 5);
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 1 on m"));
  Machine("new", 1000);
  Submit(3, 1000, 9);
  EXPECT_THAT(Reply(), ElementsAre("PLACE 3 on new"));
  EXPECT_EQ(NominatedFor(2), "m");
}

TEST_F(PreemptionTest, PlacesTheUrgentTaskOnceTheStoppedOneIsGone) {
  Machine("m", 1000);
  Submit(1, 1000, 0);
  EXPECT_THAT(Reply(), ElementsAre("PLACE 1 on m"));
  Submit(2, 800, 9);
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 1 on m"));
  EXPECT_EQ(cluster_.scheduler().round_stats().preempted, 1);
  EXPECT_EQ(cluster_.scheduler().round_stats().nominated, 1);
  EXPECT_EQ(NominatedFor(2), "m");
  EXPECT_THAT(Reply(), IsEmpty()) << "until its client says that it is gone";
  Remove(1);
  EXPECT_THAT(Reply(), ElementsAre("PLACE 2 on m"));
  EXPECT_EQ(NominatedFor(2), "");
}

TEST_F(PreemptionTest, ProvesThatNobodyCheaperCouldBeStopped) {
  Machine("m", 1000);
  Submit(1, 600, 0);
  Submit(2, 400, 0);
  Reply();
  EXPECT_EQ(cluster_.scheduler().round_stats().stop_gap, std::nullopt);
  Submit(3, 400, 9);
  EXPECT_THAT(Reply(), SizeIs(1));
  EXPECT_EQ(cluster_.scheduler().round_stats().stop_gap, 0.0);
}

TEST_F(PreemptionTest, StopsNobodyOfTheSamePriorityOrAHigher) {
  Machine("a", 1000);
  Machine("b", 1000);
  Submit(1, 1000, 5);
  Submit(2, 1000, 9);
  Reply();
  Submit(3, 1000, 5);
  EXPECT_THAT(Reply(), IsEmpty());
}

TEST_F(PreemptionTest, StopsNobodyWhereThereIsRoom) {
  Machine("a", 1000);
  Machine("b", 1000);
  Submit(1, 1000, 0);
  Reply();
  Submit(2, 1000, 9);
  EXPECT_EQ(Reply().size(), 1u);
  EXPECT_EQ(cluster_.scheduler().round_stats().preempted, 0);
}

TEST_F(PreemptionTest, StopsTheLeastUrgentAndAsFewAsCanBe) {
  Machine("two", 1000);
  Submit(1, 500, 1);
  Submit(2, 500, 1);
  Reply();
  Machine("urgent", 1000);
  Submit(3, 1000, 5);
  Reply();
  Machine("one", 1000);
  Submit(4, 1000, 1);
  Reply();
  Submit(5, 1000, 9);
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 4 on one"));
}

TEST_F(PreemptionTest, StopsTheOneThatWasPlacedLast) {
  Machine("m", 1000);
  Submit(1, 500, 0);
  Reply();
  Submit(2, 500, 0);
  Reply();
  Submit(3, 400, 1);
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 2 on m"));
}

TEST_F(PreemptionTest, StopsNobodyWhoMayStayWhereOthersGo) {
  const auto submit = [&](uint64_t uid, bool is_large, uint32_t priority) {
    cluster_.Apply(Submitted(uid, {.cpu = is_large ? 4000 : 250,
                                   .memory = is_large ? 512 : 2048,
                                   .priority = priority}));
  };
  cluster_.Apply(Added("a", {.cpu = 4000, .memory = 16384}));
  submit(1, true, 2);
  Reply();
  cluster_.Apply(Added("b", {.cpu = 16000, .memory = 16384}));
  for (const uint64_t uid : {2, 3}) submit(uid, false, 2);
  for (const uint64_t uid : {4, 5, 6}) submit(uid, true, 1);
  submit(7, false, 1);
  submit(8, false, 0);
  submit(9, true, 0);
  ASSERT_EQ(Reply().size(), 7U);
  submit(10, true, 3);
  for (uint64_t uid = 11; uid < 16; ++uid) submit(uid, false, 3);
  for (uint64_t uid = 16; uid < 20; ++uid) submit(uid, false, 2);
  submit(21, false, 1);
  cluster_.Apply(Submitted(20, {.cpu = 4000, .memory = 8192, .priority = 2}));
  Reply();
  for (const uint64_t uid : {1, 2, 3}) {
    EXPECT_FALSE(cluster_.TaskOf(uid).is_evicted) << uid;
  }
  for (uint64_t uid = 10; uid < 16; ++uid) {
    EXPECT_TRUE(cluster_.TaskOf(uid).state == TaskState::kRunning ||
                NominatedFor(uid) != "")
        << uid;
  }
}

TEST_F(PreemptionTest, KeepsTheRoomFromOthersUntilItIsUsed) {
  Machine("m", 1000);
  Submit(1, 600, 0);
  Reply();
  Submit(2, 1000, 9);
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 1 on m"));
  Submit(3, 400, 8);
  EXPECT_THAT(Reply(), IsEmpty()) << "400 are free, and kept";
  Remove(1);
  Submit(4, 1000, 8);
  EXPECT_THAT(Reply(), ElementsAre("PLACE 2 on m"));
}

TEST_F(PreemptionTest, KeepsTheRoomFromAnotherThatIsAsUrgent) {
  Machine("m", 1000);
  Submit(1, 600, 0);
  Reply();
  Submit(2, 900, 9);
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 1 on m"));
  Submit(3, 400, 9);
  EXPECT_THAT(Reply(), IsEmpty()) << "400 are free, and kept";
  EXPECT_EQ(NominatedFor(2), "m");
  Remove(1);
  EXPECT_THAT(Reply(), ElementsAre("PLACE 2 on m"));
}

// They are more, but would be no more important each.
TEST_F(PreemptionTest, DoesNotGiveTheRoomToMoreTasksThatAreAsUrgent) {
  Machine("m", 1000);
  Submit(1, 600, 0);
  Reply();
  Submit(2, 900, 9);
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 1 on m"));
  Submit(3, 400, 9);
  Submit(4, 400, 9);
  EXPECT_THAT(Reply(), IsEmpty());
  EXPECT_EQ(NominatedFor(2), "m");
  Remove(1);
  EXPECT_THAT(Reply(), ElementsAre("PLACE 2 on m"));
}

TEST_F(PreemptionTest, GivesTheRoomToNobodyElseWhereOneIsStoppedElsewhere) {
  Machine("m", 2100);
  Machine("other", 700);
  Submit(1, 2000, 0);
  Submit(2, 600, 0);
  Reply();
  Submit(3, 1800, 6);
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 1 on m"));
  Remove(1);
  for (const uint64_t uid : {4, 5, 6}) Submit(uid, 600, 6);
  EXPECT_THAT(Reply(),
              UnorderedElementsAre("PLACE 3 on m", "PREEMPT 2 on other"));
}

TEST_F(PreemptionTest, GivesTheRoomToOneThatIsMoreUrgentStill) {
  Machine("m", 1000);
  Submit(1, 1000, 0);
  Reply();
  Submit(2, 1000, 8);
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 1 on m"));
  Submit(3, 1000, 9);
  EXPECT_THAT(Reply(), IsEmpty());
  EXPECT_EQ(NominatedFor(3), "m");
  EXPECT_EQ(NominatedFor(2), "");
  Remove(1);
  EXPECT_THAT(Reply(), ElementsAre("PLACE 3 on m"));
}

TEST_F(PreemptionTest, TakesABetterPlaceThatTurnsUp) {
  Machine("m", 1000);
  Submit(1, 1000, 0);
  Reply();
  Submit(2, 1000, 9);
  Reply();
  Machine("free", 1000);
  EXPECT_THAT(Reply(), ElementsAre("PLACE 2 on free"));
  Remove(1);
  Submit(3, 1000, 0);
  EXPECT_THAT(Reply(), ElementsAre("PLACE 3 on m"));
}

// A task cannot be stopped before its client knows where it runs.
TEST_F(PreemptionTest, StopsTasksSoonAfterTheirClientHasBeenTold) {
  Machine("m", 2000);
  Submit(1, 1000, 2);
  cluster_.Round(++now_ms_);  // Nobody has been told.
  Submit(2, 2000, 9);
  cluster_.Round(++now_ms_);
  EXPECT_EQ(NominatedFor(2), "");
  EXPECT_THAT(Reply(), ElementsAre("PLACE 1 on m"));
  now_ms_ += 10'000;
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 1 on m"));
}

TEST_F(PreemptionTest, NeverStopsMoreOnUnchangedInput) {
  for (int i = 0; i < 4; ++i) Machine(StrCat("m", i), 1000);
  for (uint32_t uid = 1; uid <= 12; ++uid) Submit(uid, 300, uid % 3);
  Reply();
  for (uint32_t uid = 21; uid <= 27; ++uid) Submit(uid, 500, uid % 5);
  Reply();
  for (int i = 0; i < 3; ++i) EXPECT_THAT(Reply(), IsEmpty());
}

TEST_F(PreemptionTest, PlacesAtOnceWhatHasRoomAlready) {
  Machine("m", 1000);
  Submit(1, 600, 0);
  Reply();
  Submit(2, 300, 9);
  Submit(3, 300, 8);
  EXPECT_THAT(Reply(), UnorderedElementsAre("PREEMPT 1 on m", "PLACE 2 on m"));
  Remove(1);
  EXPECT_THAT(Reply(), ElementsAre("PLACE 3 on m"));
}

TEST_F(PreemptionTest, FindsItsVictimsAgainAfterARestart) {
  Machine("m", 1000);
  Submit(1, 1000, 0);
  Reply();
  Submit(2, 1000, 9);
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 1 on m"));
  // As a restart does.
  cluster_.mutable_state().EndNomination({2});
  Machine("n", 1000);
  cluster_.Apply(Submitted(3, {.cpu = 1000, .priority = 9}));
  EXPECT_THAT(Reply().size(), 1u);
  EXPECT_EQ(cluster_.scheduler().round_stats().preempted, 0);
  EXPECT_EQ(cluster_.state().nominations().machines().size(), 1u);
}

TEST_F(PreemptionTest, PlacesTheOthersWhenTheMachineOfAVictimGoes) {
  Machine("m", 1000);
  Submit(1, 1000, 0);
  Reply();
  Submit(2, 1000, 9);
  Reply();
  cluster_.Apply(Removed("m"));
  EXPECT_THAT(Reply(), IsEmpty());
  Machine("n", 1000);
  EXPECT_THAT(Reply(), ElementsAre("PLACE 2 on n"));
}

// Commands are applied while a packing is solved.
TEST_F(PreemptionTest, StopsNobodyElseForAVictimThatEndsMeanwhile) {
  for (const uint64_t gone : {1, 2, 3}) {
    SCOPED_TRACE(gone);
    TestScheduler cluster({.preemption = {.mode = Preemption::kPriority}});
    cluster.Apply(Added("m", {.cpu = 1000}));
    cluster.Apply(Submitted(1, {.cpu = 500}));
    cluster.Apply(Submitted(2, {.cpu = 500}));
    cluster.Round();
    cluster.Deliver();
    cluster.Apply(Submitted(3, {.cpu = 500, .priority = 9}));
    cluster.scheduler().StartRound(0);
    bool has_packed = false;
    while (const auto work = cluster.scheduler().NextStep()) {
      const RoundAnswer answer = cluster.Solve(*work);
      if (std::holds_alternative<PackingWork>(*work) &&
          !std::exchange(has_packed, true)) {
        cluster.Apply(Removed(gone));
      }
      cluster.scheduler().FinishStep(answer);
    }
    EXPECT_TRUE(has_packed);
    EXPECT_EQ(FindContradiction(cluster.state()), "");
    if (gone == 3) {
      EXPECT_EQ(cluster.scheduler().round_stats().preempted, 0);
    }
    EXPECT_LE(cluster.scheduler().round_stats().preempted, 1);
  }
}

TEST_F(PreemptionTest, LeavesAVictimAloneThatNobodyIsToldOf) {
  Machine("m", 1000);
  Submit(1, 1000, 0);
  cluster_.Round();
  Submit(2, 1000, 9);
  cluster_.Round();
  // Its placement is no secret any more once a client has been told.
  EXPECT_EQ(cluster_.scheduler().round_stats().preempted, 0);
}

// Six machines, each with a task of 600 in the way, and a seventh with two: a
// gang of four that asks for 1,000 each takes four of the six.
TEST_F(PreemptionTest, StartsAGangOnceAllItsRoomIsFree) {
  for (uint64_t i = 1; i <= 6; ++i) {
    Machine(StrCat("m", i), 1000);
    Submit(i, 600, 0);
    Reply();
  }
  for (uint64_t uid = 11; uid <= 14; ++uid) {
    cluster_.Apply(Submitted(uid, {.cpu = 1000, .priority = 9, .job = "gang"},
                             {.gang = {.minimum = 4}}));
  }
  const std::vector<std::string> told = Reply();
  EXPECT_EQ(told.size(), 4u);
  std::vector<uint64_t> victims;
  for (uint64_t uid = 1; uid <= 6; ++uid) {
    if (cluster_.TaskOf(uid).is_evicted) victims.push_back(uid);
  }
  ASSERT_EQ(victims.size(), 4u);
  for (const uint64_t victim : victims) {
    EXPECT_THAT(Reply(), IsEmpty()) << "a part of the gang";
    Remove(victim);
  }
  EXPECT_EQ(Reply().size(), 4u);
  EXPECT_EQ(cluster_.state().nominations().machines().size(), 0u);
}

TEST_F(PreemptionTest, StopsNobodyForAGangThatDoesNotFitEvenThen) {
  for (uint64_t i = 1; i <= 3; ++i) {
    Machine(StrCat("m", i), 1000);
    Submit(i, 600, 0);
  }
  Reply();
  for (uint64_t uid = 11; uid <= 14; ++uid) {
    cluster_.Apply(Submitted(uid, {.cpu = 1000, .priority = 9, .job = "gang"},
                             {.gang = {.minimum = 4}}));
  }
  EXPECT_THAT(Reply(), IsEmpty());
}

// Each of the two classes of the job is within its budget, both are not.
TEST_F(PreemptionTest, CountsWhatDisruptionBudgetsKeep) {
  const DisruptionBudget one = {
      .limit = DisruptionBudget::Limit::kMaxUnavailable, .amount = 1};
  const auto run = [&](uint64_t uid, std::string_view uuid, int64_t cpu) {
    Machine(uuid, 1000);
    cluster_.Apply(Submitted(uid, {.cpu = cpu, .job = "web", .budget = one}));
    Reply();
  };
  run(1, "m", 1000);
  run(2, "n", 900);
  Submit(11, 950, 9);
  Submit(12, 950, 9);
  const RoundStats& stats = cluster_.scheduler().round_stats();
  EXPECT_THAT(Reply(), SizeIs(1));
  EXPECT_EQ(stats.held_back, 1);
  EXPECT_EQ(stats.given_up, 0) << "the packing keeps to budgets";
  EXPECT_EQ(stats.left_alone, 0);
  EXPECT_EQ(stats.exhausted_budgets, 0);
  // Nothing is available beyond what the budget needs any more.
  cluster_.Apply(Submitted(13, {.cpu = 950, .priority = 9, .job = "third"}));
  EXPECT_THAT(Reply(), IsEmpty());
  EXPECT_EQ(stats.held_back, 0);
  EXPECT_EQ(stats.left_alone, 1);
  EXPECT_EQ(stats.exhausted_budgets, 1);
}

}  // namespace
}  // namespace sluice
