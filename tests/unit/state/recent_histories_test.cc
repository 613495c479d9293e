#include "state/recent_histories.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::Pair;
using testing::ResultOf;

struct Count {
  int64_t count = 0;
  uint64_t last_use = 0;
};
using Counts = RecentHistories<int, Count>;

auto IsCount(int64_t count) {
  return ResultOf([](const Count& history) { return history.count; }, count);
}

TEST(SmoothedMean, IsThePlainMeanAtFirst) {
  EXPECT_EQ(SmoothedMean(0, 10, 1), 10);
  EXPECT_EQ(SmoothedMean(10, 20, 2), 15);
  EXPECT_EQ(SmoothedMean(15, 60, 3), 30);
}

TEST(SmoothedMean, MovesByAnEighthOfTheDifferenceLater) {
  EXPECT_EQ(SmoothedMean(800, 1600, 8), 900);
  EXPECT_EQ(SmoothedMean(800, 1600, 1000), 900);
  EXPECT_EQ(SmoothedMean(800, 0, 1000), 700);
}

TEST(RecentHistories, KeepWhatIsKnownOfEachKey) {
  Counts counts(3);
  EXPECT_EQ(counts.Find(1), nullptr);
  EXPECT_EQ(counts.uses(), 0u);
  for (const int key : {2, 1, 2}) ++counts.Use(key).count;
  EXPECT_THAT(counts.all(),
              ElementsAre(Pair(1, IsCount(1)), Pair(2, IsCount(2))));
  ASSERT_NE(counts.Find(2), nullptr);
  EXPECT_EQ(counts.Find(2)->last_use, 3u);
  EXPECT_EQ(counts.uses(), 3u);
}

TEST(RecentHistories, ForgetWhatWasUsedTheLongestAgo) {
  Counts counts(3);
  for (const int key : {1, 2, 3, 1, 4}) ++counts.Use(key).count;
  EXPECT_THAT(counts.all(),
              ElementsAre(Pair(1, IsCount(2)), Pair(3, IsCount(1)),
                          Pair(4, IsCount(1))));
  // It begins anew.
  ++counts.Use(2).count;
  EXPECT_THAT(counts.all(),
              ElementsAre(Pair(1, IsCount(2)), Pair(2, IsCount(1)),
                          Pair(4, IsCount(1))));
}

TEST(RecentHistories, MayHaveRoomForOne) {
  Counts counts(1);
  for (const int key : {1, 2, 2}) ++counts.Use(key).count;
  EXPECT_THAT(counts.all(), ElementsAre(Pair(2, IsCount(2))));
}

}  // namespace
}  // namespace sluice
