#include "packing/pattern_relaxation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "util/packing_builder.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr int64_t kPlenty = 100'000'000;
constexpr int64_t kMany = int64_t{1} << 40;

// The uppermost level is held at that waiting cost.
std::vector<int64_t> Held(int64_t cost) { return {cost}; }

// Ten machines of ten units; tasks of six and of five units.
PackingProblem SixesAndFives(int64_t sixes, int64_t fives) {
  PackingProblem problem = OneGroup({10}, 10);
  AddClass({.request = {6}, .waiting = {{sixes, 100}}}, 0, &problem);
  AddClass({.request = {5}, .waiting = {{fives, 100}}}, 0, &problem);
  return problem;
}

TEST(PatternRelaxation, KnowsThatTasksAreNotCutIntoPieces) {
  // By amounts all would fit: 16 tasks of six units in 100.
  const PackingProblem problem = SixesAndFives(16, 0);
  PatternRelaxation relaxation(problem, kPlenty);
  EXPECT_EQ(relaxation.Relax(AllOf(problem), {}).bound, 600);
}

TEST(PatternRelaxation, FindsThatAllFits) {
  const PackingProblem problem = SixesAndFives(4, 12);
  PatternRelaxation relaxation(problem, kPlenty);
  const auto relaxed = relaxation.Relax(AllOf(problem), {});
  EXPECT_EQ(relaxed.bound, 0);
  EXPECT_FALSE(relaxation.IsSpent());
  EXPECT_THAT(relaxed.amounts, Not(IsEmpty()));
}

// A master problem has a row for each class, and takes the square of that in
// space.
TEST(PatternRelaxation, MoreClassesThanThereIsTimeForHaveABoundBySize) {
  constexpr int64_t kClasses = 3000;
  PackingProblem problem = OneGroup({2 * kClasses}, 1000);
  for (int64_t c = 0; c < kClasses; ++c) {
    AddClass({.request = {kClasses + c}, .waiting = {{1, 100}}}, 1, &problem);
  }
  PatternRelaxation relaxation(problem, kPlenty);
  const auto waiting = relaxation.Relax(AllOf(problem), {});
  EXPECT_THAT(waiting.amounts, IsEmpty());
  // Even if all were of the smallest size.
  EXPECT_GE(waiting.bound, (kClasses - 2 * 1000) * 100);
  const auto placed = relaxation.Relax(AllOf(problem), Held(waiting.bound));
  EXPECT_THAT(placed.amounts, IsEmpty());
  EXPECT_EQ(placed.bound, 0);
  EXPECT_EQ(relaxation.BoundAt(AllOf(problem), Held(0), placed.prices), 0);
  EXPECT_FALSE(relaxation.IsSpent());
}

TEST(PatternRelaxation, BoundsAreMultiplesOfWhatAllCostsAreMultiplesOf) {
  // Half a machine's worth is too many: two and a half machines for two tasks
  // each, three tasks by two on a machine of three classes.
  PackingProblem problem;
  problem.classes = {{.request = {1, 1, 0}, .waiting = {{1, 100}}},
                     {.request = {1, 0, 1}, .waiting = {{1, 100}}},
                     {.request = {0, 1, 1}, .waiting = {{1, 100}}}};
  problem.groups = {{{1, 1, 1}, 2, 0}};
  problem.costs = {{0, 0, 0}};
  PatternRelaxation relaxation(problem, kPlenty);
  EXPECT_EQ(relaxation.Relax(AllOf(problem), {}).bound, 100);
}

TEST(PatternRelaxation, PlacedCostIsThatOfTheDearerMachinesThatAreNeeded) {
  PackingProblem problem = SixesAndFives(0, 10);
  problem.groups = {{{10}, 3, 0}, {{10}, 5, 1}};
  problem.costs = {{1, 1}, {1, 4}};
  PatternRelaxation relaxation(problem, kPlenty);
  EXPECT_EQ(relaxation.Relax(AllOf(problem), {}).bound, 0);
  EXPECT_EQ(relaxation.Relax(AllOf(problem), Held(0)).bound, 6 + 4 * 4);
  // Each task that may wait saves the dearest place.
  EXPECT_EQ(relaxation.Relax(AllOf(problem), Held(100)).bound, 6 + 3 * 4);
  EXPECT_EQ(relaxation.Relax(AllOf(problem), Held(1000)).bound, 0);
}

