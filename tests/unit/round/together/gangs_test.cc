#include "round/together/gangs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "network/fresh_eligibility.h"
#include "util/peer_builder.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint64_t kAll = std::numeric_limits<uint64_t>::max();

class GangsTest : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
  }
  void Submit(uint64_t uid, const Gang& gang, const TaskOptions& options,
              int64_t now_ms = 0) {
    cluster_.Apply(Submitted(uid, options, {.gang = gang}), now_ms);
  }
  // The tasks 1, 2, ... of one gang, of 100 cpu each.
  void SubmitGang(uint64_t count, const Gang& gang,
                  const PlacementRules& rules = {}) {
    for (uint64_t uid = 1; uid <= count; ++uid) {
      Submit(uid, gang,
             {.cpu = 100, .labels = {{"app", "gang"}}, .rules = rules});
    }
  }
  // Places the task; nobody is told yet.
  void Place(uint64_t uid, std::string_view uuid) {
    cluster_.mutable_state().Place({uid},
                                   cluster_.state().FindMachine(uuid)->id, 0);
  }
  Gangs GangsAt(int64_t now_ms, uint64_t sequence_end = kAll) {
    eligibility_.emplace(&cluster_.mutable_state(), &cluster_.eligibility());
    return Gangs(&cluster_.mutable_state(), &*eligibility_, sequence_end,
                 now_ms);
  }
  const ClassKey& KeyOf(uint64_t uid) const {
    return cluster_.TaskOf(uid).class_key;
  }
  // How many of the tasks 1 to `count` run.
  int64_t RunningOf(uint64_t count) const {
    int64_t running = 0;
    for (uint64_t uid = 1; uid <= count; ++uid) {
      running += cluster_.MachineOf(uid).empty() ? 0 : 1;
    }
    return running;
  }
  TestScheduler cluster_;
  std::optional<FreshEligibility> eligibility_;
};

// ---------------------------------------------------------------------------
// What a gang is

TEST_F(GangsTest, IsClosedUntilOneOfItRuns) {
  cluster_.Apply(Added("m", {.cpu = 1000}));
  SubmitGang(3, {.minimum = 2});
  Submit(9, {}, {.job = "no gang"});
  EXPECT_TRUE(GangsAt(0).IsClosed(KeyOf(1)));
  EXPECT_FALSE(GangsAt(0).IsClosed(KeyOf(9)));
  Place(1, "m");
  EXPECT_FALSE(GangsAt(0).IsClosed(KeyOf(2)));
  cluster_.mutable_state().Withdraw({1});
  EXPECT_TRUE(GangsAt(0).IsClosed(KeyOf(1)));
}

TEST_F(GangsTest, IsClosedNoMoreAfterItsTimeOut) {
  const Gang gang = {.minimum = 2, .timeout_ms = 1000};
  Submit(1, gang, {}, 500);
  Submit(2, gang, {}, 900);
  EXPECT_TRUE(GangsAt(1499).IsClosed(KeyOf(1)));
  EXPECT_FALSE(GangsAt(1500).IsClosed(KeyOf(1)));
  Submit(4, gang, {.cpu = 100}, 1200);  // Another class of it.
  EXPECT_TRUE(GangsAt(1499).IsClosed(KeyOf(4)));
  EXPECT_FALSE(GangsAt(1500).IsClosed(KeyOf(4)));
  Submit(3, {.minimum = 2}, {.job = "patient"}, 0);
  EXPECT_TRUE(GangsAt(std::numeric_limits<int64_t>::max()).IsClosed(KeyOf(3)));
}

