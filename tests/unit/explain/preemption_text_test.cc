#include "explain/preemption_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "explain/explanation.h"
#include "util/peer_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class PreemptionTextTest : public testing::Test {
 protected:
  PreemptionTextTest() {
    cluster_.Apply(Added("m", {.cpu = 1000}));
    cluster_.Apply(Added("n", {.cpu = 1000}));
  }
  // A task that runs.
  void RunTask(uint64_t uid, const TaskOptions& options) {
    cluster_.Apply(Submitted(uid, options));
    cluster_.Reply(++now_ms_);
  }
  void Wait(const TaskOptions& options) {
    cluster_.Apply(Submitted(kWaiting, options));
  }
  std::string MayStop() {
    cluster_.mutable_state().SyncPeers();
    return MayStopText(cluster_.TaskOf(kWaiting), cluster_.scheduler());
  }
  std::string Leaving(uint64_t uid) {
    cluster_.mutable_state().SyncPeers();
    return LeavingText(cluster_.TaskOf(uid), cluster_.scheduler());
  }

  static constexpr uint64_t kWaiting = 11;
  TestScheduler cluster_{{.preemption = {.mode = Preemption::kPriority}}};
  int64_t now_ms_ = 0;
};

TEST_F(PreemptionTextTest, CountsTheMachinesThatWouldHaveRoom) {
  RunTask(1, {.cpu = 1000});
  RunTask(2, {.cpu = 1000});
  Wait({.cpu = 500, .priority = 9});
  EXPECT_EQ(
      MayStop(),
      "; 2 machines would have room for it without the less urgent tasks, "
      "which the next round may stop: 1 task on machine 'm', at a cost of 100");
  EXPECT_THAT(
      Explain(cluster_.TaskOf(kWaiting), cluster_.scheduler(), 0).summary,
      EndsWith(MayStop()));
}

TEST_F(PreemptionTextTest, SaysWhatIsMissing) {
  RunTask(1, {.cpu = 1000, .priority = 9});
  RunTask(2, {.cpu = 500});
  Wait({.cpu = 2000, .priority = 9});
  EXPECT_EQ(
      MayStop(),
      "; no machine would have room for it even without the less urgent tasks");
  cluster_.Apply(Removed(2));
  EXPECT_EQ(MayStop(), "; no less urgent task can be stopped");
}

TEST_F(PreemptionTextTest, SaysThatNobodyIsStoppedWhereMoreRunsThanFits) {
  RunTask(1, {.cpu = 1000});
  RunTask(2, {.cpu = 1000, .priority = 9});
  cluster_.Apply(Updated("m", {.cpu = 600}));
  cluster_.Apply(Updated("n", {.cpu = 600}));
  Wait({.cpu = 500, .priority = 9});
  EXPECT_EQ(MayStop(),
            "; no task is stopped on an overcommitted machine, and 2 machines "
            "are");
}

TEST_F(PreemptionTextTest, SaysThatGangsLeaveTogether) {
  for (const uint64_t uid : {1, 2}) {
    cluster_.Apply(
        Submitted(uid, {.cpu = 1000, .job = "gang"}, {.gang = {.minimum = 2}}));
  }
  cluster_.Reply(++now_ms_);
  Wait({.cpu = 500, .priority = 9});
  EXPECT_THAT(MayStop(), StartsWith("; 2 machines would have room for it "
                                    "without the less urgent gangs"));
  cluster_.Reply(++now_ms_);
  const std::string kept =
      cluster_.state()
          .FindMachine(cluster_.state().nominations().machines().at({kWaiting}))
          ->uuid;
  const uint64_t there = cluster_.MachineOf(1) == kept ? 1 : 2;
  const std::string name = cluster_.TaskOf(there).name;
  EXPECT_THAT(Leaving(there), HasSubstr("to make room for"));
  EXPECT_THAT(
      Leaving(3 - there),
      HasSubstr(", and was told to leave it with its gang, of which " + name +
                " leaves machine '" + kept + "' to make room for"));
}

TEST_F(PreemptionTextTest, NamesTheBudgetsThatProtect) {
  const DisruptionBudget budget = {
      .limit = DisruptionBudget::Limit::kMinAvailable, .amount = 3};
  RunTask(1, {.cpu = 1000, .job = "web", .budget = budget});
  RunTask(2, {.cpu = 1000, .job = "web", .budget = budget});
  Wait({.cpu = 500, .priority = 9});
  EXPECT_EQ(
      MayStop(),
      "; 2 machines would have room for it without the less urgent tasks, "
      "but disruption budgets protect these: web needs 3 available tasks "
      "and has 2");
}

