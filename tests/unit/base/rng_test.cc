#include "base/rng.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <vector>

namespace sluice {
namespace {

using testing::ElementsAre;

// Seeds are written into recorded runs, so the sequence may never change.
TEST(Rng, HasAFixedSequence) {
  Rng rng(0);
  // The published generators, worked through in another language.
  EXPECT_EQ(rng.Next(), 0x99ec5f36cb75f2b4u);
  EXPECT_EQ(rng.Next(), 0xbf6e1f784956452au);
  EXPECT_EQ(rng.Next(), 0x1a5f849d4933e6e0u);
}

TEST(Rng, DiffersBySeed) { EXPECT_NE(Rng(1).Next(), Rng(2).Next()); }

TEST(Rng, BelowReachesEveryValueAboutEquallyOften) {
  Rng rng(7);
  std::array<int, 6> counts = {};
  for (int i = 0; i < 60'000; ++i) ++counts.at(rng.Below(6));
  // Six standard deviations of a binomial with p = 1/6 are 548.
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 548);
}

TEST(Rng, BelowOneIsZero) {
  Rng rng(7);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(rng.Below(1), 0u);
}

// With n just above half of the range a plain remainder would return the lower
// half of the results twice as often as the upper.
TEST(Rng, BelowIsNotBiasedForLargeBounds) {
  constexpr uint64_t kBound = 3 * (uint64_t{1} << 62);
  Rng rng(7);
  int low = 0;
  for (int i = 0; i < 30'000; ++i) low += rng.Below(kBound) < kBound / 3;
  EXPECT_NEAR(low, 10'000, 490);
}

TEST(Rng, BetweenIncludesBothEnds) {
  Rng rng(7);
  std::map<int64_t, int> seen;
  for (int i = 0; i < 1000; ++i) ++seen[rng.Between(-2, 1)];
  EXPECT_THAT(seen, ElementsAre(testing::Key(-2), testing::Key(-1),
                                testing::Key(0), testing::Key(1)));
}

TEST(Rng, BetweenTakesTheWidestRangeAndTheNarrowest) {
  constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
  constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();
  Rng rng(7);
  bool negative = false;
  bool positive = false;
  for (int i = 0; i < 100; ++i) {
    const int64_t drawn = rng.Between(kLowest, kHighest);
    negative |= drawn < 0;
    positive |= drawn > 0;
    EXPECT_EQ(rng.Between(kLowest, kLowest), kLowest);
  }
  EXPECT_TRUE(negative && positive);
}

TEST(Rng, ChanceHoldsItsRate) {
  Rng rng(7);
  int hits = 0;
  for (int i = 0; i < 40'000; ++i) {
    hits += rng.Chance(1, 4);
    EXPECT_FALSE(rng.Chance(0, 4));
    EXPECT_TRUE(rng.Chance(4, 4));
  }
  EXPECT_NEAR(hits, 10'000, 520);
}

TEST(Rng, ShuffleMakesEveryOrderAboutEquallyOften) {
  Rng rng(7);
  std::map<std::vector<int>, int> seen;
  for (int i = 0; i < 6000; ++i) {
    std::vector<int> values = {1, 2, 3};
    rng.Shuffle(values);
    ++seen[values];
  }
  EXPECT_EQ(seen.size(), 6u);
  for (const auto& [order, count] : seen) {
    EXPECT_NEAR(count, 1000, 174) << testing::PrintToString(order);
  }
}

TEST(Rng, ShuffleTakesAnyLength) {
  Rng rng(7);
  std::vector<int> values;
  rng.Shuffle(values);
  EXPECT_TRUE(values.empty());
  values.resize(1000);
  std::iota(values.begin(), values.end(), 0);
  std::vector<int> shuffled = values;
  rng.Shuffle(shuffled);
  EXPECT_NE(shuffled, values);
  std::ranges::sort(shuffled);
  EXPECT_EQ(shuffled, values);
}

TEST(RngDeathTest, RefusesAnEmptyRange) {
  Rng rng(7);
  EXPECT_DEATH(rng.Below(0), "n > 0");
  EXPECT_DEATH(rng.Between(1, 0), "lo <= hi");
}

}  // namespace
}  // namespace sluice
