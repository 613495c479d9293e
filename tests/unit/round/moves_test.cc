// Rounds that move what runs: to make room, or to where it costs less.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "explain/explanation.h"
#include "util/peer_builder.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;
using testing::UnorderedElementsAre;

using Limit = DisruptionBudget::Limit;

constexpr int64_t kMinuteMs = 60'000;

RoundOptions Moving(const MoveOptions& moves) {
  return {.preemption = {.mode = Preemption::kFull, .moves = moves}};
}

class MovesTest : public testing::Test {
 protected:
  explicit MovesTest(const MoveOptions& moves = {}) : cluster_(Moving(moves)) {}
  void TearDown() override {
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
  }
  std::vector<std::string> Reply() {
    return cluster_.Reply(now_ms_ += kMinuteMs);
  }
  void Machine(std::string_view uuid, int64_t cpu, LabelPairs labels = {}) {
    cluster_.Apply(Added(uuid, {.cpu = cpu, .labels = std::move(labels)}));
  }
  static TaskOptions Owned(int64_t cpu) {
    return {.cpu = cpu, .owner = {"ReplicaSet", "r"}};
  }
  // Since so long ago that it may be moved.
  void Run(uint64_t uid, std::string_view uuid, TaskOptions options) {
    if (options.job == "job") options.job = StrCat("job-", uid);
    cluster_.Apply(Submitted(uid, options));
    cluster_.mutable_state().SyncPeers();
    cluster_.mutable_state().Place({uid},
                                   cluster_.state().FindMachine(uuid)->id, 0);
    cluster_.Deliver();
  }
  // Half full, each by a task that fits beside the other.
  void RunApart() {
    for (const char* uuid : {"a", "b"}) Machine(uuid, 1000);
    Run(1, "a", Owned(400));
    Run(2, "b", Owned(400));
    now_ms_ = 10 * kMinuteMs;
  }
  // On twelve machines, and a gang that wants six of them.
  void RunInTwos() {
    uint64_t uid = 0;
    for (int i = 0; i < 12; ++i) {
      Machine(StrCat("m", i), 1000);
      for (int k = 0; k < 2; ++k) Run(++uid, StrCat("m", i), Owned(200));
    }
    now_ms_ = 10 * kMinuteMs;
    for (int i = 0; i < 6; ++i) {
      cluster_.Apply(Submitted(++uid, {.cpu = 1000, .job = "gang"},
                               {.gang = {.minimum = 6}}));
    }
  }
  // Of a machine that is wanted as a whole ten tasks move to another one, from
  // which another one goes on to a third.
  void RunInAChain(uint64_t gang_minimum) {
    for (const char* uuid : {"wanted", "next", "end"}) {
      Machine(uuid, uuid == std::string_view("end") ? 600 : 1000,
              {{"host", uuid}});
    }
    const auto between = [](int64_t cpu, const char* a, const char* b) {
      TaskOptions options = Owned(cpu);
      options.priority = 9;
      options.rules.selectors = {LabelIn("host", {a, b})};
      return options;
    };
    for (const uint64_t uid : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) {
      Run(uid, "wanted", between(100, "wanted", "next"));
    }
    Run(11, "next", between(600, "next", "end"));
    Machine("other", 1000, {{"host", "other"}});
    Run(12, "other", {.cpu = 1000});
    now_ms_ = 10 * kMinuteMs;
    TaskOptions large =
        between(1000, "wanted", gang_minimum == 0 ? "other" : "wanted");
    large.job = "large";
    cluster_.Apply(Submitted(13, large, {.gang = {.minimum = gang_minimum}}));
  }
  const RoundStats& stats() const { return cluster_.scheduler().round_stats(); }

  TestScheduler cluster_;
  int64_t now_ms_ = 0;
};

class NoMovesTest : public MovesTest {
 protected:
  NoMovesTest() : MovesTest({.percent_per_round = 0}) {}
};

// So many as run.
class MovesInAnHourTest : public MovesTest {
 protected:
  MovesInAnHourTest() : MovesTest({.percent_per_hour = 100}) {}
};

