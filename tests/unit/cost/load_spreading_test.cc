// The load_spreading policy (round/policies_test.cc has what rounds make of
// it).

#include <gtest/gtest.h>

#include "cost/policy_set.h"

namespace sluice {
namespace {

class LoadSpreadingTest : public testing::Test {
 protected:
  Cost CostOf(int64_t task_count) const {
    return policies_.LoadCost({}, Resources(0, 0, 0, task_count));
  }
  const PolicySet policies_ = *PolicySet::FromNames("load_spreading");
};

TEST_F(LoadSpreadingTest, ChargesAHundredForEachTask) {
  EXPECT_EQ(CostOf(0), 0);
  EXPECT_EQ(CostOf(1), 100);
  EXPECT_EQ(CostOf(7), 700);
}

TEST_F(LoadSpreadingTest, DoesNotLookAtWhatTasksAskFor) {
  EXPECT_EQ(policies_.LoadCost({}, Resources(9000, 9000, 9000, 2)), 200);
}

TEST_F(LoadSpreadingTest, StaysWithinItsScaleWhateverTheLoad) {
  EXPECT_EQ(CostOf(kAmountSaturated), kModelCostMax);
  EXPECT_EQ(CostOf(-5), 0);
}

}  // namespace
}  // namespace sluice