TEST_F(GangsTest, IsHealingBelowItsMinimum) {
  cluster_.Apply(Added("m", {.cpu = 1000}));
  const struct {
    uint64_t minimum;
    int healthy;  // So many must run.
  } rows[] = {{1, 1}, {2, 2}, {Gang::kAllTasks, 3}};
  uint64_t uid = 0;
  for (const auto& row : rows) {
    const uint64_t first = uid + 1;
    for (int i = 0; i < 3; ++i) {
      Submit(++uid, {.minimum = row.minimum}, {.job = StrCat(row.minimum)});
    }
    EXPECT_FALSE(GangsAt(0).IsHealing(KeyOf(first))) << "it is not started";
    for (int running = 1; running <= 3; ++running) {
      Place(first + static_cast<uint64_t>(running) - 1, "m");
      EXPECT_EQ(GangsAt(0).IsHealing(KeyOf(first)), running < row.healthy)
          << running << " of " << row.minimum;
    }
  }
  Submit(++uid, {}, {.job = "no gang"});
  Place(uid, "m");
  EXPECT_FALSE(GangsAt(0).IsHealing(KeyOf(uid)));
}

TEST_F(GangsTest, HasItsCompletedTasksBehindIt) {
  cluster_.Apply(Added("m", {.cpu = 200}));
  SubmitGang(3, {.minimum = 2});
  cluster_.Round();
  cluster_.Deliver();
  ASSERT_EQ(RunningOf(3), 2);
  for (uint64_t uid = 1; uid <= 3; ++uid) {
    if (cluster_.MachineOf(uid).empty()) continue;
    cluster_.Apply(Completed(uid));
    cluster_.Apply(Removed(uid));
  }
  cluster_.Apply(Submitted(4, {.cpu = 100}));
  EXPECT_FALSE(GangsAt(0).IsHealing(KeyOf(4))) << "two have run";
  cluster_.Round();
  EXPECT_EQ(cluster_.MachineOf(4), "m");
}

// Four of five succeeded, and the replacement of the fifth is alone.
TEST_F(GangsTest, ThatStartedIsNeverClosedAgain) {
  for (const bool all_fail : {false, true}) {
    SCOPED_TRACE(all_fail);
    TestScheduler cluster;
    cluster.Apply(Added("m", {.cpu = 500}));
    for (uint64_t uid = 1; uid <= 5; ++uid) {
      cluster.Apply(Submitted(uid, {.cpu = 100}, {.gang = {.minimum = 5}}));
    }
    cluster.Round();
    cluster.Deliver();
    for (uint64_t uid = 1; uid <= 4; ++uid) {
      cluster.Apply(all_fail ? Command(Failed(uid)) : Command(Completed(uid)));
    }
    cluster.Apply(Failed(5));
    cluster.Apply(Submitted(6, {.cpu = 100}, {.gang = {.minimum = 5}}));
    cluster.Round();
    EXPECT_EQ(cluster.MachineOf(6), "m");
  }
}

TEST_F(GangsTest, ThatNobodyKnowsOfIsClosedAgain) {
  cluster_.Apply(Added("m", {.cpu = 200}));
  SubmitGang(2, {.minimum = 2});
  cluster_.Round();
  ASSERT_EQ(RunningOf(2), 2);
  cluster_.Apply(Removed("m"));  // Nothing of it was told.
  EXPECT_TRUE(GangsAt(0).IsClosed(KeyOf(1)));
}

TEST_F(GangsTest, FindsThoseThatHaveEnoughTasksOldestFirst) {
  cluster_.Apply(Added("m", {.cpu = 1000}));
  const auto submit = [&](uint64_t uid, const char* job, int64_t now_ms,
                          uint64_t minimum = 2, uint32_t priority = 0) {
    Submit(uid, {.minimum = minimum}, {.priority = priority, .job = job},
           now_ms);
  };
  submit(1, "young", 20);
  submit(2, "young", 30);
  submit(3, "old", 10);
  submit(4, "old", 40, 2, /*priority=*/0);
  submit(5, "few", 0);
  submit(6, "runs", 0);
  submit(7, "runs", 0);
  Place(6, "m");
  submit(8, "urgent", 0, 2, /*priority=*/7);
  submit(9, "urgent", 0, 2, /*priority=*/3);
  submit(10, "all", 50, Gang::kAllTasks);
  const auto names = [&](uint32_t priority, uint64_t sequence_end = kAll) {
    std::vector<std::string> jobs;
    for (const auto& gang : GangsAt(99, sequence_end).FindWaiting(priority)) {
      jobs.push_back(cluster_.state().FindJob(gang.job)->name);
    }
    return jobs;
  };
  EXPECT_THAT(names(0), ElementsAre("old", "young", "all"));
  EXPECT_THAT(names(7), ElementsAre("urgent"));
  EXPECT_THAT(names(3), IsEmpty()) << "its most urgent task decides";
  EXPECT_THAT(names(0, cluster_.TaskOf(4).sequence), ElementsAre("young"));
}