TEST_F(PreemptionTextTest, SaysThatATaskDisplacesNobody) {
  RunTask(1, {.cpu = 1000});
  TaskOptions meek{.cpu = 1000, .priority = 9};
  meek.rules.never_preempts = true;
  Wait(meek);
  EXPECT_EQ(MayStop(),
            "; nobody is stopped for it: its preemption policy is NEVER");
}

// On one machine one of priority 5 would be stopped, on the other two of
// priority 1: of its three one can stay, and that is the dearest.
TEST_F(PreemptionTextTest, TellsWhatIsStoppedWhereThatIsLeast) {
  RunTask(1, {.cpu = 1000, .priority = 5});
  RunTask(2, {.cpu = 300, .priority = 1, .preemption_cost = 50});
  RunTask(3, {.cpu = 300, .priority = 1, .preemption_cost = 900});
  RunTask(4, {.cpu = 300, .priority = 1});
  Wait({.cpu = 700, .priority = 9});
  EXPECT_EQ(
      MayStop(),
      "; 2 machines would have room for it without the less urgent tasks, "
      "which the next round may stop: 2 tasks on machine '" +
          cluster_.MachineOf(2) + "', at a cost of 250");
}

TEST_F(PreemptionTextTest, CountsWhatKeepsATaskAwayAmongWhatIsStopped) {
  cluster_.Apply(Removed("m"));
  RunTask(1, {.cpu = 100});
  RunTask(2, {.cpu = 100});
  TaskOptions alone{.cpu = 500, .priority = 9};
  alone.rules.anti_affinity = {{TasksOfJob("job"), ""}};
  alone.job = "other";
  RunTask(3, {.cpu = 100, .job = "third"});
  Wait(alone);
  EXPECT_THAT(MayStop(),
              EndsWith(": 2 tasks on machine 'n', at a cost of 200"));
}

TEST_F(PreemptionTextTest, SaysThatNobodyElseIsStoppedWhereEnoughLeaves) {
  cluster_.Apply(Removed("m"));
  RunTask(1, {.cpu = 600});
  RunTask(2, {.cpu = 400});
  cluster_.mutable_state().Preempt({1});
  Wait({.cpu = 500, .priority = 9});
  EXPECT_THAT(MayStop(),
              EndsWith(": on machine 'n' the tasks told to leave suffice"));
}

TEST_F(PreemptionTextTest, SaysForWhomATaskWasStoppedAndAtWhatCost) {
  RunTask(1, {.cpu = 1000, .priority = 9});
  RunTask(2, {.cpu = 1000, .preemption_cost = 250});
  EXPECT_EQ(Leaving(2), "");
  Wait({.cpu = 500, .priority = 9, .name = "urgent"});
  RunTask(12, {.cpu = 500, .priority = 5});
  EXPECT_EQ(Leaving(2),
            ", and was told to leave it to make room for urgent of priority 9 "
            "and 1 more; its stop costs 350, with a preemption_cost of 250 of "
            "its own; no other machine could make room for urgent");
  EXPECT_EQ(MayStop(), "") << "room is kept for it";
}

TEST_F(PreemptionTextTest, SaysWhatStoppingOthersInsteadWouldCost) {
  RunTask(1, {.cpu = 500, .priority = 4, .preemption_cost = 50});
  RunTask(2, {.cpu = 1000});
  RunTask(3, {.cpu = 500, .preemption_cost = 250});
  Wait({.cpu = 900, .priority = 9, .name = "urgent"});
  cluster_.Reply(++now_ms_);
  const std::string other = StrCat("machine '", cluster_.MachineOf(1), "'");
  EXPECT_EQ(Leaving(2),
            ", and was told to leave it to make room for urgent of priority 9; "
            "its stop costs 100; instead, 2 tasks on " +
                other +
                " could be stopped at a cost of 500, the most urgent of "
                "priority 4");
  cluster_.Apply(Removed(3));
  EXPECT_THAT(Leaving(2), EndsWith("; instead, 1 task on " + other +
                                   " could be stopped at a cost of 150, the "
                                   "most urgent of priority 4"));
  cluster_.Apply(Removed(1));
  EXPECT_THAT(Leaving(2),
              EndsWith("; by now " + other + " has room for urgent, too"));
}

