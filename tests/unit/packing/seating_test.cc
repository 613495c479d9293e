#include "packing/seating.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "base/rng.h"
#include "packing/packing_draft.h"
#include "util/packing_builder.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::SizeIs;

// All classes are one.
class SeatingTest : public ::testing::Test {
 protected:
  void Add(int64_t count, int64_t cost, size_t level = 0) {
    AddClass(OneOf(count, cost, level), 0, &problem_);
  }
  void AddGang(int64_t count, int64_t cost, int64_t minimum, size_t level = 0) {
    sluice::AddGang(OneOf(count, cost, level), 0, minimum, &problem_);
  }
  static PackingClass OneOf(int64_t count, int64_t cost, size_t level) {
    return {.request = {1}, .waiting = {{count, cost, level}}};
  }
  Seating Make() const {
    const std::vector<size_t> merged_of(problem_.classes.size(), 0);
    return {problem_, merged_of};
  }
  Seating::Seated Seat(int64_t places) const {
    return Make().Seat(std::vector<int64_t>{places});
  }

  PackingProblem problem_;
};

TEST_F(SeatingTest, GivesPlacesToTheDearest) {
  problem_.classes = {{.request = {1}, .waiting = {{2, 5}, {2, 9}}},
                      {.request = {1}, .waiting = {{3, 5}, {1, 7}}}};
  const Seating::Seated seated = Seat(4);
  EXPECT_THAT(seated.tasks, ElementsAre(3, 1));
  EXPECT_EQ(seated.waiting, LevelCosts(5 + 3 * 5));
  EXPECT_THAT(seated.empty, ElementsAre(0));
}

TEST_F(SeatingTest, GivesAGangAsManyAsItNeedsOrNone) {
  AddGang(5, 10, 3);
  EXPECT_THAT(Seat(2).empty, ElementsAre(2));
  EXPECT_THAT(Seat(2).has_started, ElementsAre(false));
  EXPECT_EQ(Seat(2).waiting, LevelCosts(50));
  EXPECT_THAT(Seat(3).empty, ElementsAre(0));
  EXPECT_THAT(Seat(4).tasks, ElementsAre(4));
  EXPECT_THAT(Seat(4).has_started, ElementsAre(true));
  EXPECT_THAT(Seat(7).empty, ElementsAre(2));
}

TEST_F(SeatingTest, LetsAGangWaitThatHasTooFewTasks) {
  AddGang(3, 10, 4);
  EXPECT_THAT(Make().gangs(), SizeIs(0));
  EXPECT_THAT(Seat(3).tasks, ElementsAre(0));
  EXPECT_EQ(Seat(3).waiting, LevelCosts(30));
}

TEST_F(SeatingTest, GivesWhatAGangLeavesToTasksByThemselves) {
  Add(4, 7);
  AddGang(3, 10, 3);
  EXPECT_THAT(Seat(2).tasks, ElementsAre(2, 0));
  EXPECT_THAT(Seat(5).tasks, ElementsAre(2, 3));
}

TEST_F(SeatingTest, FindsWhatFillsThePlacesBest) {
  AddGang(5, 11, 5);
  AddGang(4, 10, 4);
  AddGang(4, 10, 4);
  // Without the dearest.
  EXPECT_THAT(Seat(8).tasks, ElementsAre(0, 4, 4));
  EXPECT_THAT(Seat(9).tasks, ElementsAre(5, 4, 0));
  // Before what is dearer by the task.
  Add(3, 12);
  EXPECT_THAT(Seat(6).tasks, ElementsAre(5, 0, 0, 1));
}

TEST_F(SeatingTest, HeedsLevelsBeforeAll) {
  AddGang(3, 1, 3, 0);
  Add(9, 1'000'000, 1);
  EXPECT_THAT(Seat(4).tasks, ElementsAre(3, 1));
  EXPECT_THAT(Seat(2).tasks, ElementsAre(0, 2));
  const std::vector<int64_t> ten_wait = {10};
  Seating seating = Make();
  EXPECT_EQ(seating.EmptyOf(0, ten_wait), 0);
  EXPECT_EQ(seating.EmptyOf(0, ten_wait, 0), 2);
  EXPECT_FALSE(seating.HasStarted(0, ten_wait));
  EXPECT_EQ(seating.CostOf(ten_wait), Seat(2).waiting);
}

