// Packings against the best of all placements, on random problems.  A failure
// prints the seed that repeats it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

#include "base/rng.h"
#include "oracle/packing_reference.h"
#include "oracle/random_packing.h"
#include "packing/pack.h"
#include "util/seed_count.h"
#include "util/status_matchers.h"
#ifdef SLUICE_HAVE_GLPK
#include "oracle/packing_mip.h"
#endif

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr int64_t kPlenty = 100'000'000;

struct Tally {
  int problems = 0;
  int least_waiting = 0;  // Solutions with the least waiting cost,
  int least = 0;          // and those of the least cost in both.
  int proved = 0;         // Solutions that cost what is stated as bound.
};

// Whether the placements that leave that much are within what a bound of this
// level is about.
bool IsBesides(const LevelCosts& waiting, const LevelCosts& solution,
               size_t level) {
  for (size_t above = 0; above < level; ++above) {
    if (waiting[above] > solution[above]) return false;
  }
  return true;
}

// Checks the solution beside all placements.
void Check(const PackingProblem& problem,
           const std::map<LevelCosts, int64_t>& least,
           const PackingSolution& solution, Tally* tally) {
  ASSERT_THAT(CheckPacking(problem, solution), IsOk());
  const auto& [cost, bound] = std::pair(solution.cost, solution.bound);
  ASSERT_TRUE(least.contains(cost.waiting));
  ASSERT_LE(least.at(cost.waiting), cost.placed);
  const size_t levels = problem.level_count();
  for (const auto& [waiting, placed] : least) {
    for (size_t level = 0; level < levels; ++level) {
      if (!IsBesides(waiting, cost.waiting, level)) break;
      EXPECT_LE(bound.waiting[level], waiting[level]) << "level " << level;
    }
    if (IsBesides(waiting, cost.waiting, levels)) {
      EXPECT_LE(bound.placed, placed);
    }
  }
  ++tally->problems;
  const auto& [least_waiting, least_placed] = *least.begin();
  const bool has_least_waiting = cost.waiting == least_waiting;
  tally->least_waiting += has_least_waiting ? 1 : 0;
  tally->least += has_least_waiting && cost.placed == least_placed ? 1 : 0;
  tally->proved += cost == bound ? 1 : 0;
}

Tally TallyOf(const PackingShape& shape, uint64_t seeds, int64_t work_max) {
  Tally tally;
  for (uint64_t seed = 0; seed < SeedCount(seeds); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const PackingProblem problem = MakeRandomPacking(shape, &rng);
    const PackingSolution solution =
        Pack(problem, {.work_max = work_max,
                       .is_thorough = shape.has_staying && seed % 10 == 0});
    Check(problem, LeastPlacedCosts(problem), solution, &tally);
    if (testing::Test::HasFailure()) {
      ADD_FAILURE() << DescribePacking(problem);
      break;
    }
  }
  return tally;
}

// Of a thousand problems at least so many.
void ExpectInThousand(const Tally& tally, const Tally& floor) {
  EXPECT_GE(tally.least_waiting * 1000, tally.problems * floor.least_waiting);
  EXPECT_GE(tally.least * 1000, tally.problems * floor.least);
  EXPECT_GE(tally.proved * 1000, tally.problems * floor.proved);
}

// The first class needs company of the second; on the second kind it has it by
// what stays.
PackingProblem TwoInCompany() {
  PackingProblem problem;
  problem.classes = {{.request = {1}, .waiting = {{3, 10}}},
                     {.request = {1}, .waiting = {{1, 1}}}};
  problem.classes[0].needs_company = true;
  problem.classes[0].company = {1};
  problem.groups = {{{2}, 2, 0}, {{1}, 1, 1}};
  problem.costs = {{0, 4}, {5, kNotAllowed}};
  problem.company = {{}, {0}};
  return problem;
}

TEST(PackingReference, RefusesAPatternThatLeavesAClassWithoutItsCompany) {
  const PackingProblem problem = TwoInCompany();
  PackingSolution solution;
  solution.patterns = {{0, 1, {{0, 1}}}};
  EXPECT_THAT(CheckPacking(problem, solution),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("class 0 lacks its company in group 0")));
  solution.patterns = {{0, 1, {{0, 1}, {1, 1}}}, {1, 1, {{0, 1}}}};
  solution.cost = {10, 9};
  EXPECT_THAT(CheckPacking(problem, solution), IsOk());
}

TEST(PackingReference, TriesOnlyMachinesOnWhichAllHaveCompany) {
  EXPECT_THAT(LeastPlacedCosts(TwoInCompany()),
              ElementsAre(Pair(LevelCosts(10), 9), Pair(LevelCosts(20), 4),
                          Pair(LevelCosts(21), 5), Pair(LevelCosts(30), 4),
                          Pair(LevelCosts(31), 0)));
}

