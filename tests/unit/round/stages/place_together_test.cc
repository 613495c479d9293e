#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "round/context/round_context.h"
#include "round/stages/stage.h"
#include "util/cluster_builder.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

class PlaceTogetherTest : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
  }
  // One task of each priority from 1 to `count`, and its uid.
  void Submit(uint32_t count, int64_t cpu) {
    for (uint32_t i = 1; i <= count; ++i) {
      cluster_.Apply(Submitted(i, {.cpu = cpu, .priority = i}));
    }
  }
  TestScheduler cluster_;
};

TEST_F(PlaceTogetherTest, TakesAFewPassesForAnyNumberOfPriorities) {
  ClusterBuilder().Machines("m", 10, {.cpu = 10000}).ApplyTo(&cluster_);
  Submit(1000, 90);
  const RoundStats& stats = cluster_.Round();
  EXPECT_EQ(stats.placed, 1000);
  EXPECT_LE(stats.passes, 3);
}

TEST_F(PlaceTogetherTest, CostsNothingForWhatFitsNowhere) {
  ClusterBuilder().Machines("m", 10, {.cpu = 100}).ApplyTo(&cluster_);
  Submit(1000, 90);
  EXPECT_EQ(cluster_.Round().placed, 10);
  EXPECT_LE(cluster_.scheduler().round_stats().passes, 3);
  for (uint64_t uid = 1; uid <= 1000; ++uid) {
    EXPECT_EQ(cluster_.MachineOf(uid).empty(), uid <= 990) << uid;
  }
  cluster_.Deliver();
  EXPECT_EQ(cluster_.Round().passes, 0);
}

// Where there is room for the sum, but not for each: 3 of 5 on each machine.
TEST_F(PlaceTogetherTest, LeavesWaitingWhatIsLeastUrgent) {
  ClusterBuilder().Machines("m", 10, {.cpu = 1000}).ApplyTo(&cluster_);
  for (uint32_t i = 1; i <= 40; ++i) {
    cluster_.Apply(
        Submitted(i, {.cpu = i % 2 == 0 ? 510 : 260, .priority = i}));
  }
  const RoundStats& stats = cluster_.Round();
  EXPECT_GT(stats.pending, 0);
  // Once a task of a size waits, so does all that is as large and less urgent.
  for (const uint32_t parity : {0u, 1u}) {
    bool is_waiting = false;
    for (uint32_t i = 40; i >= 1; --i) {
      if (i % 2 != parity) continue;
      EXPECT_TRUE(!is_waiting || cluster_.MachineOf(i).empty()) << i;
      is_waiting = is_waiting || cluster_.MachineOf(i).empty();
    }
  }
}

TEST_F(PlaceTogetherTest, LeavesFewPrioritiesToThePassesOfEach) {
  ClusterBuilder().Machines("m", 10, {.cpu = 10000}).ApplyTo(&cluster_);
  Submit(12, 90);
  EXPECT_EQ(cluster_.Round().passes, 12);
}

// Nothing less urgent runs where something more urgent was to.
TEST_F(PlaceTogetherTest, TakesBackWhatItDidNotPlaceAllOf) {
  ClusterBuilder().Machines("m", 10, {.cpu = 10000}).ApplyTo(&cluster_);
  for (uint32_t i = 1; i <= 40; ++i) {
    cluster_.Apply(Submitted(i, {.cpu = 100 * i, .priority = 41 - i}));
  }
  cluster_.scheduler().StartRound(0);
  int64_t passes = 0;
  while (const std::optional<FlowProblem> problem = cluster_.NextProblem()) {
    FlowSolution solution = cluster_.SolveFlow(*problem);
    if (++passes == 2) solution.outcome = SolveOutcome::kCancelled;
    cluster_.scheduler().FinishStep(solution);
    if (passes == 2) break;
  }
  ASSERT_EQ(passes, 2);
  EXPECT_FALSE(cluster_.scheduler().NextStep().has_value());
  EXPECT_EQ(cluster_.scheduler().round_stats().placed, 0);
  EXPECT_EQ(cluster_.state().pending_count(), 40);
  EXPECT_EQ(cluster_.Round().placed, 40);
}