TEST_F(GangsTest, AreFoundWithTheirClassesAndMinimum) {
  Submit(1, {.minimum = 2}, {.cpu = 100}, 10);
  Submit(2, {.minimum = 2}, {.cpu = 200}, 5);
  const auto waiting = GangsAt(99).FindWaiting(0);
  ASSERT_EQ(waiting.size(), 1u);
  EXPECT_EQ(waiting[0].minimum, 2);
  EXPECT_EQ(waiting[0].submitted_ms, 5);
  EXPECT_THAT(waiting[0].classes,
              testing::UnorderedElementsAre(KeyOf(1), KeyOf(2)));
}

TEST_F(GangsTest, AreWholeWithAsManyAsHaveToRun) {
  cluster_.Apply(Added("m", {.cpu = 1000}));
  SubmitGang(3, {.minimum = 2});
  const Gangs::Waiting gang = GangsAt(0).FindWaiting(0).at(0);
  EXPECT_FALSE(GangsAt(0).IsWhole(gang));
  Place(1, "m");
  EXPECT_FALSE(GangsAt(0).IsWhole(gang));
  Place(2, "m");
  EXPECT_TRUE(GangsAt(0).IsWhole(gang));
}

TEST_F(GangsTest, OnEveryMachineNeedAsManyAsThereAreMachinesForThem) {
  cluster_.Apply(Added("a", {.cpu = 100, .labels = {{"disk", "ssd"}}}));
  cluster_.Apply(Added("b", {.cpu = 100, .labels = {{"disk", "ssd"}}}));
  cluster_.Apply(Added("c", {.cpu = 100, .labels = {{"disk", "hdd"}}}));
  cluster_.Apply(Added("d", {.cpu = 100, .labels = {{"disk", "ssd"}}}));
  cluster_.Apply(Removed("d"));
  const PlacementRules rules = {.selectors = {LabelIn("disk", {"ssd"})}};
  SubmitGang(1, {.minimum = Gang::kEveryMachine}, rules);
  EXPECT_THAT(GangsAt(0).FindWaiting(0), IsEmpty());
  SubmitGang(3, {.minimum = Gang::kEveryMachine}, rules);
  ASSERT_EQ(GangsAt(0).FindWaiting(0).size(), 1u);
  EXPECT_EQ(GangsAt(0).FindWaiting(0)[0].minimum, 2);
}

// Its uid was used again for a job that is no gang, and the one that was is no
// more.
TEST_F(GangsTest, AreNotThoseOfJobsThatAreNoMore) {
  Submit(1, {.minimum = 2}, {.job = "gang"});
  Submit(1, {}, {.job = "other", .quarantine_reason = "cpu is not a number"});
  const std::optional<JobId> gang = KeyOf(1).gang;
  EXPECT_TRUE(!gang.has_value() || cluster_.state().FindJob(*gang) != nullptr);
}

// ---------------------------------------------------------------------------
// Halves

TEST_F(GangsTest, AreWithdrawnAsLongAsNobodyKnowsOfTheHalf) {
  cluster_.Apply(Added("m", {.cpu = 1000}));
  SubmitGang(3, {.minimum = 3});
  Submit(9, {}, {.job = "no gang"});
  for (const uint64_t uid : {1, 2, 9}) Place(uid, "m");
  GangsAt(0).WithdrawHalves();
  EXPECT_EQ(RunningOf(3), 0);
  EXPECT_EQ(cluster_.MachineOf(9), "m");
}

