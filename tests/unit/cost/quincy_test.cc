// The Quincy policy.

#include <gtest/gtest.h>

#include <cstdint>

#include "cost/policy_set.h"

namespace sluice {
namespace {

constexpr int64_t kGib = int64_t{1} << 30;

Machine Named(const char* name, const LabelPairs& labels) {
  Machine machine;
  machine.name = name;
  machine.labels = labels;
  return machine;
}

// Two objects: one of 4 GiB on m1, in rack r, and one of 6 GiB on m2 and m3, in
// racks r and s.
PlacementRules ReadsTwo() {
  return {
      .data = {
          .bytes = 10 * kGib,
          .on_machines = {{"m1", 4 * kGib}, {"m2", 6 * kGib}, {"m3", 6 * kGib}},
          .in_racks = {{"r", 10 * kGib}, {"s", 6 * kGib}}}};
}

TEST(Quincy, ChargesWhatComesThroughTheRackAndFromOthers) {
  const PolicySet policies = *PolicySet::FromNames("quincy");
  const PlacementRules rules = ReadsTwo();
  const auto cost = [&](const char* name, const char* rack) {
    return policies.PreferenceCost(rules, Named(name, {{"rack", rack}}));
  };
  EXPECT_EQ(cost("m1", "r"), 3000 * 6);
  EXPECT_EQ(cost("m2", "r"), 3000 * 4);
  EXPECT_EQ(cost("m3", "s"), 6000 * 4);
  EXPECT_EQ(cost("other", "r"), 3000 * 10);
  EXPECT_EQ(cost("other", "s"), 3000 * 6 + 6000 * 4);
  EXPECT_EQ(cost("other", "t"), 6000 * 10);
}

TEST(Quincy, KnowsMachinesWithoutARack) {
  const PolicySet policies = *PolicySet::FromNames("quincy");
  const PlacementRules rules = ReadsTwo();
  EXPECT_EQ(policies.PreferenceCost(rules, Named("m1", {})), 6000 * 6);
  EXPECT_EQ(policies.PreferenceCost(rules, Named("other", {})), 6000 * 10);
  EXPECT_EQ(policies.PreferenceCost(PlacementRules(), Named("m1", {})), 0);
}

TEST(Quincy, TakesPartsOfAGibIntoAccountAndHasABound) {
  const PolicySet policies = *PolicySet::FromNames("quincy");
  PlacementRules rules{.data = {.bytes = kGib / 2}};
  EXPECT_EQ(policies.PreferenceCost(rules, Named("m", {})), 3000);
  rules.data.bytes = int64_t{1} << 60;
  EXPECT_EQ(policies.PreferenceCost(rules, Named("m", {})), kModelCostMax);
}

TEST(Quincy, GoesFurtherTheLongerATaskWaits) {
  const PolicySet policies = *PolicySet::FromNames("quincy");
  EXPECT_EQ(policies.DetourMax(0), 0);
  EXPECT_EQ(policies.DetourMax(1000), 1500);
  EXPECT_EQ(policies.DetourMax(4000), 6000) << "a GiB from another rack";
  EXPECT_EQ(policies.DetourMax(INT64_MAX), kModelCostMax);
  EXPECT_TRUE(policies.Needs().data);
}

TEST(Quincy, AloneLooksAtData) {
  const PolicySet policies = *PolicySet::FromNames(kDefaultCostModels);
  EXPECT_EQ(policies.DetourMax(0), std::nullopt);
  EXPECT_FALSE(policies.Needs().data);
}

}  // namespace
}  // namespace sluice
