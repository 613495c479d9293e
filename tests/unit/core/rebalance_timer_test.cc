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

}  // namespace
}  // namespace sluice
