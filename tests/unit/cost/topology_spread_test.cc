// The topology_spread policy.

#include <gtest/gtest.h>

#include <limits>

#include "cost/policy_set.h"

namespace sluice {
namespace {

class TopologySpreadTest : public testing::Test {
 protected:
  Cost CostOf(int64_t crowding) const {
    return policies_.PeerCost({.crowding = crowding});
  }
  const PolicySet policies_ = *PolicySet::FromNames("topology_spread");
};

TEST_F(TopologySpreadTest, ChargesForTheCrowd) {
  EXPECT_EQ(CostOf(0), 0);
  EXPECT_EQ(CostOf(kCrowdingUnit), 60000);
  EXPECT_EQ(CostOf(2 * kCrowdingUnit), 120000);
  EXPECT_EQ(CostOf(kCrowdingUnit / 2), 30000);
}

TEST_F(TopologySpreadTest, ChargesSoMuchAtMost) {
  EXPECT_EQ(CostOf(50 * kCrowdingUnit), 3000000);
  EXPECT_EQ(CostOf(50 * kCrowdingUnit + 1), 3000000);
  EXPECT_EQ(CostOf(std::numeric_limits<int64_t>::max()), 3000000);
  EXPECT_EQ(CostOf(-1), 0);
}

TEST_F(TopologySpreadTest, DoesNotChargeForWeights) {
  EXPECT_EQ(
      policies_.PeerCost({.missed_weight = 100, .missed_weight_max = 100}), 0);
}

// Load decides between domains that are equally full only.
TEST_F(TopologySpreadTest, OutweighsLoadWithASingleTask) {
  const PolicySet load = *PolicySet::FromNames("cpu_memory");
  Machine machine;
  machine.allocatable = machine.capacity = Resources(1000, 1000, 0, 9);
  EXPECT_GT(CostOf(kCrowdingUnit),
            load.LoadCost(machine, Resources(1000, 1000, 0, 9)));
}

}  // namespace
}  // namespace sluice
