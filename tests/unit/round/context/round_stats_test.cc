#include "round/context/round_stats.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace sluice {
namespace {

LevelCosts Costs(const std::vector<int64_t>& costs) {
  return LevelCosts(costs);
}

TEST(RoundStats, TellsTheGapOfEachLevel) {
  RoundStats stats;
  stats.cost = {Costs({0, 100, 40, 60}), 10};
  stats.bound = {Costs({0, 100, 30, 15}), 8};
  EXPECT_EQ(stats.WaitingGap(0, 1), 0);
  EXPECT_EQ(stats.WaitingGap(1, 2), 0);
  EXPECT_EQ(stats.WaitingGap(2, 3), 0.25);
  EXPECT_EQ(stats.WaitingGap(3, 4), 0.75);
  EXPECT_EQ(stats.WaitingGap(2, 100), 0.55) << "of several as of one";
  EXPECT_EQ(stats.WaitingGap(4, 5), 0) << "nothing waits there";
  EXPECT_EQ(stats.Gap(), 0.275);
}

TEST(RoundStats, TellsTheLargerOfBothGaps) {
  RoundStats stats;
  stats.cost = {Costs({100}), 10};
  stats.bound = {Costs({100}), 5};
  EXPECT_EQ(stats.PlacementGap(), 0.5);
  EXPECT_EQ(stats.Gap(), 0.5);
}

TEST(RoundStats, KnowsNoGapOfWhatIsPlacedWhereMoreMightBe) {
  RoundStats stats;
  stats.cost = {Costs({100}), 10};
  stats.bound = {Costs({90}), 5};
  EXPECT_FALSE(stats.PlacementGap().has_value());
  EXPECT_EQ(stats.Gap(), 0.1);
  stats.cost.placed = 0;
  EXPECT_EQ(stats.PlacementGap(), 0) << "nothing costs less";
}

TEST(RoundStats, HasNoGapWhereMoreIsPlacedThanWasThoughtPossible) {
  RoundStats stats;
  stats.cost = {Costs({10}), 0};
  stats.bound = {Costs({20}), 5};
  EXPECT_EQ(stats.Gap(), 0);
}

TEST(RoundStats, KnowsNoGapWithoutABound) {
  RoundStats stats;
  stats.cost = {Costs({10}), 10};
  stats.is_bound_known = false;
  EXPECT_FALSE(stats.WaitingGap(0, 1).has_value());
  EXPECT_FALSE(stats.PlacementGap().has_value());
  EXPECT_FALSE(stats.Gap().has_value());
}

TEST(RoundStats, FindsTheLevelOfAPriority) {
  RoundStats stats;
  EXPECT_FALSE(stats.LevelOf(7).has_value()) << "no round decided anything";
  stats.levels = {{.lowest = 50}, {.lowest = 7, .highest = 49}};
  EXPECT_EQ(stats.LevelOf(1000), 0);
  EXPECT_EQ(stats.LevelOf(50), 0);
  EXPECT_EQ(stats.LevelOf(49), 1);
  EXPECT_FALSE(stats.LevelOf(6).has_value());
  stats.levels.push_back({.highest = 6});
  EXPECT_EQ(stats.LevelOf(0), 2);
}

}  // namespace
}  // namespace sluice
