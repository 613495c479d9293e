#include "packing/level_costs.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace sluice {
namespace {

LevelCosts Of(const std::vector<int64_t>& costs) { return LevelCosts(costs); }

TEST(LevelCosts, LevelsThatAreMissingCostNothing) {
  LevelCosts costs;
  EXPECT_EQ(costs[3], 0);
  costs.Add(3, 5);
  EXPECT_EQ(costs[3], 5);
  EXPECT_EQ(costs[0], 0);
  EXPECT_EQ(costs.size(), 4u);
  costs.Add(3, -5);
  EXPECT_EQ(costs, LevelCosts());
  EXPECT_EQ(Of({1, 0, 0}), LevelCosts(1));
  EXPECT_EQ(Of({0, 2}).ByLevel(3), (std::vector<int64_t>{0, 2, 0}));
}

TEST(LevelCosts, NothingOutweighsALevelAbove) {
  EXPECT_LT(Of({1, 1'000'000}), Of({2}));
  EXPECT_LT(Of({1}), Of({1, 1}));
  EXPECT_LT(Of({0, 0, 9}), Of({0, 1}));
  EXPECT_GT(Of({3, 1}), Of({3, 0, 7}));
}

TEST(LevelCosts, IsNowhereAboveWhatIsAtLeastAsMuchEverywhere) {
  EXPECT_TRUE(Of({1, 2}).IsNowhereAbove(Of({1, 3})));
  EXPECT_TRUE(LevelCosts().IsNowhereAbove(LevelCosts()));
  EXPECT_FALSE(Of({1, 2}).IsNowhereAbove(Of({2, 1})));
  EXPECT_FALSE(Of({0, 2}).IsNowhereAbove(Of({5})));
}

TEST(LevelCosts, AddsUpLevelByLevel) {
  LevelCosts costs = Of({1, 2});
  costs.Add(Of({0, 1, 4}));
  EXPECT_EQ(costs, Of({1, 3, 4}));
}

}  // namespace
}  // namespace sluice
