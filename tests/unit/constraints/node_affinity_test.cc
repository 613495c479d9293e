// The reasons that required node affinity gives; kubernetes_rules_test.cc has
// the verdicts.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/constraints/rule_cases.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(NodeAffinity, SaysWhatWasDemandedAndWhatIsMissing) {
  const auto rules =
      Requiring({Term({LabelIn("disk", {"ssd"}), LabelIn("zone", {"a"})}),
                 Term({LabelAbove("cpus", 8)})});
  EXPECT_THAT(
      ReasonsFor(rules, Labeled({{"cpus", "8"}, {"zone", "a"}})),
      ElementsAre("node_affinity_mismatch | node(s) didn't match the node "
                  "affinity disk=ssd and zone=a or cpus > 8 | "
                  "lacks a match for disk=ssd or cpus > 8"));
}

TEST(NodeAffinity, NamesTheLabelThatIsMissing) {
  EXPECT_THAT(
      ReasonsFor(Requiring({Term({LabelIn("disk", {"ssd"})})}), Machine()),
      ElementsAre("node_affinity_mismatch | node(s) didn't match the "
                  "node affinity disk=ssd | lacks the label disk=ssd"));
}

TEST(NodeAffinity, SaysWhatIsWrongWithATermThatMatchesNothing) {
  EXPECT_THAT(
      ReasonsFor(Requiring({Term({}),
                            Term({LabelInvalid("disk", "operator 'Near'")})}),
                 Machine()),
      ElementsAre("node_affinity_mismatch | node(s) didn't match the node "
                  "affinity (empty term) or disk (operator 'Near') | "
                  "lacks a match for (empty term) or disk (operator 'Near')"));
}

TEST(NodeAffinity, IsSilentWhereATermHolds) {
  EXPECT_THAT(ReasonsFor(Requiring({Term({}), Term({LabelExists("gpu")})}),
                         Labeled({{"gpu", ""}})),
              IsEmpty());
}

}  // namespace
}  // namespace sluice