// Parts of two machines.
class MovesInPartsTest : public MovesTest {
 protected:
  MovesInPartsTest() : MovesTest({.whole_machines_max = 3}) {}

  // Of so many rounds.
  std::vector<std::string> Replies(int rounds) {
    std::vector<std::string> all;
    for (int i = 0; i < rounds; ++i) {
      for (std::string& text : Reply()) all.push_back(std::move(text));
    }
    return all;
  }
};

TEST_F(MovesInPartsTest, TakeTasksToWhereTheyCostLess) {
  TaskOptions likes = Owned(400);
  likes.rules.preferred = {
      {.weight = 20, .term = {.labels = {LabelIn("disk", {"ssd"})}}}};
  for (const uint64_t uid : {1, 2, 3, 4}) {
    const std::string uuid = StrCat("old-", uid);
    Machine(uuid, 1000);
    Run(uid, uuid, uid == 3 ? likes : Owned(400));
  }
  now_ms_ = 10 * kMinuteMs;
  Machine("new", 1000, {{"disk", "ssd"}});
  EXPECT_THAT(Replies(6), ElementsAre("MIGRATE 3 on new"));
}

TEST_F(MovesInPartsTest, MakeRoomForWhatFitsNowhere) {
  for (const uint64_t uid : {1, 2, 3, 4}) {
    const std::string uuid = StrCat("m-", uid);
    Machine(uuid, 1000);
    Run(uid, uuid, Owned(400));
  }
  now_ms_ = 10 * kMinuteMs;
  cluster_.Apply(Submitted(11, {.cpu = 800, .job = "large"}));
  EXPECT_THAT(Replies(6), ElementsAre(StartsWith("MIGRATE ")));
  EXPECT_EQ(stats().nominated, 1);
}

TEST_F(MovesTest, MakeRoomForWhatFitsNowhere) {
  RunApart();
  cluster_.Apply(Submitted(11, {.cpu = 800, .job = "large"}));
  EXPECT_THAT(Reply(), ElementsAre(HasSubstr("MIGRATE ")));
  EXPECT_EQ(stats().moved, 1);
  EXPECT_EQ(stats().nominated, 1);
  EXPECT_THAT(Reply(), IsEmpty()) << "nothing is moved twice";
  const uint64_t moved = cluster_.TaskOf(1).is_evicted ? 1 : 2;
  const std::string from = cluster_.MachineOf(moved);
  const std::string to = cluster_.MachineOf(3 - moved);
  // Its successor comes before it has gone.
  TaskOptions successor = Owned(400);
  successor.job = StrCat("job-", moved);
  cluster_.Apply(Submitted(21, successor));
  EXPECT_THAT(Reply(), ElementsAre(StrCat("PLACE 21 on ", to)));
  cluster_.Apply(Removed(moved));
  EXPECT_THAT(Reply(), ElementsAre(StrCat("PLACE 11 on ", from)));
  EXPECT_THAT(Reply(), IsEmpty());
}

// As after a restart: a round first hears of rules when what has them may move.
TEST_F(MovesTest, TellMachinesApartByTheRulesOfWhatRuns) {
  Machine("a", 1000, {{"zone", "x"}});
  Machine("b", 1000, {{"zone", "x"}, {"host", "b"}});
  Run(1, "a", Owned(400));
  TaskOptions pinned = Owned(400);
  pinned.rules.selectors = {LabelIn("host", {"b"})};
  Run(2, "b", pinned);
  now_ms_ = 10 * kMinuteMs;
  TaskOptions small = {.cpu = 100, .job = "small"};
  small.rules.selectors = {LabelIn("zone", {"x"})};
  cluster_.Apply(Submitted(11, small));
  cluster_.Apply(Submitted(12, {.cpu = 800, .job = "large"}));
  EXPECT_THAT(Reply(), UnorderedElementsAre(StartsWith("PLACE 11 on "),
                                            "MIGRATE 1 on b"));
}

