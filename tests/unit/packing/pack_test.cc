#include "packing/pack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "base/rng.h"
#include "oracle/packing_reference.h"
#include "oracle/random_packing.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr int64_t kPlenty = 100'000'000;
constexpr int64_t kHuge = int64_t{1} << 60;
constexpr int64_t kMany = int64_t{1} << 40;

// Packs, and checks what is said of the packing.
PackingSolution PackAndCheck(const PackingProblem& problem,
                             int64_t work_max = kPlenty) {
  PackingSolution solution = Pack(problem, {.work_max = work_max});
  EXPECT_THAT(CheckPacking(problem, solution), IsOk())
      << DescribePacking(problem);
  return solution;
}

TEST(Pack, TasksThatFitTogetherShareMachines) {
  PackingProblem problem;
  problem.classes = {{.request = {7, 2}, .waiting = {{3, 10}}},
                     {.request = {3, 8}, .waiting = {{3, 10}}}};
  problem.groups = {{{10, 10}, 3, 0}};
  problem.costs = {{0, 0}};
  const PackingSolution solution = PackAndCheck(problem);
  EXPECT_EQ(solution.cost, PackingCost());
  EXPECT_EQ(solution.bound, PackingCost());
  EXPECT_FALSE(solution.is_cut_short);
  ASSERT_THAT(solution.patterns, SizeIs(1));
  EXPECT_EQ(solution.patterns[0].machines, 3);
  EXPECT_THAT(solution.patterns[0].tasks, ElementsAre(Pair(0, 1), Pair(1, 1)));
}

TEST(Pack, LeavesWaitingWhatCostsTheLeast) {
  PackingProblem problem;
  problem.classes = {{.request = {4}, .waiting = {{1, 5}, {3, 20}}},
                     {.request = {4}, .waiting = {{2, 7}, {2, 30}}}};
  problem.groups = {{{8}, 2, 0}};
  problem.costs = {{3, 0}};
  const PackingSolution solution = PackAndCheck(problem);
  EXPECT_EQ(solution.cost, (PackingCost{5 + 20 + 7 + 7, 6}));
  EXPECT_EQ(solution.bound, solution.cost);
}

