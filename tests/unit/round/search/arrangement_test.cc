// Whole rounds, by what they make of wishes between tasks.

#include "round/search/arrangement.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/rng.h"
#include "base/strings.h"
#include "round/context/round_context.h"
#include "round/context/round_stats.h"
#include "round/stages/stage.h"
#include "util/cluster_builder.h"
#include "util/peer_builder.h"
#include "util/rules_builder.h"
#include "util/seed_count.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

class ArrangementTest : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
  }
  // How many of the tasks there are on each machine.
  std::map<std::string, int> Counts(uint64_t first, uint64_t last) {
    std::map<std::string, int> counts;
    for (uint64_t uid = first; uid <= last; ++uid) {
      ++counts[cluster_.MachineOf(uid)];
    }
    return counts;
  }
  TestScheduler cluster_;
};

// Kubernetes' scheduler does 1, 1, 1, 1, 2 here.
TEST_F(ArrangementTest, SpreadsReplicasWhereOneMachineIsEmpty) {
  ClusterBuilder()
      .Machines("m", 5, {.cpu = 8000, .memory = 8000})
      .Tasks(1, 5, {.cpu = 4000, .memory = 4000, .job = "old"})
      .ApplyTo(&cluster_);
  cluster_.Round();
  cluster_.Deliver();
  ClusterBuilder()
      .Machine("empty", {.cpu = 8000, .memory = 8000})
      .Tasks(11, 6, {.cpu = 500, .memory = 500, .job = "service"})
      .ApplyTo(&cluster_);
  EXPECT_EQ(cluster_.Round().placed, 6);
  const auto counts = Counts(11, 16);
  EXPECT_EQ(counts.size(), 6u);
  cluster_.Deliver();
  // Those that run already count.
  ClusterBuilder()
      .Tasks(21, 3, {.cpu = 500, .memory = 500, .job = "service"})
      .ApplyTo(&cluster_);
  EXPECT_EQ(cluster_.Round().placed, 3);
  for (const auto& [machine, count] : Counts(21, 23)) EXPECT_EQ(count, 1);
}

TEST_F(ArrangementTest, GivesUpNoPreferenceForIt) {
  PlacementRules likes_ssd;
  likes_ssd.preferred = {{1, {.labels = {LabelIn("disk", {"ssd"})}}}};
  ClusterBuilder()
      .Machines("m", 5, {.cpu = 8000})
      .Machine("ssd", {.cpu = 8000, .labels = {{"disk", "ssd"}}})
      .Tasks(1, 5, {.cpu = 500, .job = "service", .rules = likes_ssd})
      .ApplyTo(&cluster_);
  cluster_.Round();
  EXPECT_EQ(Counts(1, 5)["ssd"], 5);
}

TEST_F(ArrangementTest, ExchangesTasksWhereAllMachinesAreFull) {
  ClusterBuilder()
      .Machines("m", 2, {.cpu = 1000})
      .Tasks(1, 2, {.cpu = 500, .job = "a"})
      .ApplyTo(&cluster_);
  cluster_.Apply(Submitted(3, {.cpu = 500, .job = "b"}));
  cluster_.Apply(Submitted(4, {.cpu = 500, .job = "b"}));
  EXPECT_EQ(cluster_.Round().placed, 4);
  EXPECT_NE(cluster_.MachineOf(1), cluster_.MachineOf(2));
  EXPECT_NE(cluster_.MachineOf(3), cluster_.MachineOf(4));
}

TEST_F(ArrangementTest, LeavesThoseAloneThatOthersMustBeNear) {
  PlacementRules near;
  near.affinity = {{TasksOfJob("hub"), "host"}};
  ClusterBuilder()
      .Machine("m0", {.cpu = 4000, .labels = {{"host", "m0"}}})
      .Machine("m1", {.cpu = 1000, .labels = {{"host", "m1"}}})
      .Tasks(1, 2, {.cpu = 500, .job = "hub"})
      .Tasks(3, 2, {.cpu = 1000, .job = "follower", .rules = near})
      .ApplyTo(&cluster_);
  EXPECT_EQ(cluster_.Round().placed, 4);
  for (const uint64_t follower : {3, 4}) {
    EXPECT_TRUE(cluster_.MachineOf(follower) == cluster_.MachineOf(1) ||
                cluster_.MachineOf(follower) == cluster_.MachineOf(2));
  }
}

