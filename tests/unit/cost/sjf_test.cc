// The sjf policy (src/cost/models/sjf.cc).

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>

#include "cost/policy_set.h"
#include "cost/waiting_cost.h"

namespace sluice {
namespace {

constexpr int64_t kMinuteMs = 60000;

const PolicySet& Sjf() {
  static const PolicySet policies = *PolicySet::FromNames("sjf");
  return policies;
}

TEST(Sjf, DoublesThePriceWithEachStepThatATaskIsShorter) {
  struct Row {
    int64_t step;
    int64_t factor;
  };
  constexpr Row kRows[] = {{0, 64}, {6, 64}, {7, 64}, {8, 32}, {9, 16},
                           {10, 8},  // What is usual, or not known.
                           {11, 4}, {12, 2}, {13, 1}, {14, 1}, {35, 1}};
  for (const auto& [step, factor] : kRows) {
    EXPECT_EQ(Sjf().WaitingCost(kWaitingCostBase, {step, 10}),
              factor * kWaitingCostBase)
        << "step " << step;
  }
}

TEST(Sjf, KeepsItsScaleWhateverTheSteps) {
  constexpr int64_t kFar = std::numeric_limits<int64_t>::max() / 4;
  EXPECT_EQ(Sjf().WaitingCost(1, {kFar, 0}), 1);
  EXPECT_EQ(Sjf().WaitingCost(1, {0, kFar}), kWaitingFactorMax);
}

TEST(Sjf, NeverExceedsTheMaximumByAge) {
  EXPECT_EQ(Sjf().WaitingCost(kWaitingCostMax, {0, 10}), kWaitingCostMax);
  EXPECT_EQ(Sjf().WaitingCost(kWaitingCostMax, {20, 10}), kWaitingCostMax);
}

TEST(Sjf, LetsTheLongestOvertakeNewcomersOfTheShortestAfterAnHour) {
  const Cost newcomer = Sjf().WaitingCost(WaitingCost(0), {7, 10});
  const auto longest = [](int64_t minutes) {
    return Sjf().WaitingCost(WaitingCost(minutes * kMinuteMs), {13, 10});
  };
  EXPECT_LT(longest(62), newcomer);
  EXPECT_EQ(longest(63), newcomer);
  EXPECT_GT(longest(64), newcomer);
}

TEST(Sjf, ChargesNoPlacement) {
  EXPECT_TRUE(Sjf().Charges(CostKind::kWaiting));
  for (const CostKind kind : {CostKind::kLoad, CostKind::kPreference,
                              CostKind::kPeers, CostKind::kSiblings}) {
    EXPECT_FALSE(Sjf().Charges(kind));
  }
  EXPECT_FALSE(
      PolicySet::FromNames(kDefaultCostModels)->Charges(CostKind::kWaiting));
}

}  // namespace
}  // namespace sluice
