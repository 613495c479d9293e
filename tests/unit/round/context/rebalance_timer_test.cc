#include "round/context/rebalance_timer.h"

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

TEST(RebalanceTimer, HasNewsOnceSomethingHasChangedAndAfterAMinute) {
  RebalanceTimer timer;
  EXPECT_TRUE(timer.HasNews(0, 7)) << "nobody has looked yet";
  timer.NoteWhole(1000, 7, /*is_for_long=*/true);
  EXPECT_FALSE(timer.HasNews(2000, 7));
  EXPECT_TRUE(timer.HasNews(2000, 8));
  EXPECT_TRUE(timer.HasNews(1000 + RebalanceTimer::kUnchangedMs, 7));
  EXPECT_TRUE(timer.Due().HasNews(2000, 7));
}

TEST(RebalanceTimer, HasNewsSoonerWherePlacementsWereUntold) {
  RebalanceTimer timer;
  timer.NoteWhole(1000, 7, /*is_for_long=*/false);
  EXPECT_FALSE(timer.HasNews(1000 + RebalanceTimer::kChangedMs - 1, 7));
  timer.NoteNoNews(8);
  EXPECT_TRUE(timer.HasNews(1000 + RebalanceTimer::kChangedMs, 8));
  timer.NoteWhole(20'000, 8, /*is_for_long=*/true);
  EXPECT_FALSE(timer.HasNews(20'000 + RebalanceTimer::kChangedMs, 8));
}

TEST(RebalanceTimer, TakesWhatARoundDoesItselfForNoNews) {
  RebalanceTimer timer;
  timer.NoteWhole(1000, 7, /*is_for_long=*/true);
  timer.NoteNoNews(9);
  EXPECT_FALSE(timer.HasNews(2000, 9));
  EXPECT_TRUE(timer.HasNews(1000 + RebalanceTimer::kUnchangedMs, 9));
}

}  // namespace
}  // namespace sluice
