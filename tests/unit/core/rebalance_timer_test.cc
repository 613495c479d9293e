#include "core/rebalance_timer.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(RebalanceTimer, IsDueSoonerWhereTheClusterHasChanged) {
  RebalanceTimer timer;
  EXPECT_TRUE(timer.IsDue(0, 7)) << "nobody has looked yet";
  timer.Note(1000, 7);
  EXPECT_FALSE(timer.IsDue(1000 + RebalanceTimer::kChangedMs - 1, 8));
  EXPECT_TRUE(timer.IsDue(1000 + RebalanceTimer::kChangedMs, 8));
  EXPECT_FALSE(timer.IsDue(1000 + RebalanceTimer::kChangedMs, 7));
  EXPECT_TRUE(timer.IsDue(1000 + RebalanceTimer::kUnchangedMs, 7));
}

TEST(RebalanceTimer, CountsLooks) {
  RebalanceTimer timer;
  EXPECT_EQ(timer.turn(), 0u);
  timer.Note(1000, 7);
  timer.Note(2000, 7);
  EXPECT_EQ(timer.turn(), 2u);
  EXPECT_FALSE(timer.IsDue(2000, 7));
  EXPECT_TRUE(timer.Due().IsDue(2000, 7));
  EXPECT_EQ(timer.Due().turn(), 2u);
}

}  // namespace
}  // namespace sluice