// Room that it was made for is kept for what is less urgent.
TEST_F(MovesTest, MakeRoomThatSomethingMoreUrgentMayHaveBeforeItStopsAnybody) {
  Machine("a", 1200);
  Machine("b", 1200, {{"host", "b"}});
  const auto of = [](int64_t cpu, uint32_t priority, std::string_view job) {
    TaskOptions options = Owned(cpu);
    options.priority = priority;
    options.job = job;
    return options;
  };
  for (const uint64_t uid : {1, 2}) Run(uid, "a", of(300, 9, "small"));
  Run(3, "b", of(300, 9, "small"));
  now_ms_ = 10 * kMinuteMs;
  TaskOptions large = of(600, 2, "large");
  large.owner = {};
  large.rules.selectors = {LabelIn("host", {"b"})};
  for (const uint64_t uid : {11, 12}) cluster_.Apply(Submitted(uid, large));
  EXPECT_THAT(Reply(), UnorderedElementsAre("MIGRATE 3 on a", "PLACE 11 on b"));
  EXPECT_EQ(stats().nominated, 1);
  cluster_.Apply(Submitted(13, of(300, 9, "small")));
  cluster_.Apply(Submitted(14, of(400, 5, "urgent")));
  EXPECT_THAT(Reply(), ElementsAre("PLACE 13 on a"));
  cluster_.Apply(Removed(3));
  EXPECT_THAT(Reply(), ElementsAre("PLACE 14 on b"));
}

// It displaces nobody, but what is free is kept for what is less urgent.
TEST_F(MovesTest, MakeRoomThatAMoreUrgentTaskMayHaveThatDisplacesNobody) {
  Machine("a", 1200);
  Machine("b", 1200, {{"host", "b"}});
  const auto of = [](int64_t cpu, uint32_t priority, std::string_view job) {
    TaskOptions options = Owned(cpu);
    options.priority = priority;
    options.job = job;
    return options;
  };
  for (const uint64_t uid : {1, 2}) Run(uid, "a", of(300, 9, "small"));
  Run(3, "b", of(300, 9, "small"));
  now_ms_ = 10 * kMinuteMs;
  TaskOptions large = of(600, 2, "large");
  large.owner = {};
  large.rules.selectors = {LabelIn("host", {"b"})};
  for (const uint64_t uid : {11, 12}) cluster_.Apply(Submitted(uid, large));
  EXPECT_THAT(Reply(), UnorderedElementsAre("MIGRATE 3 on a", "PLACE 11 on b"));
  TaskOptions meek = of(300, 5, "meek");
  meek.rules.never_preempts = true;
  meek.rules.selectors = {LabelIn("host", {"b"})};
  cluster_.Apply(Submitted(14, meek));
  EXPECT_THAT(Reply(), ElementsAre("PLACE 14 on b"));
}

TEST_F(MovesTest, PackAGangIn) {
  for (int i = 0; i < 4; ++i) {
    Machine(StrCat("m", i), 1000);
    Run(static_cast<uint64_t>(i + 1), StrCat("m", i), Owned(500));
  }
  now_ms_ = 10 * kMinuteMs;
  for (uint64_t uid = 11; uid <= 12; ++uid) {
    cluster_.Apply(
        Submitted(uid, {.cpu = 1000, .job = "gang"}, {.gang = {.minimum = 2}}));
  }
  EXPECT_THAT(Reply(), SizeIs(2));
  EXPECT_EQ(stats().moved, 2);
  EXPECT_EQ(stats().nominated, 2);
  EXPECT_THAT(Reply(), IsEmpty());
}

TEST_F(MovesTest, MoveNothingForAGangThatStillHasNoRoom) {
  RunApart();
  for (uint64_t uid = 11; uid <= 12; ++uid) {
    cluster_.Apply(
        Submitted(uid, {.cpu = 800, .job = "gang"}, {.gang = {.minimum = 2}}));
  }
  EXPECT_THAT(Reply(), IsEmpty());
}

