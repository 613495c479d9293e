// The CoCo policy.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "cost/policy_set.h"

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
  EXPECT_FALSE(PolicySet::FromNames(kDefaultCostModels)->Needs().interference);
}

}  // namespace
}  // namespace sluice