TEST(PatternRelaxation, TheCheapestTasksOfAClassWait) {
  PackingProblem problem = SixesAndFives(12, 0);
  problem.classes[0].waiting = {{1, 3}, {1, 5}, {10, 100}};
  PatternRelaxation relaxation(problem, kPlenty);
  EXPECT_EQ(relaxation.Relax(AllOf(problem), {}).bound, 8);
}

TEST(PatternRelaxation, ManyStepsDoNotWeakenWhatIsProved) {
  PackingProblem problem = SixesAndFives(0, 0);
  for (int64_t i = 0; i < 30; ++i) {
    problem.classes[0].waiting.push_back({1, 10 + i * i});
  }
  PatternRelaxation relaxation(problem, kPlenty);
  int64_t cost = 0;
  for (int64_t i = 0; i < 20; ++i) cost += 10 + i * i;
  const int64_t bound = relaxation.Relax(AllOf(problem), {}).bound;
  EXPECT_LE(bound, cost);
  EXPECT_GE(bound, cost * 9 / 10);
}

TEST(PatternRelaxation, StepsWithoutTasksChangeNothing) {
  PackingProblem problem = SixesAndFives(12, 0);
  problem.classes[0].waiting = {{0, 1}, {0, 2},  {0, 3},  {0, 4}, {0, 5},
                                {0, 6}, {12, 7}, {0, 80}, {0, 90}};
  PatternRelaxation relaxation(problem, kPlenty);
  EXPECT_EQ(relaxation.Relax(AllOf(problem), {}).bound, 14);
}

TEST(PatternRelaxation, RelaxesWhatIsLeft) {
  const PackingProblem problem = SixesAndFives(12, 20);
  PatternRelaxation relaxation(problem, kPlenty);
  EXPECT_EQ(relaxation.Relax({{3, 0}, {2}}, {}).bound, 100);
  EXPECT_EQ(relaxation.Relax({{3, 5}, {0}}, {}).bound, 800);
  EXPECT_EQ(relaxation.Relax({{0, 0}, {10}}, {}).bound, 0);
}

TEST(PatternRelaxation, WhatMayGoNowhereWaits) {
  PackingProblem problem = SixesAndFives(2, 2);
  problem.costs = {{kNotAllowed, 0}};
  PatternRelaxation relaxation(problem, kPlenty);
  EXPECT_EQ(relaxation.Relax(AllOf(problem), {}).bound, 200);
}

TEST(PatternRelaxation, HasAnAnswerToNothing) {
  for (const bool has_group : {false, true}) {
    PackingProblem problem;
    if (has_group) {
      problem.groups = {{{10}, 3, 0}};
      problem.costs = {{}};
    }
    PatternRelaxation relaxation(problem, kPlenty);
    const auto relaxed = relaxation.Relax(AllOf(problem), {});
    EXPECT_EQ(relaxed.bound, 0);
    EXPECT_THAT(relaxed.amounts, IsEmpty());
  }
}

TEST(PatternRelaxation, EverythingWaitsWithoutGroups) {
  PackingProblem problem = SixesAndFives(2, 3);
  problem.groups.clear();
  problem.costs.clear();
  PatternRelaxation relaxation(problem, kPlenty);
  EXPECT_EQ(relaxation.Relax(AllOf(problem), {}).bound, 500);
}

TEST(PatternRelaxation, SaysThatItEndedEarly) {
  const PackingProblem problem = SixesAndFives(16, 9);
  PatternRelaxation relaxation(problem, 1);
  const auto relaxed = relaxation.Relax(AllOf(problem), {});
  EXPECT_TRUE(relaxation.IsSpent());
  EXPECT_LE(relaxed.bound, 1100);
}