TEST_F(MovesTest, TakeTasksToWhereTheyCostLess) {
  Machine("old", 1000);
  TaskOptions likes = Owned(400);
  likes.rules.preferred = {
      {.weight = 20, .term = {.labels = {LabelIn("disk", {"ssd"})}}}};
  Run(1, "old", likes);
  // What is gained is no more than a move costs.
  TaskOptions hardly_likes = likes;
  hardly_likes.rules.preferred[0].weight = 10;
  Run(2, "old", hardly_likes);
  now_ms_ = 10 * kMinuteMs;
  Machine("new", 1000, {{"disk", "ssd"}});
  EXPECT_THAT(Reply(), ElementsAre("MIGRATE 1 on new"));
  EXPECT_THAT(Reply(), IsEmpty());
}

TEST_F(MovesTest, WaitUntilTasksHaveRunLongEnough) {
  Machine("old", 1000);
  TaskOptions likes = Owned(400);
  likes.rules.preferred = {
      {.weight = 20, .term = {.labels = {LabelIn("disk", {"ssd"})}}}};
  Run(1, "old", likes);
  Machine("new", 1000, {{"disk", "ssd"}});
  for (int minute = 1; minute < 5; ++minute) EXPECT_THAT(Reply(), IsEmpty());
  EXPECT_THAT(Reply(), ElementsAre("MIGRATE 1 on new"));
}

TEST_F(MovesTest, LeaveWhatNobodyMakesASuccessorOf) {
  for (const char* uuid : {"a", "b"}) Machine(uuid, 1000);
  Run(1, "a", {.cpu = 400});
  Run(2, "b", {.cpu = 400});
  now_ms_ = 10 * kMinuteMs;
  cluster_.Apply(Submitted(11, {.cpu = 800, .job = "large"}));
  EXPECT_THAT(Reply(), IsEmpty());
}

TEST_F(MovesTest, KeepToDisruptionBudgets) {
  const DisruptionBudget none = {.limit = Limit::kMaxUnavailable, .amount = 0};
  for (const char* uuid : {"a", "b"}) Machine(uuid, 1000);
  TaskOptions options = Owned(400);
  options.budget = none;
  Run(1, "a", options);
  Run(2, "b", Owned(400));
  now_ms_ = 10 * kMinuteMs;
  cluster_.Apply(Submitted(11, {.cpu = 800, .job = "large"}));
  EXPECT_THAT(Reply(), ElementsAre("MIGRATE 2 on a"));
  EXPECT_EQ(stats().left_alone, 1) << "task 1";
  EXPECT_EQ(stats().exhausted_budgets, 1);
  EXPECT_EQ(stats().given_up, 0);
}

TEST_F(MovesTest, UseABudgetWhereItHelps) {
  for (const char* uuid : {"a", "b"}) Machine(uuid, 1000, {{"host", uuid}});
  TaskOptions options = Owned(400);
  options.job = "budgeted";
  options.budget =
      DisruptionBudget{.limit = Limit::kMaxUnavailable, .amount = 1};
  Run(1, "a", options);
  Run(2, "b", options);
  Machine("c", 500);
  now_ms_ = 10 * kMinuteMs;
  TaskOptions large{.cpu = 800, .job = "large"};
  large.rules.selectors = {LabelIn("host", {"b"})};
  cluster_.Apply(Submitted(11, large));
  EXPECT_THAT(Reply(), ElementsAre(HasSubstr("MIGRATE 2 on ")));
}

// Both need a move, of which the budget allows one: the round packs again, and
// undoes the first one before.
TEST_F(MovesTest, AreUndoneWhereTheRoundPacksAgain) {
  TaskOptions options = Owned(400);
  options.job = "budgeted";
  options.budget =
      DisruptionBudget{.limit = Limit::kMaxUnavailable, .amount = 1};
  for (const char* uuid : {"a", "b"}) Machine(uuid, 1000);
  Run(1, "a", options);
  Run(2, "b", options);
  for (const char* uuid : {"c", "d"}) Machine(uuid, 500);
  now_ms_ = 10 * kMinuteMs;
  for (uint64_t uid = 11; uid <= 12; ++uid) {
    cluster_.Apply(Submitted(uid, {.cpu = 800, .job = "large"}));
  }
  EXPECT_THAT(Reply(), ElementsAre(HasSubstr("MIGRATE ")));
  EXPECT_GE(stats().packings, 2);
  EXPECT_EQ(stats().moved, 1);
  EXPECT_EQ(stats().nominated, 1);
  const uint64_t moved = cluster_.TaskOf(1).is_evicted ? 1 : 2;
  EXPECT_THAT(Reply(), IsEmpty());
  cluster_.Apply(Removed(moved));
  EXPECT_THAT(Reply(), ElementsAre(HasSubstr("PLACE 1")));
}