TEST_F(GangsTest, AreNotWithdrawnWhereTheyAreWhole) {
  cluster_.Apply(Added("m", {.cpu = 1000}));
  SubmitGang(3, {.minimum = 2});
  Place(1, "m");
  Place(2, "m");
  GangsAt(0).WithdrawHalves();
  EXPECT_EQ(RunningOf(3), 2);
}

TEST_F(GangsTest, AreNotWithdrawnWhereAClientKnowsOfOne) {
  cluster_.Apply(Added("m", {.cpu = 1000}));
  SubmitGang(3, {.minimum = 3});
  Place(1, "m");
  cluster_.Deliver();
  Place(2, "m");
  GangsAt(0).WithdrawHalves();
  EXPECT_EQ(RunningOf(3), 2) << "it is being healed";
}

// ---------------------------------------------------------------------------
// Rounds

TEST_F(GangsTest, StartWholeOrNotAtAll) {
  cluster_.Apply(Added("m", {.cpu = 200}));
  SubmitGang(3, {.minimum = 3});
  cluster_.Round();
  EXPECT_EQ(RunningOf(3), 0);
  EXPECT_THAT(cluster_.Deliver().deltas, IsEmpty());
  cluster_.Apply(Added("n", {.cpu = 100}));
  cluster_.Round();
  EXPECT_EQ(RunningOf(3), 3);
}

TEST_F(GangsTest, OfAllTasksWaitForThoseThatCameLater) {
  cluster_.Apply(Added("m", {.cpu = 200}));
  SubmitGang(3, {.minimum = Gang::kAllTasks});
  cluster_.Round();
  EXPECT_EQ(RunningOf(3), 0);
  cluster_.Apply(Removed(2));
  cluster_.Round();
  EXPECT_EQ(RunningOf(3), 2);
}

TEST_F(GangsTest, ArePlacedOneByOneAfterTheirTimeOut) {
  cluster_.Apply(Added("m", {.cpu = 200}));
  SubmitGang(3, {.minimum = 3, .timeout_ms = 1000});
  cluster_.Round(/*now_ms=*/999);
  EXPECT_EQ(RunningOf(3), 0);
  cluster_.Round(/*now_ms=*/1000);
  EXPECT_EQ(RunningOf(3), 2);
}

// Fleet's Global, everywhere at once.
TEST_F(GangsTest, OnEveryMachineWaitForRoomOnAll) {
  cluster_.Apply(Added("a", {.cpu = 100}));
  cluster_.Apply(Added("b", {.cpu = 100}));
  Submit(9, {}, {.cpu = 100, .job = "other"});
  Place(9, "b");
  cluster_.Deliver();
  SubmitGang(3, {.minimum = Gang::kEveryMachine},
             {.anti_affinity = {{App("gang"), ""}}});
  cluster_.Round();
  EXPECT_EQ(RunningOf(3), 0);
  cluster_.Apply(Completed(9));
  cluster_.Round();
  EXPECT_EQ(RunningOf(3), 2);
  cluster_.Deliver();
  cluster_.Apply(Added("c", {.cpu = 100}));
  cluster_.Round();
  EXPECT_EQ(RunningOf(3), 3) << "a machine joined";
}

// As many slots as the largest task has a machine are too few for all of them,
// and the tier is too large to be searched.
TEST_F(GangsTest, WithTasksOfSeveralSizesStartHoweverManyThereAre) {
  constexpr uint64_t kGangs = 30;
  for (uint64_t i = 0; i < kGangs; ++i) {
    cluster_.Apply(Added(StrCat("large-", i), {.cpu = 600}));
    cluster_.Apply(Added(StrCat("small-", i), {.cpu = 400}));
  }
  for (uint64_t uid = 1; uid <= 3 * kGangs; ++uid) {
    cluster_.Apply(Submitted(
        uid,
        {.cpu = uid % 3 == 0 ? 400 : 300, .job = StrCat("job-", (uid - 1) / 3)},
        {.gang = {.minimum = 3}}));
  }
  EXPECT_EQ(cluster_.Round().placed, static_cast<int64_t>(3 * kGangs));
}