// Where nothing but a direct call shows what a step does.
class ArrangeTest : public ArrangementTest {
 protected:
  void Place(uint64_t uid, const std::string& machine) {
    cluster_.eligibility();  // Learns the rules of what waits.
    cluster_.mutable_state().Place(
        TaskId(uid), cluster_.state().FindMachine(machine)->id, 0);
  }
  // As if all that is placed were of this round.
  RoundContext* BeginRound() {
    context_.emplace(
        RoundContext::Subject{cluster_.mutable_state(), cluster_.policies(),
                              cluster_.constraints(), cluster_.eligibility()},
        RoundOptions(), 0);
    context_->delta_begin = 0;
    context_->stats = &stats_;
    return &*context_;
  }
  // Returns how many moved.
  int64_t ArrangeAll() { return Arrange(BeginRound()); }

 private:
  std::optional<RoundContext> context_;
  RoundStats stats_;
};

// One of the job would be better off on the other machine; but where it was
// there would be room for what waits, were something less urgent not there.
TEST_F(ArrangeTest, MakesNoRoomThatWhatIsLessUrgentKeeps) {
  ClusterBuilder()
      .Machine("a", {.cpu = 1000})
      .Machine("b", {.cpu = 1000})
      .Task(1, {.cpu = 700, .priority = 9, .job = "old"})
      .Tasks(2, 2, {.cpu = 200, .priority = 9, .job = "high"})
      .Task(4, {.cpu = 100, .priority = 0, .job = "low"})
      .ApplyTo(&cluster_);
  Place(1, "b");
  for (const uint64_t uid : {2, 3, 4}) Place(uid, "a");
  cluster_.Apply(Submitted(5, {.cpu = 800, .priority = 5, .job = "waits"}));
  EXPECT_EQ(ArrangeAll(), 0);
  // Now nothing waits.
  cluster_.Apply(Removed(5));
  EXPECT_EQ(ArrangeAll(), 1);
  EXPECT_NE(cluster_.MachineOf(2), cluster_.MachineOf(3));
}

// They are too small to tell in the load of a machine.
TEST_F(ArrangeTest, SpreadsManySmallTasksOverAllMachinesThatAreLoadedAlike) {
  ClusterBuilder()
      .Machines("m", 200, {.cpu = 1000000, .pods = 400})
      .Tasks(1, 400, {.cpu = 1, .job = "service"})
      .ApplyTo(&cluster_);
  for (uint64_t uid = 1; uid <= 400; ++uid) Place(uid, "m0");
  EXPECT_EQ(ArrangeAll(), 398);
  const auto counts = Counts(1, 400);
  EXPECT_EQ(counts.size(), 200u);
  for (const auto& [machine, count] : counts) EXPECT_EQ(count, 2) << machine;
}

// One after the other, by load; some have no room for any.
TEST_F(ArrangeTest, SpreadsManySmallTasksOverMachinesThatAreNot) {
  constexpr uint64_t kMachines = 200;
  ClusterBuilder builder;
  builder.Tasks(1, 500, {.cpu = 10, .job = "service"});
  for (uint64_t i = 0; i < kMachines; ++i) {
    builder.Machine(StrCat("m", i), {.cpu = 1000000, .pods = 600})
        .Task(1001 + i,
              {.cpu = i % 4 == 0 ? 1000000 : 4000 * static_cast<int64_t>(i),
               .job = "old"});
  }
  builder.ApplyTo(&cluster_);
  for (uint64_t i = 0; i < kMachines; ++i) Place(1001 + i, StrCat("m", i));
  cluster_.Deliver();
  for (uint64_t uid = 1; uid <= 500; ++uid) Place(uid, "m1");
  ArrangeAll();
  const auto counts = Counts(1, 500);
  EXPECT_EQ(counts.size(), 150u);
  for (const auto& [machine, count] : counts) {
    EXPECT_GE(count, 3) << machine;
    EXPECT_LE(count, 4) << machine;
  }
}

