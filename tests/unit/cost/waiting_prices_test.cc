#include "cost/waiting_prices.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace sluice {
namespace {

constexpr int64_t kMinuteMs = 60000;
constexpr WorkKindId kShort = {1};
constexpr WorkKindId kLong = {2};
constexpr WorkKindId kUnknown = {3};

const PolicySet& Sjf() {
  static const PolicySet policies = *PolicySet::FromNames("sjf");
  return policies;
}
const PolicySet& Default() {
  static const PolicySet policies = *PolicySet::FromNames(kDefaultCostModels);
  return policies;
}

ClassHistories ShortAndLong() {
  ClassHistories histories;
  histories.Note(kShort, 1024);
  histories.Note(kLong, 16 * 1024);
  return histories;
}

Task TaskOf(WorkKindId kind, int64_t submitted_ms = 0) {
  Task task;
  task.work_kind = kind;
  task.submitted_ms = submitted_ms;
  return task;
}

TEST(WaitingPrices, AreByAgeAloneWithoutAPolicyThatAsksForMore) {
  const WaitingPrices prices(Default(), ShortAndLong(), 5 * kMinuteMs);
  EXPECT_FALSE(prices.HeedKinds());
  EXPECT_EQ(prices.Of(TaskOf(kShort)), WaitingCost(5 * kMinuteMs));
  EXPECT_EQ(prices.Of(TaskOf(kLong, kMinuteMs)), WaitingCost(4 * kMinuteMs));
}

TEST(WaitingPrices, ExpectWhatTheHistoriesSay) {
  const WaitingPrices prices(Sjf(), ShortAndLong(), 0);
  EXPECT_TRUE(prices.HeedKinds());
  EXPECT_EQ(prices.ExpectedOf(kShort).step, 10);
  EXPECT_EQ(prices.ExpectedOf(kLong).step, 14);
  EXPECT_EQ(prices.ExpectedOf(kUnknown).step, 12);
  EXPECT_EQ(prices.ExpectedOf(kUnknown).mean_step, 12);
}

TEST(WaitingPrices, TakeNearlyEqualTimesForEqual) {
  ClassHistories histories;
  histories.Note(kShort, 1100);
  histories.Note(kLong, 2000);
  const WaitingPrices prices(Sjf(), histories, 0);
  EXPECT_EQ(prices.Of(TaskOf(kShort)), prices.Of(TaskOf(kLong)));
}

TEST(WaitingPrices, AreEqualWhereNothingIsKnown) {
  const WaitingPrices prices(Sjf(), ClassHistories(), 0);
  EXPECT_EQ(prices.Of(TaskOf(kShort)), prices.Of(TaskOf(kLong)));
}

TEST(WaitingPrices, AreTheDearestForTheShortestOfThoseThatWaitedEquallyLong) {
  const WaitingPrices prices(Sjf(), ShortAndLong(), kMinuteMs);
  EXPECT_EQ(prices.Of(TaskOf(kShort)), 32 * WaitingCost(kMinuteMs));
  EXPECT_EQ(prices.Of(TaskOf(kUnknown)), 8 * WaitingCost(kMinuteMs));
  EXPECT_EQ(prices.Of(TaskOf(kLong)), 2 * WaitingCost(kMinuteMs));
}

TEST(WaitingPrices, NeverFallWithAge) {
  const ClassHistories histories = ShortAndLong();
  for (const WorkKindId kind : {kShort, kLong, kUnknown}) {
    Cost before = 0;
    for (int64_t minute = -10; minute < 2000; ++minute) {
      const WaitingPrices prices(Sjf(), histories, minute * kMinuteMs);
      const Cost price = prices.Of(TaskOf(kind));
      EXPECT_GE(price, before) << minute;
      before = price;
    }
    EXPECT_EQ(before, kWaitingCostMax) << "in the end all are equal";
  }
}

TEST(WaitingPrices, StayAsTheyWereWhenTheHistoriesChange) {
  ClassHistories histories = ShortAndLong();
  const WaitingPrices prices(Sjf(), histories, 0);
  histories.Note(kUnknown, 1);
  EXPECT_EQ(prices.ExpectedOf(kUnknown).step, 12);
}

TEST(WaitingPrices, SortTheDearestFirstAndLeaveEqualOnesInOrder) {
  const WaitingPrices prices(Sjf(), ShortAndLong(), 0);
  const Task a = TaskOf(kLong);
  const Task b = TaskOf(kShort);
  const Task c = TaskOf(kUnknown);
  const Task d = TaskOf(kShort);
  std::vector<const Task*> tasks = {&a, &b, &c, &d};
  prices.Sort(&tasks);
  EXPECT_EQ(tasks, (std::vector<const Task*>{&b, &d, &c, &a}));
}

}  // namespace
}  // namespace sluice