// Each of the machines that gangs need takes four moves, and a round makes ten.
// Several classes exceed their budgets, so that the round packs time and again,
// and not every packing finds something better.
TEST_F(MovesTest, KeepNoRoomForWhoeverDependsOnMovesThatAreUndone) {
  struct Class {
    int64_t cpu = 0;
    bool is_owned = false;
    int64_t min_available = 0;
    std::vector<int> on;  // By machine.
  };
  const std::vector<Class> classes = {
      {500, false, 4, {0, 0, 0, 3, 1, 1}},  {3000, true, 6, {1, 0, 1, 3, 0, 2}},
      {250, true, 4, {0, 1, 0, 1, 0, 3}},   {1000, true, 8, {2, 4, 1, 2, 1, 0}},
      {1000, false, 5, {3, 1, 4, 3, 1, 3}},
  };
  const std::vector<int64_t> sizes = {8000, 8000, 8000, 16000, 8000, 16000};
  for (size_t m = 0; m < sizes.size(); ++m) Machine(StrCat("m", m), sizes[m]);
  uint64_t uid = 0;
  for (size_t c = 0; c < classes.size(); ++c) {
    TaskOptions options = classes[c].is_owned
                              ? Owned(classes[c].cpu)
                              : TaskOptions{.cpu = classes[c].cpu};
    options.priority = c == 0 ? 11 : 3;
    options.job = StrCat("budgeted-", c);
    options.budget = {.limit = Limit::kMinAvailable,
                      .amount = classes[c].min_available};
    for (size_t m = 0; m < sizes.size(); ++m) {
      for (int i = 0; i < classes[c].on[m]; ++i) {
        Run(++uid, StrCat("m", m), options);
      }
    }
  }
  now_ms_ = 60 * kMinuteMs;
  for (const int64_t cpu : {8000, 8000, 3000, 3000}) {
    cluster_.Apply(Submitted(
        ++uid, {.cpu = cpu, .priority = 11, .job = StrCat("job-", cpu)}));
  }
  Reply();
  const Nominations& nominations = cluster_.state().nominations();
  EXPECT_FALSE(nominations.machines().empty());
  for (const auto& [id, machine] : nominations.machines()) {
    EXPECT_TRUE(nominations.CanBeHeldBy(*cluster_.state().FindMachine(machine)))
        << id.value << " waits for room that it will not have";
  }
}

TEST_F(MovesTest, StartTheGangThatTheyAreEnoughFor) {
  uint64_t uid = 0;
  for (int i = 0; i < 14; ++i) {
    Machine(StrCat("m", i), 1000);
    for (int k = 0; k < 4; ++k) Run(++uid, StrCat("m", i), Owned(100));
  }
  now_ms_ = 10 * kMinuteMs;
  for (const int size : {3, 2}) {
    for (int i = 0; i < size; ++i) {
      cluster_.Apply(
          Submitted(++uid, {.cpu = 1000, .job = StrCat("gang-of-", size)},
                    {.gang = {.minimum = static_cast<uint64_t>(size)}}));
    }
  }
  EXPECT_THAT(Reply(), SizeIs(8));
  EXPECT_EQ(stats().nominated, 2);
}

// The larger gang would be served rather than the smaller one, but takes twelve
// moves; there is no room for what both displace.
TEST_F(MovesTest, StartASmallerGangWhereTheLargerOneTakesTooMany) {
  uint64_t uid = 0;
  for (int i = 0; i < 14; ++i) {
    Machine(StrCat("m", i), 800);
    for (int k = 0; k < (i < 10 ? 2 : 4); ++k) {
      Run(++uid, StrCat("m", i), Owned(100));
    }
  }
  now_ms_ = 10 * kMinuteMs;
  for (const int size : {6, 4}) {
    for (int i = 0; i < size; ++i) {
      cluster_.Apply(
          Submitted(++uid, {.cpu = 800, .job = StrCat("gang-of-", size)},
                    {.gang = {.minimum = static_cast<uint64_t>(size)}}));
    }
  }
  EXPECT_THAT(Reply(), SizeIs(8));
  EXPECT_EQ(stats().nominated, 4);
}

