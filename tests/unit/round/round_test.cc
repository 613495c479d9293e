#include "round/round.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "cost/waiting_cost.h"
#include "util/cluster_builder.h"
#include "util/peer_builder.h"
#include "util/rules_builder.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr int64_t kMinuteMs = 60000;

class RoundTest : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
  }
  // Starts a round and solves its first pass, which is left open.
  FlowSolution OpenPass() {
    cluster_.scheduler().StartRound(0);
    const std::optional<FlowProblem> problem = cluster_.NextProblem();
    CHECK(problem.has_value());
    return cluster_.SolveFlow(*problem);
  }
  // Commits the solution of the open pass and ends the round.
  const RoundStats& Finish(const FlowSolution& solution) {
    cluster_.scheduler().FinishStep(solution);
    cluster_.FinishRound();
    return cluster_.scheduler().round_stats();
  }
  TestScheduler cluster_;
};

// R11: nothing to do is no reason to solve anything.
TEST_F(RoundTest, SolvesNothingWhereThereIsNothingToDo) {
  EXPECT_EQ(cluster_.Round().passes, 0);
  cluster_.Apply(Added("m", {.cpu = 1000}));
  EXPECT_EQ(cluster_.Round().passes, 0);
  cluster_.Apply(Submitted(1, {.cpu = 1001}));
  EXPECT_EQ(cluster_.Round().passes, 0);
  EXPECT_EQ(cluster_.scheduler().round_stats().pending, 1);
  EXPECT_EQ(cluster_.scheduler().round_stats().number, 3u);
}

// Sizes, wishes, a gang and tasks that must be near others: far more than fits.
TEST_F(RoundTest, LooksForNothingNewInAQueueThatStandsStill) {
  const PlacementRules follows = {
      .affinity = {{TasksOfJob("leader"), "kubernetes.io/hostname"}}};
  ClusterBuilder()
      .Machines("m", 5, {.cpu = 1000})
      .Tasks(1, 9, {.cpu = 400})
      .Tasks(10, 19, {.cpu = 300})
      .Tasks(
          20, 29,
          {.cpu = 700,
           .rules = {.preferred = {{10,
                                    {.labels = {LabelIn("disk", {"ssd"})}}}}}})
      .Tasks(30, 39, {.cpu = 500, .rules = follows})
      .ApplyTo(&cluster_);
  for (uint64_t uid = 40; uid < 50; ++uid) {
    cluster_.Apply(Submitted(uid, {.cpu = 600, .job = "gang"},
                             {.gang = {.minimum = Gang::kAllTasks}}));
  }
  EXPECT_GT(cluster_.Round().placed, 0);
  cluster_.Deliver();
  const RoundStats& again = cluster_.Round();
  EXPECT_GT(again.pending, 0);
  EXPECT_EQ(again.passes, 0);
  EXPECT_EQ(again.packings, 0);
  EXPECT_EQ(again.withdrawn, 0);
}

TEST_F(RoundTest, FillsAMachineToTheLastUnit) {
  ClusterBuilder()
      .Machine("m", {.cpu = 4000})
      .Tasks(1, 2, {.cpu = 2000})
      .ApplyTo(&cluster_);
  EXPECT_EQ(cluster_.Round().placed, 2);
  EXPECT_EQ(cluster_.state().FindMachine("m")->Free()[kCpu], 0);
}

// O1 of old: classes of different sizes once got more than there was.
TEST_F(RoundTest, NeverGivesMoreThanThereIsToMixedSizes) {
  ClusterBuilder()
      .Machine("m", {.cpu = 4000})
      .Tasks(1, 3, {.cpu = 1000})
      .Tasks(11, 3, {.cpu = 3000})
      .ApplyTo(&cluster_);
  EXPECT_EQ(cluster_.Round().placed, 3);
  EXPECT_EQ(cluster_.state().FindMachine("m")->used[kCpu], 3000);
}

TEST_F(RoundTest, SpreadsTheTasksOfOneRoundByTheLoadTheyMake) {
  ClusterBuilder()
      .Machines("m", 3, {.cpu = 4000, .memory = 4000})
      .Tasks(1, 9, {.cpu = 500, .memory = 500})
      .ApplyTo(&cluster_);
  cluster_.Round();
  for (const auto& [id, machine] : cluster_.state().machines()) {
    EXPECT_EQ(machine->tasks.size(), 3u) << machine->uuid;
  }
}