// ---------------------------------------------------------------------------
// Rounds that end early

// A gang of two classes that has to be tried in several passes: both follow the
// first of them.
void SubmitTrial(TestScheduler* cluster) {
  ClusterBuilder().Machine("a", {.cpu = 1000}).ApplyTo(cluster);
  for (uint64_t uid = 1; uid <= 4; ++uid) {
    cluster->Apply(
        Submitted(uid,
                  {.cpu = uid <= 2 ? 100 : 200,
                   .labels = {{"app", "gang"}},
                   .rules = {.preferred_peers = {{1, {App("gang"), "zone"}}}}},
                  {.gang = {.minimum = 4}}));
  }
}

TEST_F(GangsTest, AreTriedInSeveralPasses) {
  SubmitTrial(&cluster_);
  EXPECT_GT(cluster_.Round().passes, 1);
  EXPECT_EQ(RunningOf(4), 4);
}

TEST_F(GangsTest, LeaveNothingBehindWhenASolveIsCancelled) {
  SubmitTrial(&cluster_);
  Scheduler& scheduler = cluster_.scheduler();
  scheduler.StartRound(0);
  scheduler.FinishStep(cluster_.SolveFlow(*cluster_.NextProblem()));
  ASSERT_GT(RunningOf(4), 0) << "in the middle of a trial";
  ASSERT_TRUE(scheduler.NextStep().has_value());
  FlowSolution cancelled;
  cancelled.outcome = SolveOutcome::kCancelled;
  scheduler.FinishStep(cancelled);
  EXPECT_FALSE(scheduler.NextStep().has_value());
  EXPECT_EQ(RunningOf(4), 0);
  EXPECT_EQ(scheduler.round_stats().placed, 0);
  EXPECT_THAT(cluster_.Deliver().deltas, IsEmpty());
  cluster_.Round();
  EXPECT_EQ(RunningOf(4), 4);
}

// Cut short it would begin anew in each round and never start.
TEST_F(GangsTest, AreTriedToTheEndWhenTheWorkBudgetIsSpent) {
  TestScheduler cluster(RoundOptions{.arcs_max = 1});
  SubmitTrial(&cluster);
  cluster.Apply(Submitted(9, {.cpu = 100, .job = "other"}), 1);
  const RoundStats& stats = cluster.Round(1);
  EXPECT_TRUE(stats.is_cut_short);
  EXPECT_GT(stats.passes, 1);
  EXPECT_EQ(stats.placed, 4);
  EXPECT_EQ(cluster.Deliver().deltas.size(), 4u);
}

// The process ended between two placements, and began anew.
TEST_F(GangsTest, AreStartedAnewAfterARestartInTheMiddle) {
  cluster_.Apply(Added("m", {.cpu = 300}));
  SubmitGang(3, {.minimum = 3});
  Place(1, "m");
  Place(2, "m");
  cluster_.Apply(ForeignPod("pod/ns", "m", {{"cpu", 50}}));
  cluster_.Round();
  EXPECT_EQ(RunningOf(3), 0);
  EXPECT_THAT(cluster_.Deliver().deltas, IsEmpty());
}

// What the rules of running tasks allow was not asked before.
TEST_F(GangsTest, OnEveryMachineAreStartedAnewAfterARestartInTheMiddle) {
  cluster_.Apply(Added("a", {.cpu = 100}));
  cluster_.Apply(Added("b", {.cpu = 50}));
  SubmitGang(2, {.minimum = Gang::kEveryMachine});
  Place(1, "a");
  cluster_.Round();
  EXPECT_EQ(RunningOf(2), 0);
  EXPECT_THAT(cluster_.Deliver().deltas, IsEmpty());
}

}  // namespace
}  // namespace sluice