// The pair's larger task goes to the other machine, and the two that were there
// make up for its load.
TEST_F(ArrangeTest, RelievesMachinesThatTasksWentApartTo) {
  ClusterBuilder()
      .Machines("m", 2, {.cpu = 1000})
      .Task(1, {.cpu = 400, .job = "pair"})
      .Task(2, {.cpu = 200, .job = "pair"})
      .Task(3, {.cpu = 100, .job = "x"})
      .Task(4, {.cpu = 100, .job = "y"})
      .ApplyTo(&cluster_);
  for (const uint64_t uid : {1, 2}) Place(uid, "m0");
  for (const uint64_t uid : {3, 4}) Place(uid, "m1");
  EXPECT_EQ(ArrangeAll(), 3);
  EXPECT_EQ(cluster_.MachineOf(1), "m1");
  for (const uint64_t uid : {2, 3, 4}) EXPECT_EQ(cluster_.MachineOf(uid), "m0");
}

TEST_F(ArrangeTest, LetsCommandsInBeforeIfMuchWasDone) {
  ClusterBuilder()
      .Machines("m", 2, {.cpu = 1000})
      .Tasks(1, 2, {.cpu = 100, .job = "pair"})
      .ApplyTo(&cluster_);
  for (const uint64_t uid : {1, 2}) Place(uid, "m0");
  RoundContext* context = BeginRound();
  const std::unique_ptr<Stage> stage = MakeArrange(context);
  context->budget.Note(kWorkPerStep);
  const auto work = stage->Next();
  ASSERT_TRUE(work.has_value());
  EXPECT_TRUE(std::holds_alternative<Pause>(*work));
  EXPECT_EQ(cluster_.MachineOf(1), cluster_.MachineOf(2));
  context->budget.BeginStep();
  EXPECT_FALSE(stage->Next().has_value());
  EXPECT_NE(cluster_.MachineOf(1), cluster_.MachineOf(2));
}

// One would be near the other, and that one away from it.
TEST_F(ArrangeTest, EndsWhereTasksWouldMoveToAndFro) {
  PlacementRules fond;
  fond.preferred_peers = {{.weight = 1, .term = {TasksOfJob("shy"), "host"}}};
  PlacementRules shy;
  SpreadConstraint wish = Spread(TasksOfJob("fond"), "host");
  wish.is_required = false;
  shy.spread = {wish};
  ClusterBuilder()
      .Machine("m0", {.cpu = 1000, .labels = {{"host", "m0"}}})
      .Machine("m1", {.cpu = 1000, .labels = {{"host", "m1"}}})
      .Task(1, {.cpu = 100, .job = "fond", .rules = fond})
      .Task(2, {.cpu = 100, .job = "shy", .rules = shy})
      .ApplyTo(&cluster_);
  for (const uint64_t uid : {1, 2}) Place(uid, "m0");
  // One goes, the other follows; each comes back once and goes once more.  Then
  // both are placed anew, apart, as that costs less together.
  EXPECT_EQ(ArrangeAll(), 7);
  EXPECT_NE(cluster_.MachineOf(1), cluster_.MachineOf(2));
}

// What is in the way fits where nobody has to leave, but not in the place of
// the one that comes.
TEST_F(ArrangeTest, MakesAnotherGoToAThirdMachine) {
  PlacementRules fond;
  fond.preferred_peers = {{.weight = 50, .term = {TasksOfJob("db"), "zone"}}};
  ClusterBuilder()
      .Machine("a", {.cpu = 100, .labels = {{"zone", "a"}}})
      .Machine("b", {.cpu = 400, .labels = {{"zone", "b"}}})
      .Machine("c", {.cpu = 300, .labels = {{"zone", "c"}}})
      .Task(1, {.cpu = 100, .job = "fond", .rules = fond})
      .Task(2, {.cpu = 100, .job = "db"})
      .Task(3, {.cpu = 300, .job = "other"})
      .ApplyTo(&cluster_);
  Place(1, "a");
  for (const uint64_t uid : {2, 3}) Place(uid, "b");
  EXPECT_GT(ArrangeAll(), 0);
  EXPECT_EQ(cluster_.MachineOf(1), "b");
  EXPECT_EQ(cluster_.MachineOf(2), "b");
  EXPECT_EQ(cluster_.MachineOf(3), "c");
}