// Loads are counted in thousandths, which tasks that ask for nothing never
// reach; all of them once went to the first machine.
TEST_F(RoundTest, SpreadsTasksThatAskForNothingOverRounds) {
  ClusterBuilder()
      .Machines("m", 5, {.cpu = 8000, .memory = 8000})
      .ApplyTo(&cluster_);
  for (uint64_t uid = 1; uid <= 30; ++uid) {
    // Every other one more urgent than all before: a tier of its own.
    cluster_.Apply(
        Submitted(uid, {.priority = static_cast<uint32_t>(uid / 2)}));
    if (uid % 3 == 0) cluster_.Round();
  }
  for (const auto& [id, machine] : cluster_.state().machines()) {
    EXPECT_EQ(machine->tasks.size(), 6u) << machine->name;
  }
}

TEST_F(RoundTest, PlacesTheMoreUrgentTasksFirstWhateverTheyAskFor) {
  ClusterBuilder()
      .Machine("m", {.cpu = 1000})
      .Tasks(1, 10, {.cpu = 100})
      .Task(20, {.cpu = 1000, .priority = 1})
      .ApplyTo(&cluster_);
  cluster_.Round();
  EXPECT_EQ(cluster_.MachineOf(20), "m");
  EXPECT_EQ(cluster_.state().pending_count(), 10);
}

TEST_F(RoundTest, LeavesToTheLessUrgentOnlyWhatTheMoreUrgentCannotUse) {
  ClusterBuilder()
      .Machine("m", {.cpu = 1000})
      .Machine("n", {.cpu = 1500})
      .Tasks(1, 2, {.cpu = 900, .priority = 1})
      .Tasks(3, 9, {.cpu = 300, .priority = 2})
      .ApplyTo(&cluster_);
  cluster_.Round();
  // Three on m, five on n; what is left holds none of 900.
  EXPECT_EQ(cluster_.MachineOf(1), "");
  EXPECT_EQ(cluster_.MachineOf(2), "");
  EXPECT_EQ(cluster_.state().pending_count(), 3);
}

// S6 of old: under contention the same tasks waited for ever.
TEST_F(RoundTest, PlacesTheOldestOfAClassFirst) {
  cluster_.Apply(Added("m", {.cpu = 200}), 0);
  cluster_.Apply(Submitted(9, {.cpu = 100}), 0);
  cluster_.Apply(Submitted(5, {.cpu = 100, .job = "b"}), kMinuteMs);
  cluster_.Apply(Submitted(7, {.cpu = 100, .job = "c"}), 2 * kMinuteMs);
  cluster_.Round(3 * kMinuteMs);
  EXPECT_EQ(cluster_.MachineOf(9), "m");
  EXPECT_EQ(cluster_.MachineOf(5), "m");
  EXPECT_EQ(cluster_.MachineOf(7), "");
}

TEST_F(RoundTest, PlacesALargeTaskBeforeNewSmallOnesOnceItHasWaited) {
  for (const int64_t waited_ms : {int64_t{0}, 20 * kMinuteMs}) {
    TestScheduler cluster;
    cluster.Apply(Added("m", {.cpu = 1000}), 0);
    cluster.Apply(Submitted(1, {.cpu = 1000}), 0);
    for (uint64_t uid = 2; uid <= 11; ++uid) {
      cluster.Apply(Submitted(uid, {.cpu = 100}), waited_ms);
    }
    cluster.Round(waited_ms);
    EXPECT_EQ(cluster.MachineOf(1), waited_ms > 0 ? "m" : "");
  }
}