TEST_F(PreemptionTextTest, CountsNoRoomThatIsKeptForOthers) {
  for (const uint64_t uid : {1, 2}) RunTask(uid, {.cpu = 1000});
  for (const uint64_t uid : {kWaiting, kWaiting + 1}) {
    cluster_.Apply(Submitted(uid, {.cpu = 900, .priority = 9}));
  }
  cluster_.Reply(++now_ms_);
  for (const uint64_t uid : {1, 2}) {
    EXPECT_THAT(Leaving(uid), HasSubstr("; no other machine could make room"));
  }
}

TEST_F(PreemptionTextTest, SaysThatBudgetsProtectTheOthers) {
  RunTask(1,
          {.cpu = 1000,
           .job = "protected",
           .budget = DisruptionBudget{
               .limit = DisruptionBudget::Limit::kMinAvailable, .amount = 1}});
  RunTask(2, {.cpu = 1000});
  Wait({.cpu = 900, .priority = 9, .name = "urgent"});
  cluster_.Reply(++now_ms_);
  EXPECT_THAT(Leaving(2), EndsWith("; no other machine could make room for "
                                   "urgent within disruption budgets"));
}

TEST_F(PreemptionTextTest, SaysWhomATaskKeepsOutOfItsZone) {
  cluster_.Apply(Added("small", {.cpu = 1200, .labels = {{"zone", "z"}}}));
  TaskOptions web{.cpu = 1100,
                  .labels = {{"app", "web"}},
                  .rules = {.anti_affinity = {{App("web"), "zone"}}}};
  web.rules.selectors = {LabelIn("zone", {"z"})};
  cluster_.Apply(Submitted(1, web, PeerOptions()));
  cluster_.Reply(++now_ms_);
  cluster_.Apply(Added("large", {.cpu = 2000, .labels = {{"zone", "z"}}}));
  web.cpu = 1800;
  web.priority = 9;
  cluster_.Apply(Submitted(kWaiting, web, PeerOptions()));
  cluster_.Reply(++now_ms_);
  EXPECT_EQ(Leaving(1),
            ", and was told to leave it to let task-11 of priority 9 onto "
            "machine 'large': the rules let them share no 'zone'; its stop "
            "costs 100");
}

TEST_F(PreemptionTextTest, SaysHowOftenATaskWasDisturbedBefore) {
  RunTask(1, {.cpu = 1000, .priority = 9});
  for (uint64_t uid = 2; uid <= 3; ++uid) {
    RunTask(uid, {.cpu = 1000});
    cluster_.mutable_state().Preempt({uid});
    cluster_.Apply(Removed(uid));
  }
  RunTask(4, {.cpu = 1000, .preemption_cost = 50});
  Wait({.cpu = 500, .priority = 9, .name = "urgent"});
  RunTask(12, {.cpu = 500, .priority = 5});
  EXPECT_EQ(Leaving(4),
            ", and was told to leave it to make room for urgent of priority 9 "
            "and 1 more; its stop costs 350, with a preemption_cost of 50 of "
            "its own, and it was stopped or moved 2 times before; no other "
            "machine could make room for urgent");
}

TEST_F(PreemptionTextTest, NamesNoCostWhereATaskLeavesForNobody) {
  RunTask(1, {.cpu = 1000});
  cluster_.mutable_state().Preempt({1});
  EXPECT_EQ(Leaving(1), ", and was told to leave it");
}

TEST_F(PreemptionTextTest, SaysForWhomATaskLeavesTheMachineThatAnotherMovesTo) {
  RunTask(1, {.cpu = 1000, .name = "stopped"});
  RunTask(2, {.cpu = 1000, .priority = 5, .name = "moved"});
  const std::string to = cluster_.MachineOf(1);
  const std::string from = cluster_.MachineOf(2);
  cluster_.mutable_state().Preempt({1});
  cluster_.mutable_state().Migrate({2}, cluster_.state().FindMachine(to)->id);
  EXPECT_EQ(Leaving(1),
            ", and was told to leave it to make room for the successor of "
            "moved, which moves here; its stop costs 100");
  Wait({.cpu = 1000, .priority = 9, .name = "urgent"});
  cluster_.mutable_state().Nominate({kWaiting},
                                    cluster_.state().FindMachine(from)->id);
  EXPECT_EQ(Leaving(1),
            ", and was told to leave it to make room for the successor of "
            "moved, which moves here to make room for urgent of priority 9; "
            "its stop costs 100");
  cluster_.Apply(Completed(2));
  EXPECT_EQ(Leaving(1),
            ", and was told to leave it to make room for the successor of "
            "moved, which moves here; its stop costs 100");
}

