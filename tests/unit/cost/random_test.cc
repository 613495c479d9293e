// The random policy (round/policies_test.cc has what rounds make of it).

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "cost/policy_set.h"

namespace sluice {
namespace {

Cost CostOf(const std::string& policies, const std::string& machine,
            int64_t tasks) {
  Machine one;
  one.uuid = machine;
  return PolicySet::FromNames(policies)->LoadCost(one,
                                                  Resources(0, 0, 0, tasks));
}

TEST(RandomPolicy, DrawsByMachineTasksAndSeed) {
  std::set<Cost> costs;
  for (int i = 0; i < 1000; ++i) {
    costs.insert(CostOf("random", "m" + std::to_string(i), 0));
    costs.insert(CostOf("random", "m", i));
    costs.insert(CostOf("random:seed=" + std::to_string(i), "m", 0));
  }
  // Of 3,000 draws nearly all of 1,000 numbers.
  EXPECT_GT(costs.size(), 900u);
  EXPECT_GE(*costs.begin(), 0);
  EXPECT_LT(*costs.rbegin(), 1000);
}

TEST(RandomPolicy, TellsMachinesApart) {
  EXPECT_TRUE(PolicySet::FromNames("random,taint")->TellsMachinesApart());
  EXPECT_FALSE(PolicySet::FromNames(kDefaultCostModels)->TellsMachinesApart());
}

}  // namespace
}  // namespace sluice
