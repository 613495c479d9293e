// The reasons that selectors give; kubernetes_rules_test.cc has the verdicts.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/constraints/rule_cases.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(NodeSelector, CountsTheFirstMissAndNamesAll) {
  const auto rules =
      Selecting({LabelIn("arch", {"amd64"}), LabelIn("disk", {"nvme", "ssd"}),
                 LabelExists("gpu")});
  EXPECT_THAT(
      ReasonsFor(rules, Labeled({{"arch", "amd64"}, {"disk", "hdd"}})),
      ElementsAre("node_selector_mismatch | "
                  "node(s) didn't match the selector disk in (nvme,ssd) | "
                  "lacks a match for disk in (nvme,ssd) and gpu"));
  EXPECT_THAT(ReasonsFor(rules, Labeled({{"arch", "amd64"}, {"disk", "ssd"}})),
              ElementsAre("node_selector_mismatch | "
                          "node(s) didn't match the selector gpu | "
                          "lacks the label gpu"));
}

TEST(NodeSelector, SaysWhatIsWrongWithAnInvalidOne) {
  EXPECT_THAT(
      ReasonsFor(Selecting({LabelInvalid("disk", "type 9 is unknown")}),
                 Labeled({{"disk", "ssd"}})),
      ElementsAre("node_selector_mismatch | node(s) didn't match the selector "
                  "disk (type 9 is unknown) | "
                  "lacks a match for disk (type 9 is unknown)"));
}

TEST(NodeSelector, IsSilentWhereAllHold) {
  EXPECT_THAT(ReasonsFor(Selecting({LabelIn("disk", {"ssd"}),
                                    LabelDoesNotExist("gpu")}),
                         Labeled({{"disk", "ssd"}})),
              IsEmpty());
}

}  // namespace
}  // namespace sluice
