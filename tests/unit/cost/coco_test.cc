// The CoCo policy.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "cost/policy_set.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::HasSubstr;

constexpr auto kSheep = static_cast<size_t>(TaskKind::kSheep);
constexpr auto kRabbit = static_cast<size_t>(TaskKind::kRabbit);
constexpr auto kDevil = static_cast<size_t>(TaskKind::kDevil);
constexpr auto kTurtle = static_cast<size_t>(TaskKind::kTurtle);

// A tenth of Firmament's --coco_..._penalty.
TEST(Coco, SaysWhomEachKindMinds) {
  const Interference minds =
      *PolicySet::FromNames("coco,pod_affinity")->Needs().interference;
  EXPECT_EQ(minds[kTurtle][kDevil], 5);
  EXPECT_EQ(minds[kSheep][kTurtle], 1);
  EXPECT_EQ(minds[kSheep][kSheep], 5);
  EXPECT_EQ(minds[kSheep][kDevil], 20);
  EXPECT_EQ(minds[kRabbit][kRabbit], 20);
  EXPECT_EQ(minds[kRabbit][kDevil], 100);
  EXPECT_EQ(minds[kDevil][kSheep], 20);
  EXPECT_EQ(minds[kDevil][kRabbit], 100);
  EXPECT_EQ(minds[kDevil][kDevil], 20);
}

TEST(Coco, IsRefusedWhereNothingChargesWhatItSays) {
  EXPECT_THAT(
      std::string(PolicySet::FromNames("coco,cpu_memory").status().message()),
      HasSubstr("cost model 'coco' needs 'pod_affinity'"));
}

TEST(Coco, IsAskedForWhereItIsInForceAlone) {
  const PolicyNeeds needs = PolicySet::FromNames(kDefaultCostModels)->Needs();
  EXPECT_FALSE(needs.interference);
  EXPECT_FALSE(needs.kinds);
  EXPECT_FALSE(needs.AskForWorkKinds());
}

TEST(Coco, SaysHowKindsAreLearned) {
  const PolicyNeeds usual = PolicySet::FromNames("coco,pod_affinity")->Needs();
  EXPECT_TRUE(usual.AskForWorkKinds());
  ASSERT_TRUE(usual.kinds.has_value());
  EXPECT_EQ(usual.kinds->reports_min, 3);
  EXPECT_EQ(usual.kinds->devil_misses, 10);
  EXPECT_EQ(usual.kinds->rabbit_hits, 10);
  EXPECT_EQ(usual.kinds->turtle_references, 1);
  const PolicyNeeds other =
      PolicySet::FromNames(
          "coco:samples=1000:devil=20:rabbit=30:turtle=2,pod_affinity")
          ->Needs();
  ASSERT_TRUE(other.kinds.has_value());
  EXPECT_EQ(other.kinds->reports_min, 1000);
  EXPECT_EQ(other.kinds->devil_misses, 20);
  EXPECT_EQ(other.kinds->rabbit_hits, 30);
  EXPECT_EQ(other.kinds->turtle_references, 2);
}

TEST(Coco, RefusesParametersThatMakeNoSense) {
  for (const std::string name : {"samples", "devil", "rabbit", "turtle"}) {
    for (const std::string value : {"0", "-1", "1001"}) {
      EXPECT_THAT(
          PolicySet::FromNames("coco:" + name + "=" + value + ",pod_affinity"),
          StatusIs(absl::StatusCode::kInvalidArgument,
                   "cost model 'coco': " + name + ": " + value +
                       " is not a number from 1 to 1000"));
    }
  }
  EXPECT_THAT(PolicySet::FromNames("coco:sheep=3,pod_affinity"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "cost model 'coco': there is no parameter 'sheep'"));
}

}  // namespace
}  // namespace sluice
