#include "packing/packing_rest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

MATCHER_P2(IsStep, count, cost, "") {
  return arg.count == count && arg.cost == cost;
}

TEST(AllOf, IsWhatTheProblemHas) {
  PackingProblem problem;
  problem.classes = {{.request = {1}, .waiting = {{2, 5}, {6, 7}}},
                     {.request = {1}, .waiting = {{3, 5}}}};
  problem.groups = {{{10}, 2, 0}, {{5}, 4, 0}};
  problem.caps = {{.classes = {0}, .most = 3, .rise_max = 9}};
  const PackingRest all = AllOf(problem);
  EXPECT_THAT(all.tasks, ElementsAre(8, 3));
  EXPECT_THAT(all.machines, ElementsAre(2, 4));
  EXPECT_THAT(all.caps, ElementsAre(3));
}

TEST(FirstSteps, AreTheCheapestToLeaveWaiting) {
  const PackingClass one = {.request = {}, .waiting = {{2, 5}, {6, 7}}};
  EXPECT_THAT(FirstSteps(one, 0), IsEmpty());
  EXPECT_THAT(FirstSteps(one, 1), ElementsAre(IsStep(1, 5)));
  EXPECT_THAT(FirstSteps(one, 2), ElementsAre(IsStep(2, 5)));
  EXPECT_THAT(FirstSteps(one, 5), ElementsAre(IsStep(2, 5), IsStep(3, 7)));
  EXPECT_THAT(FirstSteps(one, 8), ElementsAre(IsStep(2, 5), IsStep(6, 7)));
}

LevelCosts WaitingCostOf(const PackingClass& one, int64_t count) {
  LevelCosts cost;
  AddWaitingCost(one, count, &cost);
  return cost;
}

TEST(AddWaitingCost, AddsUpTheFirstSteps) {
  const PackingClass one = {.request = {},
                            .waiting = {{1, 8, 2}, {2, 5}, {6, 7}}};
  EXPECT_EQ(WaitingCostOf(one, 0), LevelCosts());
  EXPECT_EQ(WaitingCostOf(one, 1)[2], 8);
  EXPECT_EQ(WaitingCostOf(one, 1)[0], 0);
  EXPECT_EQ(WaitingCostOf(one, 4)[2], 8);
  EXPECT_EQ(WaitingCostOf(one, 4)[0], 17);
  EXPECT_EQ(WaitingCostOf({}, 0), LevelCosts());
}

}  // namespace
}  // namespace sluice
