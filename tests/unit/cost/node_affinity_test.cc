// The node_affinity policy.

#include <gtest/gtest.h>

#include "base/rng.h"
#include "base/strings.h"
#include "cost/policy_set.h"
#include "util/cluster_builder.h"

namespace sluice {
namespace {

// Prefers the label `key` with `weight`.
PreferredTerm Prefers(int32_t weight, std::string key) {
  return {weight, {{LabelExists(std::move(key))}, {}}};
}

class NodeAffinityTest : public testing::Test {
 protected:
  Cost CostOf(std::vector<PreferredTerm> terms, LabelPairs labels) const {
    PlacementRules rules;
    rules.preferred = std::move(terms);
    Machine machine;
    machine.labels = std::move(labels);
    return policies_.PreferenceCost(rules, machine);
  }
  const PolicySet policies_ = *PolicySet::FromNames("node_affinity");
};

TEST_F(NodeAffinityTest, ChargesForTheWeightThatIsMissed) {
  const std::vector terms = {Prefers(10, "ssd"), Prefers(1, "gpu"),
                             Prefers(100, "zone")};
  EXPECT_EQ(CostOf({}, {}), 0);
  EXPECT_EQ(CostOf(terms, {}), 111 * 3000);
  EXPECT_EQ(CostOf(terms, {{"zone", ""}}), 11 * 3000);
  EXPECT_EQ(CostOf(terms, {{"ssd", ""}, {"zone", ""}}), 3000);
  EXPECT_EQ(CostOf(terms, {{"gpu", ""}, {"ssd", ""}, {"zone", ""}}), 0);
}

TEST_F(NodeAffinityTest, CountsATermTwiceThatIsThereTwice) {
  EXPECT_EQ(CostOf({Prefers(10, "ssd"), Prefers(10, "ssd")}, {}), 20 * 3000);
}

TEST_F(NodeAffinityTest, KeepsWeightsInFullUpToASumOf1000) {
  std::vector<PreferredTerm> terms(10, Prefers(100, "ssd"));
  EXPECT_EQ(CostOf(terms, {}), 3000000);
  terms.back().weight = 99;
  EXPECT_EQ(CostOf(terms, {}), 999 * 3000);
}

TEST_F(NodeAffinityTest, ScalesLargerSumsDownInProportion) {
  std::vector<PreferredTerm> terms(19, Prefers(100, "ssd"));
  terms.push_back(Prefers(99, "gpu"));
  terms.push_back(Prefers(1, "zone"));
  EXPECT_EQ(CostOf(terms, {}), 3000000);
  EXPECT_EQ(CostOf(terms, {{"ssd", ""}}), 100 * 1500);
  EXPECT_EQ(CostOf(terms, {{"gpu", ""}, {"ssd", ""}}), 1500);
}

TEST_F(NodeAffinityTest, TellsOneWeightApartAmongAThousandTerms) {
  std::vector<PreferredTerm> terms(1000, Prefers(100, "ssd"));
  terms.push_back(Prefers(1, "gpu"));
  EXPECT_EQ(CostOf(terms, {}), 3000000);
  EXPECT_LT(CostOf(terms, {{"gpu", ""}}), CostOf(terms, {}));
}

// Whatever the load of machines that are not overcommitted.
TEST_F(NodeAffinityTest, OutweighsLoadWithASingleWeight) {
  const PolicySet both = *PolicySet::FromNames("cpu_memory,node_affinity");
  PlacementRules rules;
  rules.preferred = {Prefers(1, "gpu")};
  Machine plain;
  plain.allocatable = plain.capacity = Resources(1000, 1000, 0, 9);
  Machine preferred = plain;
  preferred.labels = {{"gpu", ""}};
  const auto cost = [&](const Machine& machine, const Resources& used) {
    return both.LoadCost(machine, used) + both.PreferenceCost(rules, machine);
  };
  for (int64_t cpu = 0; cpu <= 1000; cpu += 50) {
    for (int64_t memory = 0; memory <= 1000; memory += 50) {
      EXPECT_LT(cost(preferred, Resources(cpu, memory, 0, 0)), cost(plain, {}));
    }
  }
}

// A better match is never dearer, whatever the weights.
TEST_F(NodeAffinityTest, OrdersMachinesByMatchedWeight) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Rng rng(seed);
    std::vector<PreferredTerm> terms;
    for (uint64_t i = rng.Below(40); i < 40; ++i) {
      terms.push_back(Prefers(static_cast<int32_t>(rng.Between(1, 100)),
                              StrCat("label-", rng.Below(6))));
    }
    const auto draw = [&](int64_t* weight) {
      LabelPairs labels;
      for (int i = 0; i < 6; ++i) {
        const std::string key = StrCat("label-", i);
        if (rng.Chance(1, 2)) continue;
        labels.emplace_back(key, "");
        for (const PreferredTerm& term : terms) {
          if (term.term.labels[0].key == key) *weight += term.weight;
        }
      }
      return labels;
    };
    int64_t weight = 0;
    int64_t other_weight = 0;
    const Cost cost = CostOf(terms, draw(&weight));
    const Cost other_cost = CostOf(terms, draw(&other_weight));
    EXPECT_EQ(weight <=> other_weight, other_cost <=> cost) << "seed " << seed;
  }
}

}  // namespace
}  // namespace sluice
