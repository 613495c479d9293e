// The reasons that taints give; kubernetes_rules_test.cc has the verdicts.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/constraints/rule_cases.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Taints, GiveAReasonForEachThatRepels) {
  const Machine machine =
      Tainted({NoSchedule("dedicated", "ml"), PreferNoSchedule("spot"),
               NoExecute("broken"), NoSchedule("gpu")});
  EXPECT_THAT(
      ReasonsFor(Tolerating({ToleratesKey("gpu")}), machine),
      ElementsAre("untolerated_taint | had the taint dedicated=ml:NoSchedule | "
                  "lacks the task's toleration of dedicated=ml:NoSchedule",
                  "untolerated_taint | had the taint broken:NoExecute | "
                  "lacks the task's toleration of broken:NoExecute"));
}

TEST(Taints, SayThatAMachineIsUnschedulable) {
  EXPECT_THAT(
      ReasonsFor(NoRules(),
                 Tainted({NoSchedule("node.kubernetes.io/unschedulable")})),
      ElementsAre("unschedulable | node(s) were unschedulable | lacks the "
                  "task's toleration of "
                  "node.kubernetes.io/unschedulable:NoSchedule"));
}

TEST(Taints, AreSilentWhereAllAreTolerated) {
  EXPECT_THAT(
      ReasonsFor(Tolerating({ToleratesEverything()}),
                 Tainted({NoSchedule("dedicated", "ml"), NoExecute("broken")})),
      IsEmpty());
}

}  // namespace
}  // namespace sluice