TEST_F(MovesTest, AreTooManyForAGangThatTakesMoreThanTheHourHas) {
  RunInTwos();
  EXPECT_THAT(Reply(), IsEmpty());
  EXPECT_THAT(
      Explain(cluster_.TaskOf(25), cluster_.scheduler(), now_ms_).summary,
      HasSubstr("; its gang could start if 12 running tasks moved, but "
                "fewer may in this hour (--moves_per_hour)"));
}

TEST_F(MovesTest, AreTooManyAlongAChainWhereAStopWillDo) {
  RunInAChain(/*gang_minimum=*/0);
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 12 on other"));
}

TEST_F(MovesInAnHourTest, MayAllBeForAGangAlongAChain) {
  RunInAChain(/*gang_minimum=*/1);
  EXPECT_THAT(Reply(), SizeIs(11));
  EXPECT_EQ(stats().nominated, 1);
}

TEST_F(MovesTest, AreTooManyForAGangAlongAChain) {
  RunInAChain(/*gang_minimum=*/1);
  EXPECT_THAT(Reply(), IsEmpty());
  EXPECT_THAT(
      Explain(cluster_.TaskOf(13), cluster_.scheduler(), now_ms_).summary,
      HasSubstr("; its gang could start if 11 running tasks moved, but "
                "fewer may in this hour (--moves_per_hour)"));
}

// Ten are all that a round may move otherwise.
TEST_F(MovesInAnHourTest, MayAllBeForAGangInOneRound) {
  RunInTwos();
  EXPECT_THAT(Reply(), SizeIs(12));
  EXPECT_EQ(stats().nominated, 6);
}

TEST_F(MovesTest, ArePreferredToStops) {
  RunApart();
  Machine("c", 1000);
  Run(3, "c", {.cpu = 900});
  cluster_.Apply(Submitted(11, {.cpu = 800, .priority = 9, .job = "large"}));
  EXPECT_THAT(Reply(), ElementsAre(HasSubstr("MIGRATE ")));
  cluster_.Apply(Submitted(12, {.cpu = 800, .priority = 9, .job = "another"}));
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 3 on c"));
}

// Whom one is stopped for is nominated two machines away.  A packing lists
// moves by size, so that the chain comes in either order.
TEST_F(MovesTest, MakeRoomInAChainThatEndsWithAStop) {
  for (const bool is_smaller_first : {false, true}) {
    SCOPED_TRACE(is_smaller_first);
    TestScheduler cluster(Moving({}));
    const auto only_in = [](TaskOptions options, std::vector<std::string> at) {
      options.priority = 9;
      options.rules.selectors = {LabelIn("at", std::move(at))};
      return options;
    };
    const auto run = [&](uint64_t uid, const std::string& uuid,
                         TaskOptions options) {
      cluster.Apply(Added(uuid, {.cpu = 1000, .labels = {{"at", uuid}}}));
      options.job = StrCat("job-", uid);
      cluster.Apply(Submitted(uid, options));
      cluster.mutable_state().Place({uid},
                                    cluster.state().FindMachine(uuid)->id, 0);
      cluster.Deliver();
    };
    run(1, "first",
        only_in(Owned(is_smaller_first ? 700 : 800), {"first", "second"}));
    run(2, "second",
        only_in(Owned(is_smaller_first ? 800 : 700), {"second", "third"}));
    run(3, "third", {.cpu = 800});
    cluster.Apply(Submitted(11, only_in({.cpu = 800}, {"first"})));
    EXPECT_THAT(
        cluster.Reply(10 * kMinuteMs),
        UnorderedElementsAre("MIGRATE 1 on second", "MIGRATE 2 on third",
                             "PREEMPT 3 on third"));
    EXPECT_TRUE(cluster.state().nominations().Contains({11}));
    EXPECT_EQ(FindContradiction(cluster.state()), "");
  }
}