// A pair would be better off elsewhere, but only both together.
class BeginAnewTest : public ArrangeTest {
 protected:
  void SetUp() override {
    PlacementRules pair;
    pair.preferred_peers = {
        {.weight = 50, .term = {TasksOfJob("pair"), "zone"}},
        {.weight = 30, .term = {TasksOfJob("db"), "zone"}}};
    PlacementRules fond;
    fond.preferred_peers = {
        {.weight = 10, .term = {TasksOfJob("hub"), "zone"}}};
    ClusterBuilder()
        .Machine("a", {.cpu = 1000, .labels = {{"zone", "a"}}})
        .Machine("b", {.cpu = 1000, .labels = {{"zone", "b"}}})
        .Machine("full", {.cpu = 100, .labels = {{"zone", "c"}}})
        .Task(1, {.cpu = 100, .job = "db"})
        .Task(2, {.cpu = 100, .job = "hub"})
        .Tasks(3, 2, {.cpu = 100, .job = "pair", .rules = pair})
        .Task(5, {.cpu = 100, .job = "fond", .rules = fond})
        .ApplyTo(&cluster_);
    Place(1, "b");
    Place(2, "full");
    cluster_.Deliver();
    for (const uint64_t uid : {3, 4}) Place(uid, "a");
  }
};

TEST_F(BeginAnewTest, PlacesAllAnewWhereNoStepLeadsOn) {
  Place(5, "a");  // It would rather be where there is no room.
  EXPECT_GT(ArrangeAll(), 0);
  EXPECT_EQ(cluster_.MachineOf(3), "b");
  EXPECT_EQ(cluster_.MachineOf(4), "b");
}

// That takes time, and mostly finds nothing.
TEST_F(BeginAnewTest, LeavesAllWhereTheyAreIfNobodyWouldRatherBeElsewhere) {
  cluster_.Apply(Removed(5));
  EXPECT_EQ(ArrangeAll(), 0);
}

// What is free may be for what waits.
TEST_F(BeginAnewTest, LeavesAllWhereTheyAreAsLongAsSomethingMoreUrgentWaits) {
  Place(5, "a");
  cluster_.Apply(Submitted(6, {.cpu = 900, .priority = 1, .job = "waits"}));
  EXPECT_EQ(ArrangeAll(), 0);
  EXPECT_EQ(cluster_.MachineOf(3), "a");
  EXPECT_EQ(cluster_.MachineOf(4), "a");
}

// What is as urgent finds the room that is left then.
TEST_F(BeginAnewTest, PlacesAllAnewWhereSomethingAsUrgentWaits) {
  Place(5, "a");
  cluster_.Apply(Submitted(6, {.cpu = 1000, .job = "waits"}));
  EXPECT_GT(ArrangeAll(), 0);
  EXPECT_EQ(cluster_.MachineOf(3), "b");
}

// What is moved leaves room behind, and the round gives it away.
TEST_F(ArrangementTest, PlacesWhatFitsWhereAnotherWas) {
  ClusterBuilder()
      .Machine("m0", {.cpu = 1000})
      .Machine("m1", {.cpu = 400})
      .Tasks(1, 2, {.cpu = 400, .job = "pair"})
      .Task(3, {.cpu = 600, .job = "large"})
      .ApplyTo(&cluster_);
  EXPECT_EQ(cluster_.Round().placed, 3);
  EXPECT_NE(cluster_.MachineOf(1), cluster_.MachineOf(2));
}

TEST_F(ArrangementTest, DoesNothingForJobsWithoutThePolicy) {
  TestScheduler cluster({}, "cpu_memory");
  ClusterBuilder()
      .Machine("used", {.cpu = 8000})
      .Task(1, {.cpu = 6000, .job = "old"})
      .ApplyTo(&cluster);
  cluster.Round();
  cluster.Deliver();
  ClusterBuilder()
      .Machine("empty", {.cpu = 8000})
      .Tasks(11, 2, {.cpu = 500, .job = "service"})
      .ApplyTo(&cluster);
  cluster.Round();
  EXPECT_EQ(cluster.MachineOf(11), "empty");
  EXPECT_EQ(cluster.MachineOf(12), "empty");
}

