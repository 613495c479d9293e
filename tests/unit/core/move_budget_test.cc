#include "core/move_budget.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace sluice {
namespace {

constexpr int64_t kMinuteMs = 60 * 1000;

TEST(MoveBudget, IsAPartOfWhatRuns) {
  MoveBudget budget({.percent_per_round = 1, .percent_per_hour = 10});
  EXPECT_EQ(budget.Left(0, 2000), 20);
  EXPECT_EQ(budget.Left(0, 150'099), 1500);
}

TEST(MoveBudget, LetsAFewMoveInASmallCluster) {
  MoveBudget budget({.percent_per_round = 1, .percent_per_hour = 10});
  EXPECT_EQ(budget.Left(0, 30), MoveBudget::kAlways);
  budget.Note(0, 4);
  EXPECT_EQ(budget.Left(0, 30), MoveBudget::kAlways - 4);
}

TEST(MoveBudget, IsOverForTheHour) {
  MoveBudget budget({.percent_per_round = 1, .percent_per_hour = 2});
  budget.Note(0, 20);
  budget.Note(30 * kMinuteMs, 15);
  EXPECT_EQ(budget.Left(40 * kMinuteMs, 2000), 5);
  budget.Note(40 * kMinuteMs, 5);
  EXPECT_EQ(budget.Left(59 * kMinuteMs, 2000), 0);
  // The first 20 are an hour ago.
  EXPECT_EQ(budget.Left(60 * kMinuteMs, 2000), 20);
  EXPECT_EQ(budget.Left(90 * kMinuteMs, 1000), 10);
  // A cluster that has shrunk has moved too many.
  budget.Note(90 * kMinuteMs, 30);
  EXPECT_EQ(budget.Left(90 * kMinuteMs, 1000), 0);
}

TEST(MoveBudget, LetsNobodyMoveWhereNoneMay) {
  MoveBudget none_a_round({.percent_per_round = 0, .percent_per_hour = 100});
  EXPECT_EQ(none_a_round.Left(0, 1000), 0);
  MoveBudget none_an_hour({.percent_per_round = 100, .percent_per_hour = 0});
  EXPECT_EQ(none_an_hour.Left(0, 1000), 0);
}

}  // namespace
}  // namespace sluice
