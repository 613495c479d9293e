#include "core/known_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "core/round_packing.h"
#include "util/peer_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

// On a machine two tasks of priority 0 run, which may both be stopped for the
// two of priority 9.
class KnownPlanTest : public testing::Test {
 protected:
  KnownPlanTest() : cluster_({.preemption = {.mode = Preemption::kPriority}}) {
    cluster_.Apply(Added("m", {.cpu = 1000}));
    for (uint64_t uid = 1; uid <= 2; ++uid) {
      cluster_.Apply(Submitted(uid, {.cpu = 500}));
    }
    cluster_.Reply(1);
    for (uint64_t uid = 11; uid <= 12; ++uid) {
      cluster_.Apply(Submitted(uid, {.cpu = 500, .priority = 9}));
    }
    context_.emplace(
        RoundContext::Subject{cluster_.mutable_state(), cluster_.policies(),
                              cluster_.constraints(),
                              cluster_.scheduler().eligibility()},
        RoundOptions{.preemption = {.mode = Preemption::kPriority}}, 2);
    packing_ = DescribeRound(PackingScope::kPreempting, &*context_);
  }
  LevelCosts CostOfPlan(const std::vector<uint64_t>& nominated,
                        const std::vector<TaskId>& victims) {
    std::vector<Placement> placements;
    for (const uint64_t uid : nominated) {
      placements.push_back(
          {&cluster_.TaskOf(uid), cluster_.state().FindMachine("m")->id});
    }
    return CostOf(KnownPlan{placements, victims}, packing_, cluster_.state());
  }

  TestScheduler cluster_;
  std::optional<RoundContext> context_;
  RoundPacking packing_;
};

TEST_F(KnownPlanTest, CostsWhatThePatternsOfTheSameDo) {
  ASSERT_EQ(packing_.problem.classes.size(), 2u);
  const std::vector<Pattern> nobody_stopped = {{0, 1, {{1, 2}}}};
  EXPECT_EQ(CostOfPlan({}, {}), CostOf(nobody_stopped, packing_));
  const std::vector<Pattern> one_stopped = {{0, 1, {{0, 1}, {1, 1}}}};
  EXPECT_EQ(CostOfPlan({11}, {{1}}), CostOf(one_stopped, packing_));
  EXPECT_LT(CostOf(one_stopped, packing_), CostOf(nobody_stopped, packing_));
}

TEST_F(KnownPlanTest, CostsMoreWhereMoreIsStopped) {
  EXPECT_LT(CostOfPlan({11}, {{1}}), CostOfPlan({11}, {{1}, {2}}));
  EXPECT_LT(CostOfPlan({11, 12}, {{1}, {2}}), CostOfPlan({11}, {{1}}));
}

TEST_F(KnownPlanTest, CostsNoMoreWhereABudgetForbidsIt) {
  const LevelCosts before = CostOfPlan({11}, {{1}});
  // As if that were so.
  packing_.problem.classes[1].waiting[0].level = 0;
  EXPECT_EQ(CostOfPlan({11}, {{1}}), before);
}

}  // namespace
}  // namespace sluice
