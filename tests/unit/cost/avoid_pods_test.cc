// The avoid_pods policy.

#include <gtest/gtest.h>

#include "cost/policy_set.h"

namespace sluice {
namespace {

class AvoidPodsTest : public testing::Test {
 protected:
  Cost CostOf(const Owner& owner) const {
    PlacementRules rules;
    rules.owner = owner;
    return policies_.PreferenceCost(rules, machine_);
  }
  const PolicySet policies_ = *PolicySet::FromNames("avoid_pods");
  Machine machine_;
};

TEST_F(AvoidPodsTest, ChargesWhereTheMachineAvoidsTheOwner) {
  machine_.avoids = {{"ReplicaSet", "a"}, {"ReplicaSet", "c"}};
  EXPECT_EQ(CostOf({"ReplicaSet", "a"}), 8000000);
  EXPECT_EQ(CostOf({"ReplicaSet", "c"}), 8000000);
}

TEST_F(AvoidPodsTest, ComparesKindAndUid) {
  machine_.avoids = {{"ReplicaSet", "a"}};
  EXPECT_EQ(CostOf({"ReplicaSet", "b"}), 0);
  EXPECT_EQ(CostOf({"ReplicationController", "a"}), 0);
}

TEST_F(AvoidPodsTest, NeverAvoidsTasksWithoutOwner) {
  machine_.avoids = {{"", ""}, {"ReplicaSet", "a"}};
  EXPECT_EQ(CostOf({}), 0);
}

}  // namespace
}  // namespace sluice
