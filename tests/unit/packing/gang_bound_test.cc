#include "packing/gang_bound.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "util/packing_builder.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::SizeIs;

constexpr int64_t kPlenty = 10'000'000;

// So many slots on one machine, and gangs of so many tasks of one slot.
PackingProblem Gangs(int64_t slots, const std::vector<int64_t>& tasks,
                     int64_t minimum) {
  PackingProblem problem = OneGroup({slots});
  for (const int64_t count : tasks) {
    AddGang({.request = {1}, .waiting = {{count, 100}}}, 7, minimum, &problem);
  }
  return problem;
}

int64_t Bound(const PackingProblem& problem, std::vector<int64_t> held,
              int64_t reached) {
  return BoundWithGangs(problem, held, reached, kPlenty).bound;
}

TEST(GangBound, OfAGangThatHasNoRoomIsThatAllOfItWaits) {
  EXPECT_EQ(Bound(Gangs(2, {3}, 3), {}, 300), 300);
  EXPECT_EQ(Bound(Gangs(1, {3}, 2), {}, 300), 300);
  EXPECT_EQ(Bound(Gangs(2, {3}, 2), {}, 300), 100);
}

TEST(GangBound, IsNoMoreThanWhatSomePackingLeaves) {
  EXPECT_EQ(Bound(Gangs(2, {3}, 3), {}, 200), 200);
}

TEST(GangBound, OfGangsThatAreAlikeIsThatAsManyRunAsHaveRoom) {
  EXPECT_EQ(Bound(Gangs(7, {2, 2, 2, 2, 2, 2}, 2), {}, 1200), 600);
  // Of unequal ones the larger should run.
  EXPECT_EQ(Bound(Gangs(6, {4, 5}, 4), {}, 900), 400);
}

TEST(GangBound, CountsALevelWhereThoseAboveAreHeld) {
  PackingProblem problem = Gangs(4, {3, 3}, 3);
  problem.classes[1].waiting[0].level = 1;
  EXPECT_EQ(Bound(problem, {}, 300), 0);
  EXPECT_EQ(Bound(problem, {0}, 300), 300);
  EXPECT_EQ(Bound(problem, {300}, 300), 0);
}

TEST(GangBound, OfPlacementsHoldsAllLevels) {
  // One task waits where three run; the relaxation would place two of each.
  const PackingProblem problem = Gangs(4, {3, 3}, 3);
  EXPECT_EQ(Bound(problem, {300}, 100), 3 * 7);
  EXPECT_EQ(Bound(problem, {600}, 100), 0);
}

TEST(GangBound, SaysWhatItTook) {
  EXPECT_GT(BoundWithGangs(Gangs(2, {3}, 3), {}, 300, kPlenty).work, 0);
  EXPECT_LE(BoundWithGangs(Gangs(2, {3}, 3), {}, 300, 1).bound, 300);
}

TEST(GangBound, SaysWhichGangsRunWhereLessIsProvedThanWasReached) {
  const PackingProblem problem = Gangs(6, {4, 5}, 4);
  EXPECT_THAT(BoundWithGangs(problem, {}, 900, kPlenty).run,
              Optional(ElementsAre(1)));
  EXPECT_EQ(BoundWithGangs(problem, {}, 400, kPlenty).run, std::nullopt)
      << "no packing does better";
  EXPECT_EQ(BoundWithGangs(problem, {}, 900, 1).run, std::nullopt)
      << "one of them is started in part";
}

TEST(WithDecided, PutsTheMinimumAboveAllElse) {
  const size_t gang = 1;
  const PackingProblem forced =
      WithDecided(Gangs(4, {2, 3}, 2), std::span(&gang, 1));
  EXPECT_THAT(forced.gangs, SizeIs(1));
  ASSERT_THAT(forced.classes[1].waiting, SizeIs(2));
  EXPECT_EQ(forced.classes[1].waiting[0].count, 1);
  EXPECT_EQ(forced.classes[1].waiting[0].level, 1);
  EXPECT_EQ(forced.classes[1].waiting[1].count, 2);
  EXPECT_EQ(forced.classes[1].waiting[1].level, 0);
  EXPECT_EQ(forced.classes[0].waiting[0].level, 1);
}

TEST(WithDecided, LetsTasksOfAnyOfItsClassesWaitBeyondTheMinimum) {
  const size_t gang = 0;
  PackingProblem problem = Gangs(4, {2, 3}, 2);
  problem.gangs = {{{0, 1}, 4}};
  const PackingProblem forced = WithDecided(problem, std::span(&gang, 1));
  ASSERT_THAT(forced.budgets, SizeIs(1));
  EXPECT_EQ(forced.budgets[0].waiting_max, 1);
  EXPECT_EQ(forced.budgets[0].level, 0);
  for (const PackingClass& one : forced.classes) {
    EXPECT_THAT(one.budgets, ElementsAre(0));
    ASSERT_THAT(one.waiting, SizeIs(1));
    EXPECT_EQ(one.waiting[0].level, 1);
  }
}

TEST(WithDecided, LeavesNoTasksOfGangsThatWait) {
  const std::vector<size_t> run = {2};
  const std::vector<size_t> wait = {0};
  const PackingProblem decided = WithDecided(Gangs(4, {2, 3, 4}, 2), run, wait);
  ASSERT_THAT(decided.gangs, SizeIs(1));
  EXPECT_THAT(decided.gangs[0].classes, ElementsAre(1));
  EXPECT_THAT(decided.classes[0].waiting, IsEmpty());
  EXPECT_EQ(decided.classes[2].count(), 4);
}

}  // namespace
}  // namespace sluice