// A nominee that is no more urgent waits for something else.
TEST_F(PreemptionTextTest, FollowsTheMovesToWhomATaskIsStoppedFor) {
  cluster_.Apply(Added("o", {.cpu = 1000}));
  RunTask(1, {.cpu = 1000, .priority = 1, .name = "stopped"});
  RunTask(2, {.cpu = 1000, .priority = 1, .name = "first"});
  RunTask(3, {.cpu = 1000, .priority = 1, .name = "second"});
  const auto machine = [&](uint64_t uid) {
    return cluster_.state().FindMachine(cluster_.MachineOf(uid))->id;
  };
  Wait({.cpu = 500, .priority = 9, .name = "urgent"});
  cluster_.Apply(Submitted(12, {.cpu = 500, .priority = 1, .name = "equal"}));
  cluster_.mutable_state().Preempt({1});
  cluster_.mutable_state().Migrate({2}, machine(1));
  cluster_.mutable_state().Migrate({3}, machine(2));
  cluster_.mutable_state().Nominate({12}, machine(1));
  cluster_.mutable_state().Nominate({kWaiting}, machine(3));
  EXPECT_EQ(Leaving(1),
            ", and was told to leave it to make room for the successor of "
            "first, which moves here to make room for urgent of priority 9; "
            "its stop costs 100");
}

TEST_F(PreemptionTextTest, SaysWhereATaskMovesUntilItsSuccessorHasCome) {
  RunTask(1, {.cpu = 600, .priority = 5});
  const std::string to = cluster_.MachineOf(1) == "m" ? "n" : "m";
  cluster_.mutable_state().Migrate({1}, cluster_.state().FindMachine(to)->id);
  EXPECT_EQ(Leaving(1), ", and was told to move to machine '" + to +
                            "', where room is kept for its successor; its "
                            "move costs 30000");
  RunTask(2, {.cpu = 600, .priority = 5});
  EXPECT_EQ(Leaving(1), ", and was told to leave it");
}

// Nobody is stopped on the machine that it goes to.
TEST_F(PreemptionTextTest, SaysThatATaskIsToBeTheFirstOfItsKind) {
  TaskOptions options = {.cpu = 1000, .name = "last", .labels = {{"app", "a"}}};
  cluster_.Apply(Submitted(1, options, PeerOptions()));
  cluster_.Reply(++now_ms_);
  const std::string other = cluster_.MachineOf(1) == "m" ? "n" : "m";
  options.priority = 9;
  options.name = "first";
  options.rules.affinity = {{App("a"), ""}};
  cluster_.Apply(Submitted(kWaiting, options, PeerOptions()));
  const auto first = [&]() -> const Task& { return cluster_.TaskOf(kWaiting); };
  cluster_.mutable_state().SyncPeers();
  EXPECT_THAT(Explain(first(), cluster_.scheduler(), 0).summary,
              Not(HasSubstr("has yet to leave")));
  cluster_.mutable_state().Preempt({1});
  cluster_.mutable_state().Nominate({kWaiting},
                                    cluster_.state().FindMachine(other)->id);
  EXPECT_EQ(Leaving(1),
            ", and was told to leave it to let first of priority 9 "
            "onto machine '" +
                other +
                "', as the first of the tasks that it has to be "
                "near; its stop costs 100");
  cluster_.Apply(Added("o", {.cpu = 1000}));
  EXPECT_THAT(Explain(first(), cluster_.scheduler(), 0).summary,
              HasSubstr("as the last task that they select has yet to leave"));
}

TEST_F(PreemptionTextTest, SaysThatATaskCountsInTheZoneOfOneThatIsSpread) {
  for (const std::string uuid : {"o", "p"}) {
    cluster_.Apply(Added(uuid, {.cpu = 1000, .labels = {{"zone", "z"}}}));
  }
  TaskOptions options = {.cpu = 1000, .labels = {{"app", "a"}}};
  options.rules.spread = {Spread(App("a"), "zone")};
  cluster_.Apply(Submitted(1, options, PeerOptions()));
  cluster_.Reply(++now_ms_);
  const std::string other = cluster_.MachineOf(1) == "o" ? "p" : "o";
  options.priority = 9;
  options.name = "spread";
  cluster_.Apply(Submitted(kWaiting, options, PeerOptions()));
  cluster_.mutable_state().Preempt({1});
  cluster_.mutable_state().Nominate({kWaiting},
                                    cluster_.state().FindMachine(other)->id);
  EXPECT_EQ(Leaving(1),
            ", and was told to leave it to let spread of priority 9 onto "
            "machine '" +
                other +
                "': it is spread over each 'zone', where this one counts; its "
                "stop costs 100");
}

}  // namespace
}  // namespace sluice
