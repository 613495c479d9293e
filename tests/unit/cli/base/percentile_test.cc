#include "cli/base/percentile.h"

#include <gtest/gtest.h>

#include <vector>

namespace sluice {
namespace {

TEST(Percentile, OfNothingIsZero) { EXPECT_EQ(Percentile({}, 50), 0); }

TEST(Percentile, OfOneValueIsThatValue) {
  EXPECT_EQ(Percentile({7}, 1), 7);
  EXPECT_EQ(Percentile({7}, 100), 7);
}

TEST(Percentile, IsTheNearestRankWhateverTheOrder) {
  const std::vector<int64_t> values = {50, 15, 40, 20, 35};
  EXPECT_EQ(Percentile(values, 5), 15);
  EXPECT_EQ(Percentile(values, 20), 15);
  EXPECT_EQ(Percentile(values, 21), 20);
  EXPECT_EQ(Percentile(values, 40), 20);
  EXPECT_EQ(Percentile(values, 50), 35);
  EXPECT_EQ(Percentile(values, 99), 50);
  EXPECT_EQ(Percentile(values, 100), 50);
}

TEST(Percentile, CountsEqualValuesEachTime) {
  EXPECT_EQ(Percentile({1, 1, 1, 9}, 75), 1);
  EXPECT_EQ(Percentile({1, 1, 1, 9}, 76), 9);
}

}  // namespace
}  // namespace sluice
