#include "state/dominant_share.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "sluice/state/resources.h"

namespace sluice {
namespace {

TEST(DominantShare, IsThatOfTheScarcestResource) {
  const Resources whole(1000, 800, 0, 10);
  EXPECT_EQ(DominantShare(Resources(100, 200, 0, 1), whole).In(100), 25);
  EXPECT_EQ(DominantShare(Resources(500, 200, 0, 1), whole).In(100), 50);
  EXPECT_DOUBLE_EQ(
      DominantShare(std::vector<int64_t>{1, 3}, std::vector<int64_t>{9, 4})
          .ratio(),
      0.75);
}

TEST(DominantShare, LeavesOutWhatTheWholeLacks) {
  EXPECT_EQ(DominantShare(Resources(1, 5, 7, 1), Resources(4, 0, 0, 0)).In(4),
            1);
  EXPECT_EQ(DominantShare(Resources(1, 5, 7, 1), Resources()).In(4), 0);
  Resources extended;
  extended.Set(kBuiltinResourceCount, 3);
  EXPECT_EQ(DominantShare(extended, Resources(1, 1, 1, 1)).In(4), 0);
  EXPECT_EQ(DominantShare(Resources(1, 0, 0, 0), extended).In(4), 0);
}

TEST(DominantShare, IsNeverNegative) {
  EXPECT_EQ(DominantShare(Resources(-5, 0, 0, 0), Resources(5, 5, 5, 5)).In(8),
            0);
}

TEST(Share, IsRoundedDownAndBounded) {
  EXPECT_EQ((Share{.amount = 2, .whole = 3}).In(10), 6);
  const Share huge = {.amount = kAmountSaturated, .whole = 1};
  EXPECT_EQ(huge.In(int64_t{1} << 40), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(huge.In(int64_t{1} << 40, 1000), 1000);
}

}  // namespace
}  // namespace sluice
