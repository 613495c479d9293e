#include "constraints/constraint_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/constraints/rule_cases.h"

namespace sluice {
namespace {

using testing::ElementsAre;

TEST(ConstraintSet, AllowsWhatNoConstraintForbids) {
  const ConstraintSet constraints;
  Machine machine;
  EXPECT_TRUE(constraints.Allows({}, machine)) << "a task that asks nothing";
  const ClassKey one_pod{.request = Resources(0, 0, 0, 1)};
  EXPECT_FALSE(constraints.Allows(one_pod, machine));
  machine.allocatable = Resources(0, 0, 0, 1);
  EXPECT_TRUE(constraints.Allows(one_pod, machine));
}

TEST(ConstraintSet, AsksForLoadWhatDependsOnLoadAlone) {
  const ConstraintSet constraints;
  const PlacementRules rules = Listening({TcpPort(80)});
  const ClassKey key{.request = Resources(0, 0, 0, 1), .rules = &rules};
  Machine machine = Tainted({NoSchedule("dedicated")});
  machine.allocatable = Resources(0, 0, 0, 1);
  EXPECT_FALSE(constraints.Allows(key, machine));
  EXPECT_TRUE(constraints.AllowsLoad(key, machine, machine.Free()));
  EXPECT_FALSE(constraints.AllowsLoad(key, machine, Resources()));
  machine.used_host_ports = {TcpPort(80)};
  EXPECT_FALSE(constraints.AllowsLoad(key, machine, machine.Free()));
}

TEST(ConstraintSet, KnowsForWhichClassesItIsEnoughThatTheyFit) {
  const ConstraintSet constraints;
  EXPECT_FALSE(
      constraints.AsksForMoreThanFit({.request = Resources(100, 0, 0, 1)}));
  const PlacementRules rules = Listening({TcpPort(80)});
  EXPECT_TRUE(constraints.AsksForMoreThanFit({.request = {}, .rules = &rules}));
}

// Equal rules at another address are asked everything.
TEST(ConstraintSet, JudgesClassesWithoutRulesAsWithEmptyOnes) {
  const ConstraintSet constraints;
  const PlacementRules empty;
  const ClassKey without{.request = Resources(0, 0, 0, 1)};
  const ClassKey with{.request = without.request, .rules = &empty};
  Machine roomy = Labeled({{"gpu", "yes"}});
  roomy.allocatable = Resources(0, 0, 0, 1);
  roomy.used_host_ports = {TcpPort(80)};
  Machine tainted = Tainted({NoSchedule("dedicated")});
  tainted.allocatable = roomy.allocatable;
  for (const Machine& machine : {roomy, tainted, Machine()}) {
    EXPECT_EQ(constraints.Allows(without, machine),
              constraints.Allows(with, machine));
    EXPECT_EQ(constraints.AllowsLoad(without, machine, machine.Free()),
              constraints.AllowsLoad(with, machine, machine.Free()));
  }
  EXPECT_TRUE(constraints.Allows(without, roomy));
  EXPECT_FALSE(constraints.Allows(without, tainted));
  EXPECT_FALSE(constraints.AsksForMoreThanFit(without));
}

TEST(ConstraintSet, AppendsItsReasonsInOrder) {
  const ConstraintSet constraints;
  const std::string name = "pods";
  PlacementRules rules = Selecting({LabelExists("gpu")});
  rules.required = {Term({LabelIn("zone", {"a"})})};
  rules.host_ports = {TcpPort(80)};
  Machine machine = Tainted({NoSchedule("dedicated")});
  machine.used_host_ports = {TcpPort(80)};
  std::vector<Reason> reasons = {{"earlier", "", ""}};
  constraints.Explain(
      {.request = Resources(0, 0, 0, 1), .rules = &rules}, machine,
      [&](ResourceIndex) -> const std::string& { return name; }, &reasons);
  std::vector<std::string> codes;
  for (const Reason& reason : reasons) codes.push_back(reason.code);
  EXPECT_THAT(codes,
              ElementsAre("earlier", "untolerated_taint",
                          "node_selector_mismatch", "node_affinity_mismatch",
                          "host_port_in_use", "insufficient_pods"));
}

}  // namespace
}  // namespace sluice