// Two large tasks fit only where the bands put small ones, so all is packed;
// and the packing knows nothing of zones.
TEST_F(ArrangementTest, GrantsWishesThatAPackingDoesNotSee) {
  PlacementRules spread;
  SpreadConstraint wish = Spread(TasksOfJob("web"), "zone");
  wish.is_required = false;
  spread.spread = {wish};
  PlacementRules fond;
  fond.preferred_peers = {{.weight = 50, .term = {TasksOfJob("db"), "zone"}}};
  ClusterBuilder()
      .Machine("a0", {.cpu = 1000, .labels = {{"zone", "a"}}})
      .Machine("a1", {.cpu = 1000, .labels = {{"zone", "a"}}})
      .Machine("b0", {.cpu = 1000, .labels = {{"zone", "b"}}})
      .Machine("b1", {.cpu = 1000, .labels = {{"zone", "b"}}})
      .Task(1, {.cpu = 300, .job = "db"})
      .Tasks(2, 2, {.cpu = 300, .job = "fond", .rules = fond})
      .Tasks(4, 2, {.cpu = 400, .job = "web", .rules = spread})
      .Tasks(6, 2, {.cpu = 400, .job = "x"})
      .Tasks(8, 1, {.cpu = 700, .job = "y"})
      .ApplyTo(&cluster_);
  EXPECT_EQ(cluster_.Round().placed, 8);
  const auto zone_of = [this](uint64_t uid) {
    return cluster_.MachineOf(uid).substr(0, 1);
  };
  EXPECT_EQ(zone_of(2), zone_of(1));
  EXPECT_EQ(zone_of(3), zone_of(1));
  EXPECT_NE(zone_of(4), zone_of(5));
}

struct Outcome {
  int64_t placed = 0;
  int64_t missed_weight = 0;
  int64_t pairs = 0;  // Of a job on a machine.
};

// A cluster whose machines are partly used, and jobs of a few tasks each.
Outcome RunRandom(uint64_t seed, std::string_view policies) {
  Rng rng(seed);
  TestScheduler cluster({}, policies);
  const int64_t machines = rng.Between(2, 6);
  for (int64_t i = 0; i < machines; ++i) {
    cluster.Apply(Added(StrCat("m", i),
                        {.cpu = rng.Between(5, 20) * 100,
                         .labels = {{"disk", rng.Chance(1, 2) ? "a" : "b"}}}));
  }
  uint64_t uid = 0;
  for (int batch = 0; batch < 2; ++batch) {
    for (int64_t jobs = rng.Between(1, 4); jobs > 0; --jobs) {
      TaskOptions task{.cpu = rng.Between(1, 4) * 100,
                       .job = StrCat("job", rng.Below(4))};
      if (rng.Chance(1, 3)) {
        task.rules.preferred = {{5, {.labels = {LabelIn("disk", {"a"})}}}};
      }
      for (int64_t tasks = rng.Between(1, 5); tasks > 0; --tasks) {
        cluster.Apply(Submitted(++uid, task));
      }
    }
    cluster.Round();
    cluster.Deliver();
    EXPECT_EQ(FindContradiction(cluster.state()), "") << "seed " << seed;
  }
  Outcome outcome;
  std::map<std::pair<JobId, MachineId>, int64_t> counts;
  for (uint64_t i = 1; i <= uid; ++i) {
    const Task& task = cluster.TaskOf(i);
    if (task.state != TaskState::kRunning) continue;
    ++outcome.placed;
    outcome.pairs += counts[{task.job, task.machine}]++;
    outcome.missed_weight += cluster.policies().PreferenceCost(
        *task.class_key.rules, *cluster.state().FindMachine(task.machine));
  }
  return outcome;
}

TEST(ArrangementProperty, PlacesAsMuchWhereItIsLikedAsMuch) {
  int64_t pairs_with = 0;
  int64_t pairs_without = 0;
  for (uint64_t seed = 1; seed <= SeedCount(300); ++seed) {
    const Outcome with =
        RunRandom(seed, "cpu_memory,job_spread,node_affinity,taint");
    const Outcome without = RunRandom(seed, "cpu_memory,node_affinity,taint");
    // The second batch finds the first elsewhere.
    pairs_with += with.pairs;
    pairs_without += without.pairs;
    if (HasFailure()) return;
  }
  EXPECT_LT(pairs_with, pairs_without);
}

}  // namespace
}  // namespace sluice
