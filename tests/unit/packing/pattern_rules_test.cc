#include "packing/pattern_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// Machines of ten units and of four of another.  Classes 0 and 2 are to be
// apart; a cap counts classes 0 and 1 and may rise by two.
PackingProblem Rules() {
  PackingProblem problem;
  problem.classes = {
      {.request = {3, 0}, .waiting = {{9, 1}}, .apart_from = {2}},
      {.request = {1, 1}, .waiting = {{9, 1}}, .per_machine_max = 3},
      {.request = {0, 0}, .waiting = {{9, 1}}, .apart_from = {0}}};
  problem.groups = {{.free = {10, 4}, .machines = 5, .caps = {0}},
                    {.free = {10, 4}, .machines = 5}};
  problem.costs = {{0, 0, 0}};
  problem.caps = {{.classes = {0, 1}, .most = 4, .rise_max = 2}};
  problem.spreads = {{.caps = {0}, .ahead = {1}, .rise_max = 2}};
  return problem;
}

// Each task of class 1 runs and keeps four of class 0 away.
TEST(RoomInCaps, IsLessByTheWeightOfWhatRuns) {
  PackingProblem problem = Rules();
  problem.classes[1].runs = true;
  problem.staying = {{{1, 3}}};
  problem.caps[0].rise_max = 0;
  problem.caps[0].of_running = 4;
  std::vector<int64_t> caps = {4};
  EXPECT_EQ(RoomInCaps(problem, 0, 0, caps), 4);
  EXPECT_EQ(RoomInCaps(problem, 0, 1, caps), 1);
  EXPECT_EQ(CountedBy(problem, 0, {0, 1, {{0, 1}, {1, 1}}}), 5);
  EXPECT_EQ(WithinCaps(problem, {0, 1, {{0, 1}, {1, 1}}}, caps).tasks.size(),
            1);
  TakeFromCaps(problem, {0, 1, {{1, 1}}}, 1, &caps);
  EXPECT_EQ(RoomInCaps(problem, 0, 0, caps), 0);
  caps = {3};
  EXPECT_EQ(RoomInCaps(problem, 0, 1, caps), 0);
}

TEST(AddTasks, KeepsClassesInOrderAndNoneOfWhichNothingIsLeft) {
  Pattern pattern{.tasks = {{1, 2}}};
  AddTasks(3, 1, &pattern);
  AddTasks(0, 5, &pattern);
  AddTasks(1, 4, &pattern);
  EXPECT_THAT(pattern.tasks, ElementsAre(Pair(0, 5), Pair(1, 6), Pair(3, 1)));
  AddTasks(1, -6, &pattern);
  EXPECT_THAT(pattern.tasks, ElementsAre(Pair(0, 5), Pair(3, 1)));
  EXPECT_EQ(CountOf(3, pattern), 1);
  EXPECT_EQ(CountOf(1, pattern), 0);
}

TEST(RoomOn, IsWhatIsLeftOfTheScarcestResource) {
  const PackingProblem problem = Rules();
  EXPECT_EQ(RoomOn(problem, {1, 1, {}}, 0), 3);
  EXPECT_EQ(RoomOn(problem, {1, 1, {{1, 2}}}, 0), 2);
  EXPECT_EQ(RoomOn(problem, {1, 1, {{0, 3}}}, 1), 1);
  EXPECT_EQ(RoomOn(problem, {1, 1, {{0, 3}, {1, 1}}}, 1), 0);
}

TEST(RoomOn, HeedsLimitsOnAMachineAndClassesThatAreToBeApart) {
  const PackingProblem problem = Rules();
  EXPECT_EQ(RoomOn(problem, {1, 1, {}}, 1), 3);
  EXPECT_EQ(RoomOn(problem, {1, 1, {{1, 1}}}, 1), 2);
  EXPECT_EQ(RoomOn(problem, {1, 1, {{2, 1}}}, 0), 0);
  EXPECT_EQ(RoomOn(problem, {1, 1, {{0, 1}}}, 2), 0);
  EXPECT_EQ(RoomOn(problem, {1, 1, {{1, 1}}}, 2),
            std::numeric_limits<int64_t>::max());
}

TEST(RoomOn, IsNoMoreThanHasStayedThere) {
  PackingProblem problem = Rules();
  problem.classes[1].runs = true;
  EXPECT_EQ(RoomOn(problem, {1, 1, {}}, 1), 0);
  problem.staying = {{{1, 2}}};
  EXPECT_EQ(RoomOn(problem, {1, 1, {}}, 1), 2);
  EXPECT_EQ(RoomOn(problem, {1, 1, {{1, 1}}}, 1), 1);
  EXPECT_EQ(RoomOn(problem, {1, 1, {}}, 0), 3) << "others go where they like";
  problem.groups[1].kind = 1;
  EXPECT_EQ(RoomOn(problem, {1, 1, {}}, 1), 0);
}

TEST(RoomInCaps, CountsHowFarTheyMayRise) {
  const PackingProblem problem = Rules();
  EXPECT_EQ(RoomInCaps(problem, 0, 0, {4}), 6);
  EXPECT_EQ(RoomInCaps(problem, 0, 0, {-2}), 0);
  EXPECT_EQ(RoomInCaps(problem, 0, 2, {4}),
            std::numeric_limits<int64_t>::max());
  EXPECT_EQ(RoomInCaps(problem, 1, 0, {-2}),
            std::numeric_limits<int64_t>::max());
}

TEST(RiseOf, IsWhatTheEmptiestDomainHolds) {
  const PackingProblem problem = Rules();
  const PackingSpread& spread = problem.spreads[0];
  EXPECT_EQ(RiseOf(problem, spread, {4}), 1) << "by what is ahead";
  EXPECT_EQ(RiseOf(problem, spread, {3}), 2);
  EXPECT_EQ(RiseOf(problem, spread, {0}), 2) << "no further than it may";
}

TEST(WithinCaps, LeavesOutWhatTheyDoNotLetInOnAsManyMachinesAsTheyDo) {
  const PackingProblem problem = Rules();
  const Pattern all{0, 5, {{0, 1}, {1, 2}, {2, 7}}};
  const Pattern two = WithinCaps(problem, all, {4});
  EXPECT_EQ(two.machines, 2);
  EXPECT_EQ(two.tasks, all.tasks);
  const Pattern part = WithinCaps(problem, all, {0});
  EXPECT_EQ(part.machines, 1);
  EXPECT_THAT(part.tasks, ElementsAre(Pair(0, 1), Pair(1, 1), Pair(2, 7)));
  EXPECT_EQ(WithinCaps(problem, {1, 5, all.tasks}, {0}).machines, 5);
}

TEST(TakeFromCaps, CountsEachTaskOnEachMachine) {
  const PackingProblem problem = Rules();
  std::vector<int64_t> caps = {20};
  TakeFromCaps(problem, {0, 1, {{0, 1}, {1, 2}, {2, 7}}}, 3, &caps);
  EXPECT_THAT(caps, ElementsAre(11));
  TakeFromCaps(problem, {0, 1, {{1, 2}}}, -1, &caps);
  EXPECT_THAT(caps, ElementsAre(13));
  TakeFromCaps(problem, {1, 1, {{1, 2}}}, 1, &caps);
  EXPECT_THAT(caps, ElementsAre(13));
}

}  // namespace
}  // namespace sluice
