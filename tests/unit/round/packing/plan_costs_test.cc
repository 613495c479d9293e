#include "round/packing/plan_costs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "round/packing/round_packing.h"
#include "util/peer_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

// On a machine two tasks of priority 0 run, which may both be stopped for the
// two of priority 9.
class PlanCostsTest : public testing::Test {
 protected:
  PlanCostsTest() : cluster_({.preemption = {.mode = Preemption::kPriority}}) {
    cluster_.Apply(Added("m", {.cpu = 1000}));
    for (uint64_t uid = 1; uid <= 2; ++uid) {
      cluster_.Apply(Submitted(uid, {.cpu = 500}));
    }
    cluster_.Reply(1);
    for (uint64_t uid = 11; uid <= 12; ++uid) {
      cluster_.Apply(
          Submitted(uid, {.cpu = 500, .priority = 9, .job = "urgent"}));
    }
    context_.emplace(
        RoundContext::Subject{cluster_.mutable_state(), cluster_.policies(),
                              cluster_.constraints(),
                              cluster_.scheduler().eligibility()},
        RoundOptions{.preemption = {.mode = Preemption::kPriority}}, 2);
    context_->stats = &stats_;
    packing_ = DescribeRound(PackingScope::kPreempting, &*context_);
  }
  LevelCosts CostOfPlan(const std::vector<uint64_t>& nominated,
                        const std::vector<TaskId>& victims) {
    KnownPlan plan{.victims = victims};
    for (const uint64_t uid : nominated) {
      plan.nominated.emplace_back(TaskId{uid},
                                  cluster_.state().FindMachine("m")->id);
    }
    return CostOfRest(CountPlaced(plan, packing_, cluster_.state()), packing_);
  }
  LevelCosts CostOf(const std::vector<Pattern>& patterns) const {
    return CostOfRest(CountPlaced(patterns, packing_), packing_);
  }

  TestScheduler cluster_;
  RoundStats stats_;
  std::optional<RoundContext> context_;
  RoundPacking packing_;
};

TEST_F(PlanCostsTest, CostsWhatThePatternsOfTheSameDo) {
  ASSERT_EQ(packing_.problem.classes.size(), 2u);
  const std::vector<Pattern> nobody_stopped = {{0, 1, {{1, 2}}}};
  EXPECT_EQ(CostOfPlan({}, {}), CostOf(nobody_stopped));
  const std::vector<Pattern> one_stopped = {{0, 1, {{0, 1}, {1, 1}}}};
  EXPECT_EQ(CostOfPlan({11}, {{1}}), CostOf(one_stopped));
  EXPECT_LT(CostOf(one_stopped), CostOf(nobody_stopped));
}

TEST_F(PlanCostsTest, CostsMoreWhereMoreIsStopped) {
  EXPECT_LT(CostOfPlan({11}, {{1}}), CostOfPlan({11}, {{1}, {2}}));
  EXPECT_LT(CostOfPlan({11, 12}, {{1}, {2}}), CostOfPlan({11}, {{1}}));
}

}  // namespace
}  // namespace sluice
