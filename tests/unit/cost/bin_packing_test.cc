// The bin_packing policy (round/policies_test.cc has what rounds make of it).

#include <gtest/gtest.h>

#include "cost/policy_set.h"

namespace sluice {
namespace {

class BinPackingTest : public testing::Test {
 protected:
  BinPackingTest() {
    machine_.capacity = Resources(1000, 2000, 0, 10);
    machine_.allocatable = Resources(900, 2000, 0, 10);
  }
  Cost CostOf(int64_t cpu, int64_t memory, int64_t tasks) const {
    return policies_.LoadCost(machine_, Resources(cpu, memory, 0, tasks));
  }
  Machine machine_;
  const PolicySet policies_ = *PolicySet::FromNames("bin_packing");
};

TEST_F(BinPackingTest, ChargesForTheRoomThatIsLeft) {
  EXPECT_EQ(CostOf(0, 0, 1), 950) << "what the system reserves is no room";
  EXPECT_EQ(CostOf(400, 1000, 1), 500);
  EXPECT_EQ(CostOf(900, 2000, 1), 0);
}

TEST_F(BinPackingTest, ChargesMoreForTheFirstTask) {
  EXPECT_EQ(CostOf(400, 1000, 0), 1500);
}

TEST_F(BinPackingTest, StaysWithinItsScaleWhateverTheLoad) {
  EXPECT_EQ(CostOf(kAmountSaturated, kAmountSaturated, 1), 0);
  EXPECT_EQ(CostOf(-kAmountSaturated, -kAmountSaturated, 0), 2000);
  EXPECT_EQ(policies_.LoadCost({}, {}), 1000);
}

TEST_F(BinPackingTest, FallsWithLoad) {
  EXPECT_TRUE(policies_.FallsWithLoad());
  EXPECT_FALSE(PolicySet::FromNames(kDefaultCostModels)->FallsWithLoad());
}

}  // namespace
}  // namespace sluice