// Packing goes by size and places the first task, which leaves room for no more
// than one of the others.
TEST_F(RoundTest, ExchangesALargeTaskForSmallerOnesThatFitInItsPlace) {
  ClusterBuilder()
      .Machine("m", {.cpu = 2000, .memory = 900})
      .Machine("n", {.cpu = 200, .memory = 800})
      .Task(1, {.cpu = 700, .memory = 800})
      .Task(2, {.cpu = 600, .memory = 900})
      .Task(3, {.cpu = 300, .memory = 300})
      .Task(4, {.cpu = 600, .memory = 200})
      .Task(5, {.cpu = 100, .memory = 100})
      .ApplyTo(&cluster_);
  const RoundStats& stats = cluster_.Round();
  EXPECT_EQ(stats.packings, 1);
  EXPECT_EQ(stats.placed, 3);
  EXPECT_EQ(stats.pending, 2);
  EXPECT_EQ(cluster_.MachineOf(3), "m");
  EXPECT_EQ(cluster_.MachineOf(4), "m");
  EXPECT_EQ(cluster_.Deliver().deltas.size(), 3u);
}

TEST_F(RoundTest, LeavesWhatIsSubmittedMeanwhileToTheNextRound) {
  ClusterBuilder().Machine("m", {.cpu = 1000}).Task(1).ApplyTo(&cluster_);
  const FlowSolution solution = OpenPass();
  cluster_.Apply(Submitted(2));
  cluster_.Apply(Submitted(3, {.cpu = 10}));
  EXPECT_EQ(Finish(solution).placed, 1);
  EXPECT_EQ(cluster_.state().pending_count(), 2);
  EXPECT_EQ(cluster_.Round().placed, 2);
}

TEST_F(RoundTest, DoesNotFillAGapOfItsOwnTasksWithALaterOne) {
  ClusterBuilder()
      .Machines("m", 2, {.cpu = 500})
      .Tasks(1, 2, {.cpu = 500})
      .ApplyTo(&cluster_);
  const FlowSolution solution = OpenPass();
  cluster_.Apply(Removed(2));
  cluster_.Apply(Submitted(3, {.cpu = 500}));
  const RoundStats& stats = Finish(solution);
  EXPECT_EQ(stats.placed, 1);
  EXPECT_EQ(stats.refused, 1);
  EXPECT_EQ(cluster_.MachineOf(3), "");
}

TEST_F(RoundTest, RefusesWhatACommandMadeIllegalMeanwhile) {
  struct Case {
    const char* name;
    Command command;
    const char* machine_of_task;
  };
  for (const Case& one :
       {Case{"the machine was removed", Removed("m"), "n"},
        Case{"the task was removed", Removed(1), ""},
        Case{"the task ended", Completed(1), ""},
        Case{"the task was quarantined",
             Updated(1, {.quarantine_reason = "no"}), ""},
        Case{"the task asks for more", Updated(1, {.cpu = 2000}), ""},
        Case{"a foreign pod took the room",
             ForeignPod("a/ns", "m", {{"cpu", 500}}), "n"},
        Case{"the machine shrank", Updated("m", {.cpu = 10}), "n"},
        Case{"the machine was quarantined",
             Updated("m", {.cpu = 1000, .quarantine_reason = "no"}), "n"}}) {
    SCOPED_TRACE(one.name);
    TestScheduler cluster;
    // m is the emptier one; n would do as well.
    ClusterBuilder()
        .Machine("m", {.cpu = 1000, .memory = 100})
        .Machine("n", {.cpu = 900, .memory = 100})
        .Task(1, {.cpu = 800})
        .ApplyTo(&cluster);
    cluster.scheduler().StartRound(0);
    const FlowSolution solution = cluster.SolveFlow(*cluster.NextProblem());
    cluster.Apply(one.command);
    cluster.scheduler().FinishStep(solution);
    EXPECT_EQ(cluster.scheduler().round_stats().refused, 1);
    EXPECT_EQ(cluster.scheduler().round_stats().placed, 0);
    cluster.FinishRound();
    EXPECT_EQ(cluster.MachineOf(1), one.machine_of_task);
    EXPECT_EQ(FindContradiction(cluster.state()), "");
  }
}

TEST_F(RoundTest, PlacesTheOthersOfAPassThatWasRefusedInPart) {
  ClusterBuilder()
      .Machines("m", 2, {.cpu = 1000})
      .Tasks(1, 4, {.cpu = 500})
      .ApplyTo(&cluster_);
  const FlowSolution solution = OpenPass();
  cluster_.Apply(Removed("m0"));
  const RoundStats& stats = Finish(solution);
  EXPECT_EQ(stats.placed, 2);
  EXPECT_EQ(stats.refused, 2);
  EXPECT_EQ(stats.pending, 2);
}