// The first of two classes is of the gang alone.
TEST(Seating, StartsAGangOfSeveralClasses) {
  PackingProblem problem;
  problem.classes = {{.request = {4}, .waiting = {{1, 5}}},
                     {.request = {1}, .waiting = {{3, 5}}},
                     {.request = {1}, .waiting = {{2, 5}}}};
  problem.gangs = {{{0, 1}, 4}};
  const std::vector<size_t> merged_of = {0, 1, 1};
  Seating seating(problem, merged_of);
  ASSERT_THAT(seating.gangs(), SizeIs(1));
  EXPECT_THAT(seating.gangs()[0].tasks, ElementsAre(Pair(0, 1), Pair(1, 3)));
  EXPECT_THAT(seating.ManifoldGangs(1), ElementsAre(0));
  const auto seat = [&](int64_t first, int64_t second) {
    return seating.Seat(std::vector<int64_t>{first, second});
  };
  EXPECT_THAT(seat(1, 3).tasks, ElementsAre(1, 3, 0));
  EXPECT_THAT(seat(1, 2).tasks, ElementsAre(0, 0, 2));
  EXPECT_THAT(seat(1, 2).empty, ElementsAre(1, 0));
  EXPECT_THAT(seat(0, 3).tasks, ElementsAre(0, 0, 2));
  EXPECT_GT(seating.TakeWork(), 0);
  EXPECT_EQ(seating.TakeWork(), 0);
}

// Of each gang none or as many as it needs, and more: whatever is best by all.
int64_t MostWorth(const PackingProblem& problem, size_t next, int64_t places) {
  if (next == problem.classes.size()) return 0;
  const WaitingStep& step = problem.classes[next].waiting[0];
  int64_t least = 1;
  for (const PackingGang& gang : problem.gangs) {
    if (gang.classes[0] == next) least = gang.minimum;
  }
  int64_t most = MostWorth(problem, next + 1, places);
  for (int64_t count = least; count <= std::min(step.count, places); ++count) {
    most = std::max(
        most, count * step.cost + MostWorth(problem, next + 1, places - count));
  }
  return most;
}

TEST(Seating, FindsTheBestNearlyAlways) {
  int64_t best = 0;
  constexpr int64_t kProblems = 2000;
  for (uint64_t seed = 0; seed < kProblems; ++seed) {
    Rng rng(seed);
    PackingProblem problem;
    int64_t all = 0;
    int64_t tasks = 0;
    for (int64_t i = rng.Between(2, 5); i > 0; --i) {
      const int64_t count = rng.Between(1, 6);
      const int64_t cost = rng.Between(10, 12);
      if (rng.Chance(3, 4)) {
        problem.gangs.push_back(
            {{problem.classes.size()}, rng.Between(1, count)});
      }
      problem.classes.push_back({.request = {1}, .waiting = {{count, cost}}});
      all += count * cost;
      tasks += count;
    }
    const std::vector<size_t> merged_of(problem.classes.size(), 0);
    const int64_t places = rng.Between(0, tasks);
    const Seating::Seated seated =
        Seating(problem, merged_of).Seat(std::vector<int64_t>{places});
    const int64_t least = all - MostWorth(problem, 0, places);
    ASSERT_GE(seated.waiting[0], least) << "seed " << seed;
    best += seated.waiting[0] == least ? 1 : 0;
    EXPECT_EQ(std::accumulate(seated.tasks.begin(), seated.tasks.end(),
                              seated.empty[0]),
              places);
  }
  EXPECT_GE(best * 1000, kProblems * 985);
}

}  // namespace
}  // namespace sluice