TEST_F(PlaceTogetherTest, GoesOnWithoutAMachineThatWentAwayMeanwhile) {
  ClusterBuilder().Machines("m", 2, {.cpu = 1000}).ApplyTo(&cluster_);
  Submit(20, 100);
  cluster_.scheduler().StartRound(0);
  const std::optional<FlowProblem> problem = cluster_.NextProblem();
  ASSERT_TRUE(problem.has_value());
  const FlowSolution solution = cluster_.SolveFlow(*problem);
  cluster_.Apply(RemoveMachine{"m0"});
  cluster_.scheduler().FinishStep(solution);
  cluster_.FinishRound();
  for (uint64_t uid = 1; uid <= 20; ++uid) {
    EXPECT_EQ(cluster_.MachineOf(uid).empty(), uid <= 10) << uid;
  }
}

// What a packing planned, and the stage that places priorities by it.
class PlaceTogetherByPlanTest : public PlaceTogetherTest {
 protected:
  // A plan for all that waits.
  void Plan() {
    context_.emplace(
        RoundContext::Subject{cluster_.mutable_state(), cluster_.policies(),
                              cluster_.constraints(), cluster_.eligibility()},
        RoundOptions(), /*now_ms=*/0);
    context_->stats = &stats_;
    context_->plan.emplace();
    for (const auto& [key, tasks] : cluster_.state().pending()) {
      context_->plan->classes.push_back(key);
    }
    context_->plan->version = cluster_.state().version();
  }
  // The machine is to hold a task of each of these priorities.
  void PlanOn(const std::string& uuid,
              const std::vector<uint32_t>& priorities) {
    MachinePatterns& patterns = context_->plan->patterns;
    auto& pattern = patterns.patterns.emplace_back();
    for (const ClassKey& key : context_->plan->classes) {
      if (std::ranges::find(priorities, key.priority) != priorities.end()) {
        pattern[key] = 1;
      }
    }
    patterns.of_machine[cluster_.state().FindMachine(uuid)->id] =
        static_cast<uint32_t>(patterns.patterns.size());
  }
  RoundStats stats_;
  std::optional<RoundContext> context_;
};

TEST_F(PlaceTogetherByPlanTest, LooksForRoomOnceACommandHasComeMeanwhile) {
  ClusterBuilder().Machines("m", 2, {.cpu = 2000}).ApplyTo(&cluster_);
  Submit(20, 100);
  Plan();
  std::vector<uint32_t> priorities(20);
  std::iota(priorities.begin(), priorities.end(), 1);
  PlanOn("m0", priorities);
  Tier tier = {.priority = 20};
  const std::unique_ptr<Stage> stage = MakePlaceTogether(&*context_, tier);
  std::optional<RoundWork> work = stage->Next();
  ASSERT_TRUE(work.has_value());
  cluster_.Apply(RemoveMachine{"m1"});
  context_->has_changed = true;  // As the round notes it.
  for (; work.has_value(); work = stage->Next()) {
    stage->Finish(cluster_.Solve(*work));
  }
  stage->End();
  EXPECT_EQ(cluster_.MachineOf(20), "m0");
  EXPECT_NE(context_->plan->version, cluster_.state().version());
}

// All fits neither by the plan nor otherwise: a machine that has room for a
// part of what is planned there takes that part.
TEST_F(PlaceTogetherByPlanTest, KeepsMachinesThatLackRoomOnlyForALargerRange) {
  ClusterBuilder().Machines("m", 10, {.cpu = 1000}).ApplyTo(&cluster_);
  for (uint32_t i = 1; i <= 22; ++i) {
    cluster_.Apply(Submitted(i, {.cpu = i <= 13 ? 260 : 510, .priority = i}));
  }
  Plan();
  PlanOn("m5", {22, 2, 1});
  context_->plan->version = 0;  // Commands came meanwhile.
  Tier tier = {.priority = 22};
  const std::unique_ptr<Stage> stage = MakePlaceTogether(&*context_, tier);
  bool is_tried = false;  // On the machine, where a smaller range is tried.
  while (const std::optional<RoundWork> work = stage->Next()) {
    stage->Finish(cluster_.Solve(*work));
    is_tried |= stats_.placed == 1 && cluster_.MachineOf(22) == "m5";
  }
  stage->End();
  EXPECT_TRUE(is_tried);
}

}  // namespace
}  // namespace sluice
