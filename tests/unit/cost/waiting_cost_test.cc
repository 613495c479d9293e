#include "cost/waiting_cost.h"

#include <gtest/gtest.h>

#include <limits>

#include "cost/policy_set.h"

namespace sluice {
namespace {

constexpr int64_t kMinuteMs = 60000;

TEST(WaitingCost, StartsAtTheBase) {
  EXPECT_EQ(WaitingCost(0), kWaitingCostBase);
  EXPECT_EQ(WaitingCost(9999), kWaitingCostBase)
      << "tasks submitted together count alike";
}

TEST(WaitingCost, RisesByTheBaseEachMinute) {
  EXPECT_EQ(WaitingCost(kMinuteMs), 2 * kWaitingCostBase);
  EXPECT_EQ(WaitingCost(10 * kMinuteMs), 11 * kWaitingCostBase);
}

TEST(WaitingCost, NeverFalls) {
  Cost last = 0;
  for (int64_t waited_ms = 0; waited_ms < 100 * kMinuteMs; waited_ms += 777) {
    const Cost cost = WaitingCost(waited_ms);
    EXPECT_GE(cost, last) << waited_ms;
    last = cost;
  }
}

TEST(WaitingCost, StopsAtItsBound) {
  EXPECT_EQ(WaitingCost(999 * kMinuteMs), kWaitingCostMax);
  EXPECT_EQ(WaitingCost(1000 * kMinuteMs), kWaitingCostMax);
  EXPECT_EQ(WaitingCost(std::numeric_limits<int64_t>::max()), kWaitingCostMax);
}

TEST(WaitingCost, IsNotLoweredByAClockThatWasSetBack) {
  EXPECT_EQ(WaitingCost(-1), kWaitingCostBase);
  EXPECT_EQ(WaitingCost(std::numeric_limits<int64_t>::min()), kWaitingCostBase);
}

TEST(WaitingCost, IsAddedToMoreThanAnyPlacementOfAllModelsTogether) {
  EXPECT_GT(kPlacementCostMax,
            static_cast<Cost>(CostModels().size()) * kModelCostMax);
}

}  // namespace
}  // namespace sluice
