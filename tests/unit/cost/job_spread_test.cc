// The job_spread policy.

#include <gtest/gtest.h>

#include "cost/policy_set.h"

namespace sluice {
namespace {

TEST(JobSpread, ChargesForEachOtherTaskOfTheJob) {
  const PolicySet policies = *PolicySet::FromNames("job_spread");
  EXPECT_TRUE(policies.Charges(CostKind::kSiblings));
  EXPECT_EQ(policies.SiblingCost(0), 0);
  EXPECT_EQ(policies.SiblingCost(1), 1);
  EXPECT_EQ(policies.SiblingCost(1000), 1000);
}

// So that an even spread costs the least.
TEST(JobSpread, ChargesMoreForTheNextThanForTheOneBefore) {
  const PolicySet policies = *PolicySet::FromNames("job_spread");
  for (int64_t siblings = 0; siblings < 100; ++siblings) {
    EXPECT_GT(policies.SiblingCost(siblings + 1),
              policies.SiblingCost(siblings));
  }
}

TEST(JobSpread, IsInForceByDefault) {
  EXPECT_TRUE(
      PolicySet::FromNames(kDefaultCostModels)->Charges(CostKind::kSiblings));
  EXPECT_FALSE(
      PolicySet::FromNames("cpu_memory")->Charges(CostKind::kSiblings));
}

}  // namespace
}  // namespace sluice
