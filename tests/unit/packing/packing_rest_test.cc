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

TEST(StepDownTo, IsAllThatIsAsUrgentAsThat) {
  const PackingClass one = {.request = {},
                            .waiting = {{3, 1, 3}, {2, 5, 1}, {1, 7, 0}}};
  EXPECT_THAT(StepDownTo(one, 6, 0), IsStep(1, 7));
  EXPECT_THAT(StepDownTo(one, 6, 2), IsStep(3, 5));
  EXPECT_THAT(StepDownTo(one, 4, 2), IsStep(1, 5)) << "the others are placed";
  EXPECT_THAT(StepDownTo(one, 6, 3), IsStep(6, 1));
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

// Two budgets: one of both classes above all, and one of the second.
PackingProblem WithBudgets() {
  PackingProblem problem;
  problem.classes = {{.request = {}, .waiting = {{4, 7, 3}, {2, 9, 2}}},
                     {.request = {}, .waiting = {{5, 8, 1}}}};
  problem.classes[0].budgets = {0};
  problem.classes[1].budgets = {0, 1};
  problem.budgets = {{.waiting_max = 6, .cost = 10, .level = 0},
                     {.waiting_max = 2, .cost = 20, .level = 3}};
  return problem;
}

TEST(ExcessOfBudgets, CountsWhatWaitsOfAllClasses) {
  const PackingProblem problem = WithBudgets();
  EXPECT_THAT(ExcessOfBudgets(problem, {1, 1}), ElementsAre(0, 0));
  EXPECT_THAT(ExcessOfBudgets(problem, {5, 4}), ElementsAre(3, 2));
  EXPECT_THAT(ExcessOfBudgets(PackingProblem(), {}), IsEmpty());
  LevelCosts cost;
  AddExcessCost(problem, {5, 4}, &cost);
  EXPECT_EQ(cost[0], 30);
  EXPECT_EQ(cost[1], 0);
  EXPECT_EQ(cost[3], 40);
}

TEST(MostUrgentOf, IsBeyondABudgetOrOfTheLastStep) {
  const PackingProblem problem = WithBudgets();
  const auto urgent = [&](size_t c, const std::vector<int64_t>& waiting) {
    return MostUrgentOf(problem, c, waiting, ExcessOfBudgets(problem, waiting));
  };
  EXPECT_THAT(urgent(0, {5, 1}), IsStep(1, 9));
  EXPECT_THAT(urgent(0, {5, 3}), IsStep(2, 10));
  EXPECT_EQ(urgent(0, {5, 3}).level, 0u);
  EXPECT_THAT(urgent(1, {1, 4}), IsStep(4, 8)) << "its budget matters less";
}

}  // namespace
}  // namespace sluice
