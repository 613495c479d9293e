// The pod_affinity policy.

#include <gtest/gtest.h>

#include <limits>

#include "cost/policy_set.h"

namespace sluice {
namespace {

class PodAffinityTest : public testing::Test {
 protected:
  Cost CostOf(int64_t missed, int64_t missed_max) const {
    return policies_.PeerCost(
        {.missed_weight = missed, .missed_weight_max = missed_max});
  }
  const PolicySet policies_ = *PolicySet::FromNames("pod_affinity");
};

TEST_F(PodAffinityTest, ChargesForTheWeightThatIsMissed) {
  EXPECT_EQ(CostOf(0, 0), 0);
  EXPECT_EQ(CostOf(0, 100), 0);
  EXPECT_EQ(CostOf(1, 100), 3000);
  EXPECT_EQ(CostOf(100, 100), 300000);
}

TEST_F(PodAffinityTest, KeepsWeightsInFullUpToADifferenceOf1000) {
  EXPECT_EQ(CostOf(1000, 1000), 3000000);
  EXPECT_EQ(CostOf(1, 1000), 3000);
}

TEST_F(PodAffinityTest, ScalesLargerDifferencesDownInProportion) {
  EXPECT_EQ(CostOf(2000, 2000), 3000000);
  EXPECT_EQ(CostOf(100, 2000), 150000);
  EXPECT_EQ(CostOf(0, 2000), 0);
}

// As many tasks are counted as run.
TEST_F(PodAffinityTest, IsWithinItsScaleWhateverTheWeights) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(CostOf(kMost, kMost), 3000000);
  EXPECT_EQ(CostOf(kMost / 2, kMost), 1499999);
  EXPECT_EQ(CostOf(-1, 100), 0);
  EXPECT_LE(CostOf(kMost, 1), kModelCostMax);
}

TEST_F(PodAffinityTest, DoesNotChargeForTheCrowd) {
  EXPECT_EQ(policies_.PeerCost({.crowding = 10 * kCrowdingUnit}), 0);
}

// As in Kubernetes' default profile.
TEST_F(PodAffinityTest, CountsAWeightAsMuchAsNodeAffinityDoes) {
  PlacementRules rules;
  rules.preferred = {{100, {{{"gpu", LabelOperator::kExists, {}}}, {}}}};
  EXPECT_EQ(
      CostOf(100, 100),
      PolicySet::FromNames("node_affinity")->PreferenceCost(rules, Machine()));
}

}  // namespace
}  // namespace sluice