TEST_F(NoMovesTest, StopsWhereMovesWouldDo) {
  RunApart();
  cluster_.Apply(Submitted(11, {.cpu = 800, .priority = 9, .job = "urgent"}));
  EXPECT_THAT(Reply(), ElementsAre(StartsWith("PREEMPT ")));
}

// Ten moves are always allowed.
TEST_F(MovesTest, StopsWhereThatTakesMoreMovesThanAreAllowed) {
  Machine("a", 1000);
  Machine("b", 1000);
  for (uint64_t uid = 1; uid <= 11; ++uid) Run(uid, "a", Owned(90));
  Run(20, "b", {.cpu = 1000});
  Machine("c", 995);
  now_ms_ = 10 * kMinuteMs;
  cluster_.Apply(Submitted(21, {.cpu = 1000, .priority = 9, .job = "urgent"}));
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 20 on b"));
}

TEST_F(NoMovesTest, AreNoneWhereNoneAreAllowed) {
  RunApart();
  cluster_.Apply(Submitted(11, {.cpu = 800, .job = "large"}));
  EXPECT_THAT(Reply(), IsEmpty());
}

// What waits with it is as urgent, and would fit there, too.
TEST_F(MovesTest, GiveSuccessorsTheirPlacesBeforeAnythingIsPacked) {
  RunApart();
  cluster_.Apply(Submitted(11, {.cpu = 800, .job = "large"}));
  EXPECT_THAT(Reply(), SizeIs(1));
  const uint64_t moved = cluster_.TaskOf(1).is_evicted ? 1 : 2;
  const std::string to = cluster_.MachineOf(3 - moved);
  TaskOptions waiting = Owned(600);
  waiting.job = "waiting";
  cluster_.Apply(Submitted(12, waiting));
  EXPECT_THAT(Reply(), IsEmpty());
  TaskOptions successor = Owned(400);
  successor.job = StrCat("job-", moved);
  cluster_.Apply(Submitted(21, successor));
  EXPECT_THAT(Reply(), ElementsAre(StrCat("PLACE 21 on ", to)));
}

// The one that would rather be alone stands where the other likes to be: both
// moves together lose more than they gain.
TEST_F(MovesTest, MakeNoRoomForMovesThatLoseByIt) {
  Machine("a", 400, {{"disk", "ssd"}, {"machine", "a"}});
  Machine("b", 1200, {{"disk", "hdd"}, {"machine", "b"}});
  const auto shy = [] {
    TaskOptions options = Owned(400);
    options.rules.preferred_peers = {
        {.weight = -100, .term = {App("shy"), "machine"}}};
    options.labels = {{"app", "shy"}};
    return options;
  };
  const auto submit = [&](uint64_t uid, const char* uuid, TaskOptions options) {
    options.job = StrCat("job-", uid);
    cluster_.Apply(Submitted(uid, options, {}));
    cluster_.mutable_state().SyncPeers();
    cluster_.mutable_state().Place({uid},
                                   cluster_.state().FindMachine(uuid)->id, 0);
    cluster_.Deliver();
  };
  submit(1, "b", shy());
  submit(2, "a", shy());
  TaskOptions likes = Owned(400);
  likes.rules.preferred = {
      {.weight = 30, .term = {.labels = {LabelIn("disk", {"ssd"})}}}};
  submit(3, "b", likes);
  now_ms_ = 10 * kMinuteMs;
  EXPECT_THAT(Reply(), IsEmpty());
}

// A room that is kept for a successor is not given to others.
TEST_F(MovesTest, KeepRoomForSuccessors) {
  RunApart();
  cluster_.Apply(Submitted(11, {.cpu = 800, .job = "large"}));
  EXPECT_THAT(Reply(), SizeIs(1));
  cluster_.Apply(Submitted(12, {.cpu = 400, .job = "small"}));
  EXPECT_THAT(Reply(), IsEmpty());
  EXPECT_EQ(cluster_.MachineOf(12), "");
}

}  // namespace
}  // namespace sluice