TEST(PatternRelaxation, CopesWithHugeAmountsAndCounts) {
  PackingProblem problem;
  problem.classes = {
      {.request = {int64_t{1} << 20, 0}, .waiting = {{kMany, 7}}},
      {.request = {0, 0}, .waiting = {{kMany, 1 << 20}}},
      {.request = {int64_t{1} << 59, 1}, .waiting = {{3, 1}}}};
  problem.groups = {{{int64_t{1} << 60, 1}, kMany, 0}};
  problem.costs = {{1 << 20, 1, 1}};
  PatternRelaxation relaxation(problem, kPlenty);
  EXPECT_EQ(relaxation.Relax(AllOf(problem), {}).bound, 0);
  const int64_t bound = relaxation.Relax(AllOf(problem), Held(0)).bound;
  EXPECT_LE(bound, (kMany << 20) + kMany + 3);
  EXPECT_GE(bound, (kMany << 20) / 100 * 99);
}

TEST(PatternRelaxation, CopesWithHugePrices) {
  // Without a pattern to begin with, what may not wait is worth the most.
  PackingProblem problem;
  problem.classes = {{.request = {0}, .waiting = {{kMany, 1 << 20}}},
                     {.request = {1}, .waiting = {{1, 1}}}};
  problem.groups = {{{1}, kMany, 0}};
  problem.costs = {{1, int64_t{1} << 60}};
  PatternRelaxation relaxation(problem, kPlenty);
  EXPECT_LE(relaxation.Relax(AllOf(problem), Held(0)).bound,
            (int64_t{1} << 60) + kMany);
}

TEST(PatternRelaxation, HoldsTheLevelsAboveAtWhatTheyMayLeave) {
  // Two machines of ten units.  Of level 0 three tasks of six units, of level 1
  // four of four.
  PackingProblem problem;
  problem.classes = {{.request = {6}, .waiting = {{3, 100}}},
                     {.request = {4}, .waiting = {{4, 7, 1}}}};
  problem.groups = {{{10}, 2, 0}};
  problem.costs = {{3, 1}};
  PatternRelaxation relaxation(problem, kPlenty);
  ASSERT_EQ(relaxation.level_count(), 2u);
  EXPECT_EQ(relaxation.Relax(AllOf(problem), {}).bound, 100);
  EXPECT_EQ(relaxation.Relax(AllOf(problem), Held(100)).bound, 14);
  // What waits of the upper level makes room for the lower.
  EXPECT_EQ(relaxation.Relax(AllOf(problem), Held(200)).bound, 7);
  EXPECT_EQ(relaxation.Relax(AllOf(problem), Held(300)).bound, 0);
  EXPECT_EQ(
      relaxation.Relax(AllOf(problem), std::vector<int64_t>{100, 14}).bound,
      2 * 3 + 2 * 1);
}

TEST(PatternRelaxation, ClassesMayHaveTasksOfSeveralLevels) {
  PackingProblem problem;
  problem.classes = {{.request = {5}, .waiting = {{4, 9, 2}, {1, 5}}},
                     {.request = {10}, .waiting = {{2, 6, 1}}}};
  problem.groups = {{{10}, 2, 0}};
  problem.costs = {{0, 0}};
  PatternRelaxation relaxation(problem, kPlenty);
  EXPECT_EQ(relaxation.Relax(AllOf(problem), {}).bound, 0);
  EXPECT_EQ(relaxation.Relax(AllOf(problem), Held(0)).bound, 6);
  EXPECT_EQ(relaxation.Relax(AllOf(problem), std::vector<int64_t>{0, 6}).bound,
            3 * 9);
}

TEST(PatternRelaxation, FillsByLevelWithNoMoreThanTheMostUrgent) {
  PackingProblem problem;
  problem.classes = {{.request = {1}, .waiting = {{3, 100, 2}, {1, 1, 0}}},
                     {.request = {1}, .waiting = {{2, 1, 1}}},
                     {.request = {1}, .waiting = {{2, 2, 1}}}};
  problem.groups = {{{2}, 1, 0}, {{3}, 1, 0}};
  problem.costs = {{0, 0, 0}};
  PatternRelaxation relaxation(problem, kPlenty);
  const std::vector<std::vector<double>> values = {
      {64, 64, 64}, {8, 8, 16}, {1, 1, 1}};
  EXPECT_THAT(relaxation.FillByLevel(AllOf(problem), {}, values),
              ElementsAre(Pattern{0, 1, {{0, 1}, {2, 1}}},
                          Pattern{1, 1, {{1, 2}, {2, 1}}}));
  EXPECT_THAT(
      relaxation.FillByLevel(AllOf(problem), {.first_group = 1}, values),
      ElementsAre(Pattern{1, 1, {{0, 1}, {2, 2}}}, Pattern{0, 1, {{1, 2}}}));
}

