#include "packing/leveling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "oracle/packing_reference.h"
#include "oracle/random_packing.h"
#include "packing/pack.h"
#include "util/packing_builder.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

PackingProblem FourMachines() {
  PackingProblem problem = OneGroup({10, 20}, 4);
  AddClass({.request = {5, 1}, .waiting = {{10, 1}}}, 0, &problem);
  AddClass({.request = {1, 1}, .waiting = {{20, 1}}}, 0, &problem);
  return problem;
}

TEST(Level, SpreadsAGroupOverAllItsMachines) {
  const PackingProblem problem = FourMachines();
  EXPECT_THAT(Level(problem, {{0, 2, {{0, 2}}}}),
              ElementsAre(Pattern{0, 4, {{0, 1}}}));
}

// What is left over goes around, and then to where the load is less.
TEST(Level, GivesMachinesWithoutALargeTaskMoreSmallOnes) {
  const PackingProblem problem = FourMachines();
  EXPECT_THAT(
      Level(problem, {{0, 1, {{0, 2}}}, {0, 1, {{0, 1}, {1, 5}}}}),
      ElementsAre(Pattern{0, 2, {{0, 1}}}, Pattern{0, 1, {{0, 1}, {1, 1}}},
                  Pattern{0, 1, {{1, 4}}}));
}

TEST(Level, LeavesAGroupAsItIsWhereNoOtherWayFits) {
  PackingProblem problem = FourMachines();
  problem.groups = {{{10, 20}, 2, 0}};
  // One of the large ones on each would leave no room for six of the others.
  const std::vector<Pattern> tight = {{0, 1, {{0, 1}, {1, 5}}},
                                      {0, 1, {{1, 10}}}};
  EXPECT_EQ(Level(problem, tight), tight);
}

TEST(Level, MovesTasksToGroupsThatCostThemTheSame) {
  PackingProblem problem = FourMachines();
  problem.groups = {{{10, 20}, 1, 0}, {{10, 20}, 1, 1}, {{10, 20}, 1, 2}};
  problem.costs = {{3, 3}, {3, 4}, {2, 3}};
  EXPECT_THAT(Level(problem, {{0, 1, {{0, 2}}}, {2, 1, {{1, 4}}}}),
              ElementsAre(Pattern{0, 1, {{0, 1}}}, Pattern{1, 1, {{0, 1}}},
                          Pattern{2, 1, {{1, 4}}}));
}

TEST(Level, MovesNothingThatRuns) {
  PackingProblem problem = FourMachines();
  problem.groups = {{{10, 20}, 2, 0}, {{10, 20}, 1, 1}};
  problem.costs.assign(2, {0, 0});
  problem.classes[1].runs = true;
  problem.classes[1].move_cost = 1;
  problem.staying = {{{1, 4}}};
  const std::vector<Pattern> running = {{0, 1, {{1, 3}}}, {0, 1, {{1, 5}}}};
  EXPECT_EQ(Level(problem, running), running);
}

TEST(Level, PutsNoneTogetherThatAreToBeApart) {
  PackingProblem problem;
  problem.classes = {{.request = {2}, .waiting = {{4, 1}}, .apart_from = {1}},
                     {.request = {2}, .waiting = {{2, 1}}, .apart_from = {0}}};
  problem.groups = {{{10}, 2, 0}};
  problem.costs = {{0, 0}};
  const std::vector<Pattern> packing = {{0, 1, {{0, 4}}}, {0, 1, {{1, 2}}}};
  EXPECT_EQ(Level(problem, packing), packing);
}

TEST(Level, LeavesCompanyWhereOthersNeedIt) {
  PackingProblem problem;
  problem.classes = {{.request = {2}, .waiting = {{2, 1}}},
                     {.request = {2},
                      .waiting = {{2, 1}},
                      .needs_company = true,
                      .company = {0}}};
  problem.groups = {{{10}, 1, 0}, {{10}, 1, 0}, {{10}, 1, 0}};
  problem.costs = {{0, 0}};
  // Of two that are company one may go, and one of those who need it.
  EXPECT_THAT(Level(problem, {{0, 1, {{0, 2}, {1, 2}}}}),
              UnorderedElementsAre(Pattern{0, 1, {{0, 1}, {1, 1}}},
                                   Pattern{1, 1, {{0, 1}, {1, 1}}}));
  EXPECT_THAT(Level(problem, {{0, 1, {{0, 1}, {1, 2}}}}),
              UnorderedElementsAre(Pattern{0, 1, {{0, 1}, {1, 2}}}));
}

TEST(Level, HasNothingToDoForNothing) {
  EXPECT_THAT(Level({}, {}), IsEmpty());
  EXPECT_THAT(Level(FourMachines(), {}), IsEmpty());
}

// By class: how many are placed, and at what cost.
std::map<size_t, std::pair<int64_t, int64_t>> Summary(
    const PackingProblem& problem, const std::vector<Pattern>& patterns) {
  std::map<size_t, std::pair<int64_t, int64_t>> summary;
  for (const Pattern& pattern : patterns) {
    for (const auto& [c, count] : pattern.tasks) {
      const size_t kind = problem.groups[pattern.group].kind;
      summary[c].first += count * pattern.machines;
      summary[c].second += count * pattern.machines * problem.costs[kind][c];
    }
  }
  return summary;
}

// Levels random packings, and checks that each task is placed at the same cost.
void CheckLeveling(const PackingShape& shape) {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const PackingProblem problem = MakeRandomPacking(shape, &rng);
    PackingSolution solution = Pack(problem, {.work_max = 1'000'000});
    const auto before = Summary(problem, solution.patterns);
    solution.patterns = Level(problem, solution.patterns);
    EXPECT_THAT(CheckPacking(problem, solution), IsOk());
    EXPECT_EQ(Summary(problem, solution.patterns), before);
    // What is level stays as it is.
    EXPECT_EQ(Summary(problem, Level(problem, solution.patterns)), before);
  }
}

TEST(Level, KeepsRandomPackingsLegalAndTheirCost) {
  CheckLeveling({.machines_max = 12});
}

TEST(Level, LeavesNoTaskWithoutItsCompany) {
  CheckLeveling({.machines_max = 12, .needs_company = true});
  CheckLeveling(
      {.machines_max = 12, .keeps_apart = true, .needs_company = true});
}

}  // namespace
}  // namespace sluice