TEST_F(RoundTest, MayPlaceATaskThatWasSubmittedAnewUnderTheSameUid) {
  ClusterBuilder()
      .Machine("m", {.cpu = 1000})
      .Task(1, {.cpu = 500})
      .ApplyTo(&cluster_);
  const FlowSolution solution = OpenPass();
  cluster_.Apply(Removed(1));
  cluster_.Apply(Submitted(1, {.cpu = 700, .name = "another"}));
  Finish(solution);
  EXPECT_EQ(cluster_.MachineOf(1), "m");
  EXPECT_EQ(cluster_.state().FindMachine("m")->used[kCpu], 700);
}

// The design documents open with this example; here the sizes differ.  Larger
// tasks are placed first, so the weaker wish once got the machine.
TEST_F(RoundTest, GivesAMachineToTheStrongerWishWhateverTheSizes) {
  const auto liking = [](int32_t weight) {
    PlacementRules rules;
    rules.preferred = {{weight, {.labels = {LabelExists("gpu")}}}};
    return rules;
  };
  const TaskOptions large = {.cpu = 4000, .job = "large", .rules = liking(1)};
  const TaskOptions small = {.cpu = 1000, .job = "small", .rules = liking(100)};
  for (const int others : {1, 301}) {
    for (const bool is_large_first : {true, false}) {
      SCOPED_TRACE(StrCat(others, " others, large first: ", is_large_first));
      TestScheduler cluster;
      ClusterBuilder()
          .Machine("gpu", {.cpu = 4000, .labels = {{"gpu", "yes"}}})
          .Machines("plain", others, {.cpu = 4000})
          .Task(1, is_large_first ? large : small)
          .Task(2, is_large_first ? small : large)
          .ApplyTo(&cluster);
      const RoundStats& stats = cluster.Round();
      EXPECT_EQ(stats.placed, 2);
      EXPECT_EQ(cluster.MachineOf(is_large_first ? 2 : 1), "gpu");
      EXPECT_EQ(stats.Gap(), 0);
      EXPECT_TRUE(stats.is_bound_known);
    }
  }
}

std::vector<std::pair<int64_t, int64_t>> RangesOf(const RoundStats& stats) {
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (const RoundLevel& level : stats.levels) {
    ranges.emplace_back(
        level.lowest.has_value() ? int64_t{*level.lowest} : -1,
        level.highest.has_value() ? int64_t{*level.highest} : -1);
  }
  return ranges;
}

TEST_F(RoundTest, TellsWhatWaitsOfEachLevelAndHowMuchOfItMust) {
  PlacementRules shy;
  shy.anti_affinity = {{TasksOfJob("batch"), "zone"}};
  ClusterBuilder()
      .Machines("m", 3, {.cpu = 1000, .labels = {{"zone", "a"}}})
      .Task(1, {.cpu = 1000, .priority = 9})
      .Task(2, {.cpu = 700, .priority = 8})
      .Task(3, {.cpu = 1000, .priority = 8})
      .Task(4, {.cpu = 1000, .priority = 5})
      // Only one fits, which no bound knows.
      .Task(5, {.cpu = 100, .job = "shy", .rules = shy})
      .Task(6, {.cpu = 100, .job = "batch"})
      .ApplyTo(&cluster_);
  const RoundStats& stats = cluster_.Round();
  EXPECT_EQ(stats.placed, 4);
  EXPECT_TRUE(stats.is_bound_known);
  EXPECT_THAT(RangesOf(stats),
              ElementsAre(Pair(8, -1), Pair(5, 7), Pair(-1, 4)));
  const auto cost = WaitingCost(0);
  EXPECT_EQ(stats.cost.waiting,
            LevelCosts(std::vector<int64_t>{0, cost, cost}));
  EXPECT_EQ(stats.bound.waiting, LevelCosts(std::vector<int64_t>{0, cost}));
  EXPECT_EQ(stats.WaitingGap(1, 2), 0);
  EXPECT_EQ(stats.WaitingGap(2, 3), 1);
}

