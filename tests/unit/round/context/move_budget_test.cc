#include "round/context/move_budget.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace sluice {
namespace {

constexpr int64_t kMinuteMs = 60 * 1000;

TEST(MoveBudget, IsAPartOfWhatRuns) {
  MoveBudget budget({.percent_per_round = 1, .percent_per_hour = 10});
  EXPECT_EQ(budget.LeftFor(0, 2000).in_round, 20);
  EXPECT_EQ(budget.LeftFor(0, 150'099).in_round, 1500);
}

TEST(MoveBudget, LetsAFewMoveInASmallCluster) {
  MoveBudget budget({.percent_per_round = 1, .percent_per_hour = 10});
  EXPECT_EQ(budget.LeftFor(0, 30).in_round, MoveBudget::kAlways);
  budget.Note(0, 4);
  EXPECT_EQ(budget.LeftFor(0, 30).in_round, MoveBudget::kAlways - 4);
}

TEST(MoveBudget, IsOverForTheHour) {
  MoveBudget budget({.percent_per_round = 1, .percent_per_hour = 2});
  budget.Note(0, 20);
  budget.Note(30 * kMinuteMs, 15);
  EXPECT_EQ(budget.LeftFor(40 * kMinuteMs, 2000).in_round, 5);
  budget.Note(40 * kMinuteMs, 5);
  EXPECT_EQ(budget.LeftFor(59 * kMinuteMs, 2000).in_round, 0);
  // The first 20 are an hour ago.
  EXPECT_EQ(budget.LeftFor(60 * kMinuteMs, 2000).in_round, 20);
  EXPECT_EQ(budget.LeftFor(90 * kMinuteMs, 1000).in_round, 10);
  // A cluster that has shrunk has moved too many.
  budget.Note(90 * kMinuteMs, 30);
  EXPECT_EQ(budget.LeftFor(90 * kMinuteMs, 1000).in_round, 0);
}

TEST(MoveBudget, LetsAGangTakeWhatTheHourHasLeft) {
  MoveBudget budget({.percent_per_round = 1, .percent_per_hour = 10});
  EXPECT_EQ(budget.LeftFor(0, 2000).in_hour, 200);
  budget.Note(0, 185);
  EXPECT_EQ(budget.LeftFor(0, 2000).in_hour, 15);
  EXPECT_EQ(budget.LeftFor(0, 2000).in_round, 15);
}

TEST(MoveBudget, LetsNobodyMoveWhereNoneMay) {
  MoveBudget none_a_round({.percent_per_round = 0, .percent_per_hour = 100});
  EXPECT_EQ(none_a_round.LeftFor(0, 1000).in_round, 0);
  EXPECT_EQ(none_a_round.LeftFor(0, 1000).in_hour, 0);
  MoveBudget none_an_hour({.percent_per_round = 100, .percent_per_hour = 0});
  EXPECT_EQ(none_an_hour.LeftFor(0, 1000).in_round, 0);
}

}  // namespace
}  // namespace sluice