// Two that must not wait go beside each other, although one is more urgent.
TEST(PatternRelaxation, FillsByLevelWithAllOfAClassDownToALevel) {
  PackingProblem problem;
  problem.classes = {
      {.request = {1}, .waiting = {{3, 1, 3}, {1, 1, 1}, {1, 1, 0}}},
      {.request = {1}, .waiting = {{2, 1, 2}}}};
  problem.groups = {{{2}, 1, 0}, {{2}, 1, 0}};
  problem.costs = {{0, 0}};
  PatternRelaxation relaxation(problem, kPlenty);
  const std::vector<std::vector<double>> values = {
      {64, 64}, {32, 32}, {8, 8}, {1, 1}};
  EXPECT_THAT(relaxation.FillByLevel(AllOf(problem), {}, values),
              ElementsAre(Pattern{0, 1, {{0, 1}, {1, 1}}},
                          Pattern{1, 1, {{0, 1}, {1, 1}}}));
  EXPECT_THAT(relaxation.FillByLevel(AllOf(problem), {.together = 1}, values),
              ElementsAre(Pattern{0, 1, {{0, 2}}}, Pattern{1, 1, {{1, 2}}}));
}

TEST(PatternRelaxation, FillsNoMoreMachinesByLevelThanMustBe) {
  PackingProblem problem;
  problem.classes = {{.request = {1}, .waiting = {{6, 1, 1}}}};
  problem.classes[0].budgets = {0};
  problem.budgets = {{.waiting_max = 3}};
  problem.groups = {{{2}, 3, 0}};
  problem.costs = {{0}};
  PatternRelaxation relaxation(problem, kPlenty);
  const auto packing = relaxation.FillByLevel(AllOf(problem), {}, {{8}, {1}});
  ASSERT_FALSE(packing.empty());
  EXPECT_EQ(packing[0], (Pattern{0, 1, {{0, 2}}})) << "one more must not wait";
}

TEST(PatternRelaxation, FillsNoMoreMachinesOnceItsWorkIsDone) {
  PackingProblem problem = SixesAndFives(3000, 3000);
  problem.groups.assign(1000, {{10}, 1, 0});
  // What the first machine takes may be more.
  PatternRelaxation relaxation(problem, 10);
  const auto packings = relaxation.Seed();
  EXPECT_LT(relaxation.work(), 200);
  for (const std::vector<Pattern>& packing : packings) {
    EXPECT_LE(packing.size(), 1);
  }
  PatternRelaxation patient(problem, kPlenty);
  EXPECT_EQ(patient.Seed().front().size(), 1000);
}

TEST(PatternRelaxation, TheSameCallsGiveTheSame) {
  const PackingProblem problem = SixesAndFives(13, 17);
  PatternRelaxation one(problem, kPlenty);
  PatternRelaxation other(problem, kPlenty);
  for (const std::vector<int64_t>& held : {std::vector<int64_t>(), Held(900)}) {
    const auto a = one.Relax(AllOf(problem), held);
    const auto b = other.Relax(AllOf(problem), held);
    EXPECT_EQ(a.bound, b.bound);
    ASSERT_EQ(a.amounts.size(), b.amounts.size());
    for (size_t i = 0; i < a.amounts.size(); ++i) {
      EXPECT_EQ(a.amounts[i].pattern, b.amounts[i].pattern);
      EXPECT_EQ(a.amounts[i].machines, b.amounts[i].machines);
    }
  }
  EXPECT_EQ(one.work(), other.work());
}

}  // namespace
}  // namespace sluice
