// The taint policy.

#include <gtest/gtest.h>

#include "base/limits.h"
#include "base/strings.h"
#include "cost/policy_set.h"
#include "util/cluster_builder.h"

namespace sluice {
namespace {

class TaintTest : public testing::Test {
 protected:
  Cost CostOf(std::vector<Toleration> tolerations,
              const std::vector<Taint>& taints) const {
    PlacementRules rules;
    rules.tolerations = std::move(tolerations);
    Machine machine;
    for (const Taint& taint : taints) machine.taints.push_back({taint, 0});
    return policies_.PreferenceCost(rules, machine);
  }
  const PolicySet policies_ = *PolicySet::FromNames("taint");
};

TEST_F(TaintTest, ChargesForEachThatIsNotTolerated) {
  const std::vector<Taint> taints = {PreferNoSchedule("arch", "arm64"),
                                     PreferNoSchedule("arch", "riscv"),
                                     PreferNoSchedule("spot")};
  EXPECT_EQ(CostOf({}, {}), 0);
  EXPECT_EQ(CostOf({}, taints), 3 * 450000);
  EXPECT_EQ(CostOf({Tolerates(taints[0])}, taints), 2 * 450000);
  EXPECT_EQ(CostOf({ToleratesKey("arch")}, taints), 450000);
  EXPECT_EQ(CostOf({ToleratesEverything()}, taints), 0);
}

TEST_F(TaintTest, ChargesForNoOtherEffect) {
  EXPECT_EQ(CostOf({}, {NoSchedule("a"),
                        NoExecute("b"),
                        {"c", "", TaintEffect::kUnknown}}),
            0);
}

// By more than load differs.
TEST_F(TaintTest, ChargesMoreForEachFurtherOne) {
  constexpr Cost kLoadMax = 10000;  // Of network_aware.
  std::vector<Taint> taints;
  Cost before = 0;
  for (size_t i = 0; i < kTaintsMax; ++i) {
    taints.push_back(PreferNoSchedule(StrCat("taint-", i)));
    const Cost cost = CostOf({}, taints);
    EXPECT_GT(cost, before + kLoadMax) << taints.size() << " taints";
    before = cost;
  }
  EXPECT_LE(before, kModelCostMax);
}

// As much more as in Kubernetes' default profile.
TEST_F(TaintTest, CountsHalfAsMuchAgainAsAPreferenceOfWeight100) {
  PlacementRules rules;
  rules.preferred = {{100, {{LabelExists("gpu")}, {}}}};
  const Cost preference =
      PolicySet::FromNames("node_affinity")->PreferenceCost(rules, Machine());
  EXPECT_EQ(2 * CostOf({}, {PreferNoSchedule("spot")}), 3 * preference);
}

}  // namespace
}  // namespace sluice