TEST(Pack, WaitingCostsMoreThanAnyPlace) {
  PackingProblem problem;
  problem.classes = {{.request = {1}, .waiting = {{1, 1}}}};
  problem.groups = {{{1}, 1, 0}};
  problem.costs = {{1'000'000'000}};
  EXPECT_EQ(PackAndCheck(problem).cost, (PackingCost{0, 1'000'000'000}));
}

TEST(Pack, PrefersTheCheaperOfTwoKinds) {
  PackingProblem problem;
  problem.classes = {{.request = {5}, .waiting = {{3, 10}}}};
  problem.groups = {{{10}, 5, 0}, {{9}, 1, 1}, {{10}, 1, 2}};
  problem.costs = {{9}, {2}, {4}};
  EXPECT_EQ(PackAndCheck(problem).cost, (PackingCost{0, 2 + 4 + 4}));
}

TEST(Pack, HeedsForbiddenMachinesAndTheMostThatMayShareOne) {
  PackingProblem problem;
  problem.classes = {
      {.request = {1}, .waiting = {{9, 1}}, .per_machine_max = 2}};
  problem.groups = {{{100}, 3, 0}, {{100}, 5, 1}};
  problem.costs = {{0}, {kNotAllowed}};
  const PackingSolution solution = PackAndCheck(problem);
  EXPECT_EQ(solution.cost, (PackingCost{3, 0}));
  EXPECT_EQ(solution.bound, solution.cost);
}

// Three machines of ten: one with ten that are cheap to stop, one with two that
// are dear, and one with a cheap one and a dear one.  The urgent task asks for
// five.
PackingProblem FullMachines() {
  PackingProblem problem;
  problem.classes = {{.request = {5}, .waiting = {{1, 1, 0}}},
                     {.request = {1}, .waiting = {{10, 1, 2}}, .runs = true},
                     {.request = {5}, .waiting = {{3, 1, 1}}, .runs = true},
                     {.request = {5}, .waiting = {{1, 3, 2}}, .runs = true}};
  problem.groups = {{{10}, 1, 0}, {{10}, 1, 1}, {{10}, 1, 2}};
  problem.costs.assign(3, {0, 0, 0, 0});
  problem.staying = {{{1, 10}}, {{2, 2}}, {{2, 1}, {3, 1}}};
  return problem;
}

TEST(Pack, StopsWhatIsCheapestToStopAndNoMore) {
  PackingProblem problem = FullMachines();
  const PackingSolution solution = PackAndCheck(problem);
  LevelCosts waiting;
  waiting.Add(2, 3);
  EXPECT_EQ(solution.cost, (PackingCost{waiting, 0}));
  EXPECT_EQ(solution.bound, solution.cost);
  EXPECT_THAT(solution.patterns,
              ElementsAre(Pattern{0, 1, {{1, 10}}}, Pattern{1, 1, {{2, 2}}},
                          Pattern{2, 1, {{0, 1}, {2, 1}}}));
}

// A machine of two with two tasks, of which one may be stopped, and a machine
// of one with a more urgent task.  One newcomer is urgent, one hardly.  Half
// the time all that runs and half the time all newcomers, which is what the
// relaxation may take for the larger machine, is not what it should hold.
TEST(Pack, StopsOneOfTwo) {
  PackingProblem problem;
  problem.classes = {
      {.request = {1}, .waiting = {{1, 1, 5}, {1, 1, 1}}},
      {.request = {1}, .waiting = {{1, 1, 2}}, .runs = true},
      {.request = {1}, .waiting = {{1, 1, 4}, {1, 1, 0}}, .runs = true}};
  problem.groups = {{{1}, 1, 0}, {{2}, 1, 1}};
  problem.costs.assign(2, {0, 0, 0});
  problem.staying = {{{1, 1}}, {{2, 2}}};
  const PackingSolution solution = PackAndCheck(problem);
  EXPECT_THAT(solution.patterns,
              UnorderedElementsAre(Pattern{0, 1, {{1, 1}}},
                                   Pattern{1, 1, {{0, 1}, {2, 1}}}));
  EXPECT_EQ(solution.bound, solution.cost);
}

// A gang of four that goes on with three, and of which one task is dearer to
// stop.  One of two newcomers finds room if it loses one of two of its tasks,
// and both only if it leaves as a whole, which is too dear.
TEST(Pack, StopsAnyOneOfAGangThatGoesOnWithoutIt) {
  PackingProblem problem;
  problem.classes = {
      {.request = {6}, .waiting = {{2, 1, 1}}},
      {.request = {3}, .waiting = {{3, 1, 2}}, .budgets = {0}, .runs = true},
      {.request = {3}, .waiting = {{1, 2, 2}}, .budgets = {0}, .runs = true}};
  problem.groups = {{{6}, 2, 0}, {{3}, 1, 0}, {{3}, 1, 1}};
  problem.costs.assign(2, {0, 0, 0});
  problem.staying = {{{1, 1}}, {{2, 1}}};
  problem.gangs = {{{1, 2}, 3}};
  problem.budgets = {{2, 1, 0}};
  const PackingSolution solution = PackAndCheck(problem);
  const std::vector<int64_t> waiting = {0, 1, 1};
  EXPECT_EQ(solution.cost.waiting, LevelCosts(waiting));
  EXPECT_EQ(solution.bound, solution.cost);
}

// Two machines of ten that run two tasks of three units each; none is stopped
// for a large one of the lowest level, but some may move.
TEST(Pack, MovesWhatRunsWhereThatMakesRoom) {
  PackingProblem problem;
  problem.classes = {{.request = {5}, .waiting = {{1, 1, 1}}},
                     {.request = {3}, .waiting = {{4, 1, 0}}, .runs = true}};
  problem.classes[1].move_cost = 7;
  problem.groups = {{{10}, 2, 0}};
  problem.costs = {{0, 2}};
  problem.staying = {{{1, 2}}};
  const PackingSolution solution = PackAndCheck(problem);
  EXPECT_EQ(solution.cost, (PackingCost{LevelCosts(), 4 * 2 + 7}));
  EXPECT_EQ(solution.bound, solution.cost);
  EXPECT_THAT(solution.patterns,
              UnorderedElementsAre(Pattern{0, 1, {{1, 3}}},
                                   Pattern{0, 1, {{0, 1}, {1, 1}}}));
  // Not where nothing is gained.
  problem.classes[0].waiting.clear();
  EXPECT_EQ(PackAndCheck(problem).cost, (PackingCost{LevelCosts(), 4 * 2}));
}

TEST(Pack, StopsManyOfALowerLevelRatherThanOneOfAHigher) {
  PackingProblem problem = FullMachines();
  problem.classes[0].waiting[0].count = 3;
  // Ten that are cheap to stop make room for two, and so does the dearer one.
  const PackingSolution solution = PackAndCheck(problem);
  LevelCosts waiting;
  waiting.Add(2, 10 + 3);
  EXPECT_EQ(solution.cost, (PackingCost{waiting, 0}));
}

TEST(Pack, StopsNobodyForWhatIsLessUrgent) {
  PackingProblem problem = FullMachines();
  problem.classes[0].waiting[0].level = 2;
  problem.classes[0].waiting[0].cost = 100;
  for (const size_t c : {1, 2, 3}) problem.classes[c].waiting[0].level -= 1;
  LevelCosts waiting;
  waiting.Add(2, 100);
  EXPECT_EQ(PackAndCheck(problem).cost, (PackingCost{waiting, 0}));
}

TEST(Pack, HasAnAnswerToNothing) {
  PackingProblem problem;
  EXPECT_EQ(PackAndCheck(problem).cost, PackingCost());
  problem.groups = {{{5}, 2, 0}};
  problem.costs = {{}};
  EXPECT_THAT(PackAndCheck(problem).patterns, IsEmpty());
  problem.classes = {{.request = {1}, .waiting = {}}};
  problem.costs = {{0}};
  EXPECT_THAT(PackAndCheck(problem).patterns, IsEmpty());
}

TEST(Pack, EverythingWaitsWithoutMachines) {
  PackingProblem problem;
  problem.classes = {{.request = {1}, .waiting = {{2, 3}}}};
  EXPECT_EQ(PackAndCheck(problem).cost, (PackingCost{6, 0}));
  problem.groups = {{{5}, 0, 0}};
  problem.costs = {{1}};
  const PackingSolution solution = PackAndCheck(problem);
  EXPECT_EQ(solution.cost, (PackingCost{6, 0}));
  EXPECT_EQ(solution.bound, solution.cost);
}

TEST(Pack, PlacesWhatAsksForNothingOnFullMachines) {
  PackingProblem problem;
  problem.classes = {{.request = {0, 0}, .waiting = {{4, 3}}},
                     {.request = {0, 1}, .waiting = {{4, 3}}}};
  problem.groups = {{{0, 0}, 1, 0}};
  problem.costs = {{1, 1}};
  EXPECT_EQ(PackAndCheck(problem).cost, (PackingCost{12, 4}));
}

TEST(Pack, GroupsThatNoTaskTellsApartArePackedAsOne) {
  PackingProblem problem;
  problem.classes = {{.request = {4}, .waiting = {{9, 1}}}};
  for (int64_t i = 0; i < 3; ++i) problem.groups.push_back({{8 + i}, 1, 0});
  problem.costs = {{0}};
  const PackingSolution solution = PackAndCheck(problem);
  EXPECT_EQ(solution.cost, (PackingCost{3, 0}));
  EXPECT_THAT(solution.patterns, SizeIs(3));
}

TEST(Pack, IsNoWorseThanWhatIsKnownHoweverEarlyTheWorkEnds) {
  // Machines by number, of which each class likes its own.
  PackingProblem problem;
  for (size_t c = 0; c < 5; ++c) {
    problem.classes.push_back({.request = {3, 1}, .waiting = {{9, 40}}});
    problem.groups.push_back({{10, 5}, 3, c});
    problem.costs.push_back({7, 7, 7, 7, 7});
    problem.costs[c][c] = 1;
    problem.former.push_back({c, 3, {{c, 3}}});
  }
  EXPECT_EQ(PackAndCheck(problem, 0).cost, (PackingCost{0, 45}));
  EXPECT_EQ(PackAndCheck(problem).cost, (PackingCost{0, 45}));
}

TEST(Pack, PacksMachinesOfWhichNoTwoAreAlike) {
  Rng rng(7);
  PackingProblem problem;
  problem.costs = {{3, 0, 9, 4}, {0, 5, 2, kNotAllowed}};
  for (int64_t c = 0; c < 4; ++c) {
    problem.classes.push_back(
        {.request = {rng.Between(50, 400), rng.Between(50, 400)},
         .waiting = {{400, 1000}, {200, 1500}}});
  }
  for (size_t i = 0; i < 600; ++i) {
    problem.groups.push_back(
        {{rng.Between(0, 1500), rng.Between(0, 1500)}, 1, i % 2});
  }
  const PackingSolution solution = PackAndCheck(problem);
  EXPECT_LT(solution.cost.waiting, 4 * (400 * 1000 + 200 * 1500));
  EXPECT_GT(solution.bound.waiting[0], solution.cost.waiting[0] * 9 / 10);
}

// Of unlike machines half have room for a task, and there are more tasks: what
// waits must, which prices prove but no sum of sizes does.
TEST(Pack, LooksNoFurtherOnceItIsProvedThatWhatWaitsMust) {
  PackingProblem problem;
  problem.classes = {{.request = {700}, .waiting = {{400, 10}}},
                     {.request = {1}, .waiting = {{100'000, 1}}}};
  problem.costs = {{0, 0}};
  for (int64_t i = 0; i < 600; ++i) {
    problem.groups.push_back({{400 + i}, 1, 0});
  }
  const PackingSolution solution = PackAndCheck(problem);
  EXPECT_EQ(solution.cost, PackingCost(1000, 0));
  EXPECT_EQ(solution.bound, solution.cost);
  EXPECT_LT(solution.work, 100'000);
}

TEST(Pack, CopesWithHugeAmounts) {
  PackingProblem problem;
  problem.classes = {{.request = {kHuge / 2 + 1, 5}, .waiting = {{3, 1}}},
                     {.request = {kHuge / 2 - 1, 7}, .waiting = {{2, 1}}}};
  problem.groups = {{{kHuge, kHuge}, 2, 0}, {{kHuge - 1, 12}, 1, 0}};
  problem.costs = {{0, 0}};
  EXPECT_EQ(PackAndCheck(problem).cost, PackingCost());
}

TEST(Pack, CopesWithHugeCounts) {
  PackingProblem problem;
  problem.classes = {{.request = {kHuge / 2}, .waiting = {{kMany, 1}, {9, 2}}},
                     {.request = {1}, .waiting = {{kMany, 1 << 20}}},
                     {.request = {0}, .waiting = {{kMany, 5}}}};
  problem.groups = {{{kHuge}, kMany / 4, 0}, {{kMany}, 3, 1}};
  problem.costs = {{2, 1, 0}, {0, 1 << 20, kNotAllowed}};
  const PackingSolution solution = PackAndCheck(problem);
  // Two of the first class on each machine of the first group; all of the
  // second class on one of the second group.
  EXPECT_EQ(solution.cost.waiting, kMany / 2 + 9);
  EXPECT_GE(solution.bound.waiting, kMany / 2);
}

TEST(Pack, CopesWithHugeCostsOfPlaces) {
  // Prices that keep the many from waiting are far above what any place costs.
  PackingProblem problem;
  problem.classes = {{.request = {0}, .waiting = {{kMany, 1 << 20}}},
                     {.request = {1}, .waiting = {{1, 1}}}};
  problem.groups = {{{1}, kMany, 0}};
  problem.costs = {{1, kHuge}};
  const PackingSolution solution = PackAndCheck(problem);
  EXPECT_EQ(solution.cost, (PackingCost{0, kHuge + kMany}));
}

TEST(Pack, CopesWithTheLargestAmountsThereAre) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  PackingProblem problem;
  problem.classes = {{.request = {kMax, 0}, .waiting = {{2, 1}}},
                     {.request = {1, kMax}, .waiting = {{2, 1}}},
                     {.request = {kMax - 1, 0}, .waiting = {{2, 1}}}};
  problem.groups = {{{kMax, kMax}, 3, 0}};
  problem.costs = {{0, 0, 0}};
  EXPECT_EQ(PackAndCheck(problem).cost, (PackingCost{1, 0}));
}

TEST(Pack, EndsSoonWhereLittleWorkIsAllowed) {
  const PackingShape shape = {.groups_max = 12,
                              .machines_min = 60,
                              .machines_max = 60,
                              .classes_min = 12,
                              .classes_max = 12,
                              .tasks_max = 40};
  int64_t with_plenty = 0;
  int64_t with_none = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const PackingProblem problem = MakeRandomPacking(shape, &rng);
    with_plenty += PackAndCheck(problem).work;
    const PackingSolution least = PackAndCheck(problem, 0);
    EXPECT_TRUE(least.is_cut_short);
    with_none += least.work;
  }
  // Proving something and filling machines up takes some work in any case.
  EXPECT_LT(4 * with_none, with_plenty);
}

// Packs problems of that shape twice.
void CheckSolutionsAreTheSame(const PackingShape& shape) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const PackingProblem problem = MakeRandomPacking(shape, &rng);
    const PackingSolution a = Pack(problem, {.work_max = kPlenty});
    const PackingSolution b = Pack(problem, {.work_max = kPlenty});
    EXPECT_EQ(a.cost, b.cost);
    EXPECT_EQ(a.bound, b.bound);
    EXPECT_EQ(a.work, b.work);
    ASSERT_EQ(a.patterns.size(), b.patterns.size());
    for (size_t i = 0; i < a.patterns.size(); ++i) {
      EXPECT_EQ(a.patterns[i].group, b.patterns[i].group);
      EXPECT_EQ(a.patterns[i].machines, b.patterns[i].machines);
      EXPECT_EQ(a.patterns[i].tasks, b.patterns[i].tasks);
    }
  }
}

TEST(Pack, TheSameProblemGivesTheSameSolution) {
  CheckSolutionsAreTheSame(
      {.machines_max = 20, .classes_max = 6, .tasks_max = 15});
  CheckSolutionsAreTheSame({.machines_max = 20,
                            .classes_max = 6,
                            .tasks_max = 15,
                            .needs_company = true});
}

// Too many for all placements to be tried; what is known already is kept.
TEST(Pack, LeavesNoTaskWithoutItsCompany) {
  const PackingShape shape = {.groups_max = 8,
                              .machines_min = 10,
                              .machines_max = 40,
                              .classes_min = 3,
                              .classes_max = 10,
                              .tasks_max = 30,
                              .levels_max = 3,
                              .keeps_apart = true,
                              .caps_max = 2,
                              .has_spread = true,
                              .needs_company = true};
  for (uint64_t seed = 0; seed < 100 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    PackingProblem problem = MakeRandomPacking(shape, &rng);
    const PackingSolution former = PackAndCheck(problem, 1'000'000);
    problem.former = former.patterns;
    for (const int64_t work_max : {0, 1'000, 100'000}) {
      EXPECT_LE(PackAndCheck(problem, work_max).cost, former.cost);
    }
  }
}

TEST(Pack, DecidesOnAllLevelsTogether) {
  // Of level 0 two tasks of five units, which one machine can hold; then there
  // is room for the ten of level 1.
  PackingProblem problem;
  problem.classes = {{.request = {5}, .waiting = {{2, 3}}},
                     {.request = {10}, .waiting = {{1, 3, 1}}}};
  problem.groups = {{{10}, 2, 0}};
  problem.costs = {{0, 0}};
  const PackingSolution solution = PackAndCheck(problem);
  EXPECT_EQ(solution.cost, PackingCost());
  EXPECT_EQ(solution.bound, PackingCost());
}

TEST(Pack, NoNumberOfTasksOutweighsOneOfALevelAbove) {
  PackingProblem problem;
  problem.classes = {{.request = {9}, .waiting = {{1, 1}}},
                     {.request = {1}, .waiting = {{10, 1'000'000, 1}}}};
  problem.groups = {{{10}, 1, 0}};
  problem.costs = {{1'000'000, 0}};
  const PackingSolution solution = PackAndCheck(problem);
  EXPECT_EQ(solution.cost.waiting[0], 0);
  EXPECT_EQ(solution.cost.waiting[1], 9'000'000);
  EXPECT_EQ(solution.bound, solution.cost);
}

TEST(Pack, TasksOfOneKindAreTakenByTheirLevels) {
  // Two classes that ask for the same are one, whatever their levels.
  PackingProblem problem;
  problem.classes = {{.request = {1}, .waiting = {{3, 1, 1}}},
                     {.request = {1}, .waiting = {{3, 1, 0}}}};
  problem.groups = {{{4}, 1, 0}};
  problem.costs = {{0, 0}};
  const PackingSolution solution = PackAndCheck(problem);
  EXPECT_EQ(solution.cost.waiting[0], 0);
  EXPECT_EQ(solution.cost.waiting[1], 2);
}

// Two gangs, of which the passes would start the first, and one may run.
TEST(Pack, StartsTheGangThatIsWorthMore) {
  PackingProblem problem;
  problem.classes = {{.request = {3}, .waiting = {{2, 5}}},
                     {.request = {2}, .waiting = {{3, 5}}}};
  problem.groups = {{{3}, 2, 0}};
  problem.costs = {{0, 0}};
  problem.gangs = {{{0}, 2}, {{1}, 2}};
  problem.former = {{0, 2, {{0, 1}}}};
  // As many of either fit, but of the second one is left waiting.
  const PackingSolution solution = Pack(problem, {.work_max = 1'000'000});
  EXPECT_EQ(solution.cost, PackingCost(15, 0));
  problem.classes[1].waiting = {{2, 9}};
  EXPECT_EQ(Pack(problem, {.work_max = 1'000'000}).cost, PackingCost(10, 0));
}

// More tasks would be placed without the gang, so that the relaxation starts it
// only in part.  What stands beside it is still put where it costs the least.
TEST(Pack, PutsOthersWhereTheyLikeItBestBesideAGangThatRuns) {
  PackingProblem problem;
  problem.classes = {{.request = {1000, 4096}, .waiting = {{5, 1000}}},
                     {.request = {500, 4096}, .waiting = {{7, 1000}}},
                     {.request = {3000, 1024}, .waiting = {{8, 1000}}},
                     {.request = {250, 768}, .waiting = {{6, 1000}}},
                     {.request = {2000, 2048}, .waiting = {{6, 1000}}}};
  problem.groups = {{{4000, 32768}, 4, 0}, {{16000, 32768}, 1, 1}};
  problem.costs = {{100, 0, 10, 0, 0}, {0, 0, 0, 0, 0}};
  problem.gangs = {{{2}, 6}};
  const PackingSolution solution = PackAndCheck(problem);
  EXPECT_EQ(solution.cost, (PackingCost{6 * 1000, 3 * 10}));
  EXPECT_EQ(solution.bound, solution.cost);
}

// What a gang displaces costs nothing to place: no bound may say otherwise.
TEST(Pack, ProvesWhatIsTrueOnceAGangWasStarted) {
  PackingProblem problem;
  problem.classes = {{.request = {3}, .waiting = {{1, 11, 0}}},
                     {.request = {3}, .waiting = {{2, 10, 0}}},
                     {.request = {3}, .waiting = {{1, 5, 1}}}};
  problem.groups = {{{3}, 2, 0}};
  problem.costs = {{0, 0, 20}};
  problem.gangs = {{{1}, 2}};
  const PackingSolution solution = Pack(problem, {.work_max = 1'000'000});
  const std::vector<int64_t> waiting = {11, 5};
  EXPECT_EQ(solution.cost.waiting, LevelCosts(waiting));
  EXPECT_EQ(solution.cost.placed, 0);
  EXPECT_EQ(solution.bound.placed, 0);
}

}  // namespace
}  // namespace sluice