// Each floor is a little below what was measured.
TEST(PackingOracle, FindsTheBestOfAllPlacementsNearlyAlways) {
  const Tally tally = TallyOf({}, 30'000, kPlenty);
  ExpectInThousand(tally, {.least_waiting = 997, .least = 995, .proved = 900});
}

TEST(PackingOracle, FindsTheBestOfAllPlacementsOfManyTasksNearlyAlways) {
  const PackingShape shape = {
      .machines_min = 3, .classes_min = 3, .tasks_max = 8};
  const Tally tally = TallyOf(shape, 10'000, kPlenty);
  ExpectInThousand(tally, {.least_waiting = 994, .least = 990, .proved = 780});
}

TEST(PackingOracle, FindsTheBestOfAllLevelsNearlyAlways) {
  const PackingShape shape = {
      .machines_min = 2, .classes_min = 2, .tasks_max = 6, .levels_max = 4};
  const Tally tally = TallyOf(shape, 15'000, kPlenty);
  ExpectInThousand(tally, {.least_waiting = 990, .least = 985, .proved = 780});
}

TEST(PackingOracle, FindsTheBestOfAllPlacementsApartNearlyAlways) {
  const PackingShape shape = {.machines_min = 2,
                              .classes_min = 3,
                              .tasks_max = 6,
                              .levels_max = 2,
                              .keeps_apart = true};
  const Tally tally = TallyOf(shape, 15'000, kPlenty);
  ExpectInThousand(tally, {.least_waiting = 990, .least = 985, .proved = 780});
}

TEST(PackingOracle, FindsTheBestOfAllPlacementsWithinCapsNearlyAlways) {
  const PackingShape shape = {.machines_min = 2,
                              .machines_max = 4,
                              .classes_min = 2,
                              .classes_max = 3,
                              .levels_max = 2,
                              .keeps_apart = true,
                              .caps_max = 3};
  const Tally tally = TallyOf(shape, 15'000, kPlenty);
  ExpectInThousand(tally, {.least_waiting = 990, .least = 985, .proved = 780});
}

TEST(PackingOracle, FindsTheBestOfAllSpreadPlacementsNearlyAlways) {
  const PackingShape shape = {.machines_min = 2,
                              .machines_max = 4,
                              .classes_min = 2,
                              .classes_max = 2,
                              .caps_max = 1,
                              .has_spread = true};
  const Tally tally = TallyOf(shape, 10'000, kPlenty);
  ExpectInThousand(tally, {.least_waiting = 990, .least = 985, .proved = 780});
}

TEST(PackingOracle, FindsTheBestOfAllPlacementsInCompanyNearlyAlways) {
  const PackingShape shape = {.machines_min = 2,
                              .classes_min = 2,
                              .tasks_max = 6,
                              .levels_max = 2,
                              .needs_company = true};
  const Tally tally = TallyOf(shape, 15'000, kPlenty);
  ExpectInThousand(tally, {.least_waiting = 990, .least = 985, .proved = 780});
}

TEST(PackingOracle, FindsTheBestOfAllPlacementsByAllRulesNearlyAlways) {
  const PackingShape shape = {.machines_min = 2,
                              .machines_max = 4,
                              .classes_min = 3,
                              .levels_max = 2,
                              .keeps_apart = true,
                              .caps_max = 1,
                              .needs_company = true};
  const Tally tally = TallyOf(shape, 10'000, kPlenty);
  ExpectInThousand(tally, {.least_waiting = 990, .least = 985, .proved = 780});
}

TEST(PackingOracle, FindsTheBestOfAllPlacementsOfGangsNearlyAlways) {
  const PackingShape shape = {.machines_min = 2,
                              .classes_min = 2,
                              .tasks_max = 6,
                              .levels_max = 2,
                              .gangs_max = 3};
  const Tally tally = TallyOf(shape, 15'000, kPlenty);
  ExpectInThousand(tally, {.least_waiting = 999, .least = 999, .proved = 800});
}

TEST(PackingOracle, StopsTheCheapestThatRunNearlyAlways) {
  const PackingShape shape = {.machines_min = 2,
                              .classes_min = 2,
                              .tasks_max = 6,
                              .levels_max = 3,
                              .has_staying = true};
  const Tally tally = TallyOf(shape, 15'000, kPlenty);
  ExpectInThousand(tally, {.least_waiting = 990, .least = 985, .proved = 780});
}

TEST(PackingOracle, KeepsToBudgetsNearlyAlways) {
  const PackingShape shape = {.machines_min = 2,
                              .classes_min = 2,
                              .tasks_max = 6,
                              .levels_max = 3,
                              .has_staying = true,
                              .budgets_max = 2};
  const Tally tally = TallyOf(shape, 15'000, kPlenty);
  ExpectInThousand(tally, {.least_waiting = 990, .least = 985, .proved = 780});
}

TEST(PackingOracle, KeepsToBudgetsByAllRulesNearlyAlways) {
  const PackingShape shape = {.machines_min = 2,
                              .machines_max = 4,
                              .classes_min = 3,
                              .levels_max = 3,
                              .keeps_apart = true,
                              .caps_max = 1,
                              .needs_company = true,
                              .gangs_max = 1,
                              .has_staying = true,
                              .may_move = true,
                              .budgets_max = 3};
  const Tally tally = TallyOf(shape, 10'000, kPlenty);
  ExpectInThousand(tally, {.least_waiting = 990, .least = 985, .proved = 780});
}

TEST(PackingOracle, StopsTheCheapestThatRunByAllRulesNearlyAlways) {
  const PackingShape shape = {.machines_min = 2,
                              .machines_max = 4,
                              .classes_min = 3,
                              .levels_max = 3,
                              .keeps_apart = true,
                              .caps_max = 1,
                              .needs_company = true,
                              .has_staying = true};
  const Tally tally = TallyOf(shape, 10'000, kPlenty);
  ExpectInThousand(tally, {.least_waiting = 990, .least = 985, .proved = 780});
}

TEST(PackingOracle, MovesWhatRunsAtTheLeastCostNearlyAlways) {
  const PackingShape shape = {.machines_min = 2,
                              .classes_min = 2,
                              .tasks_max = 6,
                              .levels_max = 3,
                              .has_staying = true,
                              .may_move = true};
  const Tally tally = TallyOf(shape, 15'000, kPlenty);
  ExpectInThousand(tally, {.least_waiting = 990, .least = 985, .proved = 780});
}

TEST(PackingOracle, MovesWhatRunsByAllRulesNearlyAlways) {
  const PackingShape shape = {.machines_min = 2,
                              .machines_max = 4,
                              .classes_min = 3,
                              .levels_max = 3,
                              .keeps_apart = true,
                              .caps_max = 1,
                              .needs_company = true,
                              .has_staying = true,
                              .may_move = true};
  const Tally tally = TallyOf(shape, 10'000, kPlenty);
  ExpectInThousand(tally, {.least_waiting = 990, .least = 985, .proved = 780});
}

TEST(PackingOracle, MovesWhatRunsForGangsNearlyAlways) {
  const PackingShape shape = {.machines_min = 2,
                              .machines_max = 4,
                              .classes_min = 3,
                              .levels_max = 2,
                              .gangs_max = 2,
                              .has_staying = true,
                              .may_move = true};
  const Tally tally = TallyOf(shape, 10'000, kPlenty);
  ExpectInThousand(tally, {.least_waiting = 990, .least = 985, .proved = 780});
}

TEST(PackingOracle, BoundsOfGangsAreTrueHoweverEarlyTheWorkEnds) {
  for (const int64_t work_max : {0, 1, 100, 1'000, 10'000}) {
    SCOPED_TRACE(work_max);
    TallyOf({.levels_max = 3, .gangs_max = 2}, 1'500, work_max);
    TallyOf({.classes_max = 3,
             .keeps_apart = true,
             .caps_max = 2,
             .needs_company = true,
             .gangs_max = 2},
            1'500, work_max);
    TallyOf({.classes_max = 2, .has_spread = true, .gangs_max = 2}, 1'000,
            work_max);
  }
}

TEST(PackingOracle, BoundsAreTrueHoweverEarlyTheWorkEnds) {
  for (const int64_t work_max : {0, 1, 100, 1'000, 10'000}) {
    SCOPED_TRACE(work_max);
    TallyOf({}, 1'500, work_max);
    TallyOf({.levels_max = 4}, 1'500, work_max);
    TallyOf({.levels_max = 4, .has_staying = true}, 1'500, work_max);
    TallyOf({.levels_max = 4, .has_staying = true, .may_move = true}, 1'500,
            work_max);
    TallyOf({.classes_max = 3, .keeps_apart = true, .caps_max = 2}, 1'500,
            work_max);
    TallyOf({.levels_max = 3, .has_staying = true, .budgets_max = 3}, 1'500,
            work_max);
    TallyOf({.classes_max = 2, .has_spread = true}, 1'000, work_max);
  }
}

TEST(PackingOracle, BoundsInCompanyAreTrueHoweverEarlyTheWorkEnds) {
  for (const int64_t work_max : {0, 1, 100, 1'000, 10'000}) {
    SCOPED_TRACE(work_max);
    TallyOf({.classes_min = 2, .levels_max = 3, .needs_company = true}, 1'500,
            work_max);
    TallyOf({.classes_min = 2,
             .classes_max = 3,
             .keeps_apart = true,
             .caps_max = 2,
             .needs_company = true},
            1'500, work_max);
    TallyOf({.classes_min = 2,
             .classes_max = 2,
             .has_spread = true,
             .needs_company = true},
            1'000, work_max);
  }
}

#ifdef SLUICE_HAVE_GLPK

// Settles nine of ten problems with many machines; ten times as many programs
// settle 19 of 20, and take six times as long.
constexpr int64_t kProgramsMax = 300;

// Checks a packing beside what GLPK finds within the limit.
void CheckWithGlpk(const PackingProblem& problem, Tally* tally) {
  const PackingSolution solution = Pack(problem, {.work_max = kPlenty});
  EXPECT_THAT(CheckPacking(problem, solution), IsOk());
  const auto& [cost, bound] = std::pair(solution.cost, solution.bound);
  const PackingMipAnswer waiting = LeastWaitingByMip(problem, kProgramsMax);
  const PackingMipAnswer placed =
      LeastPlacedByMip(problem, cost.waiting[0], kProgramsMax);
  // The least or not, it is what some placement costs.
  EXPECT_LE(bound.waiting[0], waiting.found.value_or(bound.waiting[0]));
  EXPECT_LE(bound.placed, placed.found.value_or(bound.placed));
  if (!waiting.is_least || !placed.is_least) return;
  EXPECT_GE(cost.waiting[0], *waiting.found);
  EXPECT_GE(cost.placed, *placed.found);
  ++tally->problems;
  const bool has_least_waiting = cost.waiting[0] == *waiting.found;
  tally->least_waiting += has_least_waiting ? 1 : 0;
  tally->least += has_least_waiting && cost.placed == *placed.found ? 1 : 0;
  tally->proved += cost == bound ? 1 : 0;
}

// The two opinions, which know nothing of each other.
TEST(PackingOracle, GlpkFindsTheBestOfAllPlacements) {
  const PackingShape within_caps = {.machines_max = 4,
                                    .classes_min = 2,
                                    .classes_max = 3,
                                    .keeps_apart = true,
                                    .caps_max = 2,
                                    .needs_company = true,
                                    .gangs_max = 2,
                                    .budgets_max = 2};
  const PackingShape spread = {.classes_min = 2,
                               .classes_max = 2,
                               .has_spread = true,
                               .needs_company = true,
                               .gangs_max = 2};
  uint64_t settled = 0;
  for (uint64_t seed = 0; seed < SeedCount(5'000) && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const PackingProblem problem =
        MakeRandomPacking(seed % 2 == 0 ? within_caps : spread, &rng);
    const auto least = LeastPlacedCosts(problem);
    const auto& [waiting, placed] = *least.begin();
    const PackingMipAnswer waiting_answer =
        LeastWaitingByMip(problem, kProgramsMax);
    const PackingMipAnswer placed_answer =
        LeastPlacedByMip(problem, waiting[0], kProgramsMax);
    if (!waiting_answer.is_least || !placed_answer.is_least) continue;
    ++settled;
    EXPECT_EQ(*waiting_answer.found, waiting[0]) << DescribePacking(problem);
    EXPECT_EQ(*placed_answer.found, placed) << DescribePacking(problem);
  }
  EXPECT_GE(settled, SeedCount(5'000) / 2);
}

// With more machines than can be tried out.
void CheckManyWithGlpk(bool needs_company) {
  const PackingShape shape = {.groups_max = 5,
                              .machines_min = 10,
                              .machines_max = 20,
                              .classes_min = 3,
                              .classes_max = 6,
                              .tasks_max = 20,
                              .keeps_apart = true,
                              .caps_max = 4,
                              .has_spread = true,
                              .needs_company = needs_company};
  Tally tally;
  for (uint64_t seed = 0; seed < SeedCount(300) && !testing::Test::HasFailure();
       ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    CheckWithGlpk(MakeRandomPacking(shape, &rng), &tally);
  }
  // GLPK settles nine of ten.
  EXPECT_GE(tally.problems, static_cast<int>(SeedCount(300) / 2));
  EXPECT_GE(tally.least_waiting * 1000, tally.problems * 980);
  EXPECT_GE(tally.least * 1000, tally.problems * 970);
}

TEST(PackingOracle, AgreesWithGlpk) { CheckManyWithGlpk(false); }

TEST(PackingOracle, AgreesWithGlpkOnCompany) { CheckManyWithGlpk(true); }

#else

TEST(PackingOracle, AgreesWithGlpk) {
  GTEST_SKIP() << "GLPK is not installed; trying all remains";
}

#endif

}  // namespace
}  // namespace sluice