TEST_F(RoundTest, TellsWhatWaitsOfEachPriorityThoughNothingIsToBeDecided) {
  const auto cost = WaitingCost(0);
  ClusterBuilder builder;
  builder.Machine("m", {.cpu = 1000}).Task(1, {.cpu = 2000, .priority = 90});
  for (uint32_t priority = 80; priority >= 60; --priority) {
    builder.Tasks(1000 + 2 * priority, 2, {.cpu = 2000, .priority = priority});
  }
  builder.Task(2, {.cpu = 1001, .priority = 80}).ApplyTo(&cluster_);
  const RoundStats& stats = cluster_.Round();
  ASSERT_EQ(stats.levels.size(), 13u);
  EXPECT_EQ(RangesOf(stats)[0], std::pair(int64_t{90}, int64_t{-1}));
  EXPECT_EQ(RangesOf(stats)[1], std::pair(int64_t{80}, int64_t{89}));
  EXPECT_EQ(RangesOf(stats)[11], std::pair(int64_t{70}, int64_t{70}));
  EXPECT_EQ(RangesOf(stats)[12], std::pair(int64_t{-1}, int64_t{69}));
  EXPECT_EQ(stats.cost.waiting[0], cost);
  EXPECT_EQ(stats.cost.waiting[1], 3 * cost);
  EXPECT_EQ(stats.cost.waiting[12], 20 * cost);
  EXPECT_EQ(stats.bound.waiting, stats.cost.waiting);
  EXPECT_EQ(stats.Gap(), 0);
}

// Packing takes the machine from the first task for the second, and then
// nothing is left to be decided.
TEST_F(RoundTest, TellsWhatWaitsOfEachLevelThoughNothingIsToBeDecidedAnyMore) {
  PlacementRules on_ssd;
  on_ssd.required = {{.labels = {LabelExists("ssd")}}};
  ClusterBuilder()
      .Machine("plain", {.cpu = 2000})
      .Machine("ssd", {.cpu = 1000, .labels = {{"ssd", "yes"}}})
      .Task(1, {.cpu = 1000, .priority = 9})
      .Task(2, {.cpu = 1000, .priority = 5, .rules = on_ssd})
      .Task(3, {.cpu = 3000, .priority = 4})
      .ApplyTo(&cluster_);
  cluster_.Apply(ForeignPod("proxy", "plain", {{"cpu", 900}}));
  const RoundStats& stats = cluster_.Round();
  EXPECT_EQ(stats.withdrawn, 1);
  EXPECT_EQ(stats.placed, 2);
  EXPECT_THAT(RangesOf(stats),
              ElementsAre(Pair(9, -1), Pair(5, 8), Pair(-1, 4)));
  EXPECT_EQ(stats.cost.waiting,
            LevelCosts(std::vector<int64_t>{0, 0, WaitingCost(0)}));
  EXPECT_EQ(stats.Gap(), 0);
}

// What likes a machine best whose slots are counted by a larger task goes there
// in the end.  Others may be where they are because of one that is bound.
TEST_F(RoundTest, MovesOnlyWhatDependsOnNoOther) {
  for (const bool is_bound : {false, true}) {
    TestScheduler cluster;
    ClusterBuilder()
        .Machine("hdd", {.cpu = 4000})
        .Machine("ssd", {.cpu = 1000, .labels = {{"disk", "ssd"}}})
        .Task(1, {.cpu = 300})
        .ApplyTo(&cluster);
    PlacementRules rules = {
        .preferred = {{100, {{LabelIn("disk", {"ssd"})}, {}}}}};
    if (is_bound) rules.preferred_peers = {{1, {TasksOfJob("nobody"), ""}}};
    ClusterBuilder()
        .Tasks(2, 5, {.cpu = 200, .rules = rules})
        .ApplyTo(&cluster);
    const RoundStats& stats = cluster.Round();
    EXPECT_EQ(stats.placed, 6);
    EXPECT_EQ(stats.withdrawn > 0, !is_bound);
  }
}

