// Required taints: verdicts, reasons, and how they are stated and stored.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "firmament/task_desc.pb.h"
#include "messages/fields.h"
#include "unit/constraints/rule_cases.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

PlacementRules Demanding(std::vector<RequiredTaint> required) {
  return {.tolerations = {ToleratesEverything()},
          .required_taints = std::move(required)};
}

TEST(RequiredTaints, KeepATaskToMachinesThatWereSetAside) {
  const PlacementRules rules = Demanding({{"dedicated", {"ml", "render"}}});
  EXPECT_TRUE(IsAllowed(rules, Tainted({NoSchedule("dedicated", "ml")})));
  EXPECT_TRUE(
      IsAllowed(rules, Tainted({PreferNoSchedule("dedicated", "render")})));
  EXPECT_FALSE(IsAllowed(rules, Tainted({NoSchedule("dedicated", "web")})));
  EXPECT_FALSE(IsAllowed(rules, Tainted({NoSchedule("spot", "ml")})));
  EXPECT_FALSE(IsAllowed(rules, Machine()));
}

TEST(RequiredTaints, HoldForAnyValueWhereNoneIsStated) {
  const PlacementRules rules = Demanding({{"dedicated", {}}});
  EXPECT_TRUE(IsAllowed(rules, Tainted({NoSchedule("dedicated")})));
  EXPECT_TRUE(IsAllowed(rules, Tainted({NoSchedule("dedicated", "ml")})));
}

TEST(RequiredTaints, MustAllBeThere) {
  const PlacementRules rules =
      Demanding({{"dedicated", {}}, {"gpu", {"a100"}}});
  EXPECT_TRUE(IsAllowed(
      rules, Tainted({NoSchedule("dedicated"), NoSchedule("gpu", "a100")})));
  EXPECT_FALSE(IsAllowed(rules, Tainted({NoSchedule("dedicated")})));
}

TEST(RequiredTaints, TolerateNothingByThemselves) {
  EXPECT_FALSE(IsAllowed({.required_taints = {{"dedicated", {}}}},
                         Tainted({NoSchedule("dedicated")})));
}

TEST(RequiredTaints, GiveAReasonForTheFirstThatIsMissing) {
  const PlacementRules rules = Demanding(
      {{"dedicated", {}}, {"gpu", {"a100", "h100", "t4"}}, {"spot", {"yes"}}});
  EXPECT_THAT(
      ReasonsFor(rules, Tainted({NoSchedule("dedicated")})),
      ElementsAre("required_taint_missing | lacked the required taint gpu=a100 "
                  "or 2 others | lacks the taint gpu=a100 or 2 others"));
  EXPECT_THAT(
      ReasonsFor(Demanding({{"gpu", {"a100", "t4"}}}), Machine()),
      ElementsAre("required_taint_missing | lacked the required taint gpu=a100 "
                  "or another | lacks the taint gpu=a100 or another"));
  EXPECT_THAT(ReasonsFor(Demanding({{"dedicated", {}}}),
                         Tainted({NoSchedule("dedicated")})),
              IsEmpty());
}

// Clients and stores outlive the daemon: these bytes stay.
TEST(RequiredTaints, AreStatedInTheBytesThatTheyAlwaysWere) {
  const PlacementRules rules = Demanding({{"dedicated", {"ml"}}});
  firmament::TaskRules stated;
  WriteFields(rules, &stated);
  EXPECT_EQ(stated.SerializeAsString(),
            "\x0a\x0f\x0a\x09"
            "dedicated\x12\x02ml");
}

TEST(RequiredTaints, NeedAKey) {
  firmament::TaskRules stated;
  stated.add_required_taints();
  PlacementRules rules;
  EXPECT_EQ(ReadFields(stated, ListsAre::kInOrder, &rules),
            "required_taints: key: is empty");
}

}  // namespace
}  // namespace sluice
