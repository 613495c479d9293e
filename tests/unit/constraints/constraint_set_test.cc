#include "constraints/constraint_set.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sluice {
namespace {

TEST(ConstraintSet, AllowsWhatNoConstraintForbids) {
  const ConstraintSet constraints;
  Machine machine;
  EXPECT_TRUE(constraints.Allows({}, machine)) << "a task that asks nothing";
  const ClassKey one_pod{.request = Resources(0, 0, 0, 1)};
  EXPECT_FALSE(constraints.Allows(one_pod, machine));
  machine.allocatable = Resources(0, 0, 0, 1);
  EXPECT_TRUE(constraints.Allows(one_pod, machine));
}

TEST(ConstraintSet, AppendsItsReasons) {
  const ConstraintSet constraints;
  const std::string name = "pods";
  std::vector<Reason> reasons = {{"earlier", "", ""}};
  constraints.Explain(
      {.request = Resources(0, 0, 0, 1)}, Machine(),
      [&](ResourceIndex) -> const std::string& { return name; }, &reasons);
  ASSERT_EQ(reasons.size(), 2u);
  EXPECT_EQ(reasons[0].code, "earlier");
  EXPECT_EQ(reasons[1].code, "insufficient_pods");
}

}  // namespace
}  // namespace sluice