// In an order in which each placement is legal when it is made.
TEST_F(RoundTest, SpreadsOverHostsAndZonesInOnePass) {
  constexpr uint64_t kTasks = 60;
  for (uint64_t i = 0; i < kTasks / 2; ++i) {
    cluster_.Apply(
        Added(StrCat("m", i),
              {.cpu = 1000,
               .labels = {{"host", StrCat(i)}, {"zone", StrCat(i % 3)}}}));
  }
  PlacementRules rules;
  rules.spread = {Spread(App("web"), "host"), Spread(App("web"), "zone")};
  for (uint64_t uid = 1; uid <= kTasks; ++uid) {
    cluster_.Apply(
        Submitted(uid, {.cpu = 10, .labels = {{"app", "web"}}, .rules = rules},
                  PeerOptions()));
  }
  const RoundStats& stats = cluster_.Round();
  EXPECT_EQ(stats.placed, kTasks);
  EXPECT_EQ(stats.passes, 1);
  EXPECT_EQ(stats.conflicts, 0);
}

TEST_F(RoundTest, EndsWhenItsWorkBudgetIsSpentAndTheNextGoesOn) {
  TestScheduler cluster(RoundOptions{.arcs_max = 1});
  ClusterBuilder()
      .Machine("m", {.cpu = 1000})
      .Task(1, {.cpu = 10, .priority = 3})
      .Task(2, {.cpu = 10, .priority = 2})
      .Task(3, {.cpu = 10, .priority = 1})
      .ApplyTo(&cluster);
  for (int round = 1; round <= 3; ++round) {
    const RoundStats& stats = cluster.Round();
    EXPECT_EQ(stats.passes, 1);
    EXPECT_EQ(stats.placed, 1);
    EXPECT_EQ(stats.pending, 3 - round);
  }
  EXPECT_EQ(cluster.state().outbox().size(), 3u);
  EXPECT_EQ(cluster.Round().passes, 0);
  EXPECT_FALSE(cluster.scheduler().round_stats().is_cut_short);
}

// What packing takes back is placed again, however little work is left.
TEST_F(RoundTest, CarriesOutWhatItDecidedOnHoweverEarlyItsWorkIsSpent) {
  PlacementRules apart;
  apart.anti_affinity = {{TasksOfJob("apart"), ""}};
  int64_t most = 0;
  for (int64_t arcs_max = 1; arcs_max < 200; ++arcs_max) {
    SCOPED_TRACE(arcs_max);
    const auto count = [&](int64_t improve_budget) {
      TestScheduler cluster(
          RoundOptions{.arcs_max = arcs_max, .improve_budget = improve_budget});
      ClusterBuilder()
          .Machines("m", 3, {.cpu = 1000})
          .Machines("n", 3, {.cpu = 600})
          .Tasks(1, 3, {.cpu = 400, .priority = 2})
          .Tasks(4, 3, {.cpu = 900, .priority = 1})
          .Tasks(7, 3, {.cpu = 200})
          // Two of these have room, and may not use it: passes are tried.
          .Tasks(10, 8, {.priority = 2, .job = "apart", .rules = apart})
          .ApplyTo(&cluster);
      return cluster.Round().placed;
    };
    const int64_t placed = count(1'000'000);
    EXPECT_GE(placed, count(0));
    most = std::max(most, placed);
  }
  EXPECT_EQ(most, 9 + 6);
}

TEST_F(RoundTest, EndsWhenASolveFailsAndTheNextTriesAgain) {
  ClusterBuilder().Machine("m", {.cpu = 1000}).Task(1).ApplyTo(&cluster_);
  cluster_.scheduler().StartRound(0);
  ASSERT_TRUE(cluster_.scheduler().NextStep().has_value());
  FlowSolution failed;
  failed.outcome = SolveOutcome::kCancelled;
  cluster_.scheduler().FinishStep(failed);
  EXPECT_FALSE(cluster_.scheduler().NextStep().has_value());
  EXPECT_FALSE(cluster_.scheduler().is_in_round());
  EXPECT_TRUE(cluster_.scheduler().round_stats().is_cut_short);
  EXPECT_EQ(cluster_.scheduler().round_stats().pending, 1);
  EXPECT_EQ(cluster_.Round().placed, 1);
}

}  // namespace
}  // namespace sluice
