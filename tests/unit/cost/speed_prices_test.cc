#include "cost/speed_prices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr WorkKindId kOne = {1};
constexpr WorkKindId kOther = {2};
constexpr MachineTypeId kFast = {1};
constexpr MachineTypeId kSlow = {2};
constexpr uint64_t kGiga = 1'000'000'000;

PlacementRules RulesOf(std::optional<WorkKindId> kind) {
  PlacementRules rules;
  rules.work_kind = kind;
  return rules;
}

Machine MachineOf(MachineTypeId type) {
  Machine machine;
  machine.type = type;
  return machine;
}

class SpeedPricesTest : public testing::Test {
 protected:
  void Run(WorkKindId kind, MachineTypeId type, int64_t run_ms, int times) {
    for (int i = 0; i < times; ++i) {
      histories_.speeds().Note({kind, type}, run_ms, kGiga);
    }
  }
  Cost On(WorkKindId kind, MachineTypeId type) const {
    return prices_.Of(RulesOf(kind), MachineOf(type));
  }

  const PolicySet policies_ = *PolicySet::FromNames("whare_map:samples=3");
  ClassHistories histories_;
  SpeedPrices prices_{policies_};
};

TEST_F(SpeedPricesTest, AreNothingUntilEnoughIsKnownOfBothTypes) {
  Run(kOne, kSlow, 200, 3);
  Run(kOne, kFast, 100, 2);
  EXPECT_THAT(prices_.Update(histories_), IsEmpty());
  EXPECT_EQ(On(kOne, kSlow), 0) << "of all that are known it is the best";
  EXPECT_EQ(On(kOne, kFast), 0);
  Run(kOne, kFast, 100, 1);
  EXPECT_THAT(prices_.Update(histories_), ElementsAre(kOne));
  EXPECT_EQ(On(kOne, kSlow), 1'500'000);
  EXPECT_EQ(On(kOne, kFast), 0);
  EXPECT_EQ(On(kOne, {3}), 0) << "it is to be tried";
  EXPECT_EQ(On(kOther, kSlow), 0);
  EXPECT_EQ(prices_.Of(RulesOf(std::nullopt), MachineOf(kSlow)), 0);
}

TEST_F(SpeedPricesTest, TellWhichKindsAreChargedOtherwise) {
  for (const WorkKindId kind : {kOne, kOther}) {
    Run(kind, kSlow, 200, 8);
    Run(kind, kFast, 100, 8);
  }
  EXPECT_THAT(prices_.Update(histories_), ElementsAre(kOne, kOther));
  EXPECT_THAT(prices_.Update(histories_), IsEmpty());
  Run(kOne, kSlow, 201, 1);
  EXPECT_THAT(prices_.Update(histories_), IsEmpty()) << "less than a step";
  Run(kOther, kSlow, 400, 1);
  EXPECT_THAT(prices_.Update(histories_), ElementsAre(kOther));
}

TEST_F(SpeedPricesTest, StayAsTheyAreUntilTheNextUpdate) {
  Run(kOne, kSlow, 200, 3);
  Run(kOne, kFast, 100, 3);
  prices_.Update(histories_);
  Run(kOne, kSlow, 100, 100);
  EXPECT_EQ(On(kOne, kSlow), 1'500'000);
  EXPECT_EQ(prices_.Find(RulesOf(kOne), MachineOf(kSlow))->best_fs, 100'000);
  EXPECT_THAT(prices_.Update(histories_), ElementsAre(kOne));
  EXPECT_EQ(On(kOne, kSlow), 0);
}

TEST_F(SpeedPricesTest, KnowNothingWithoutAPolicyThatAsks) {
  Run(kOne, kSlow, 200, 9);
  Run(kOne, kFast, 100, 9);
  const PolicySet policies = *PolicySet::FromNames(kDefaultCostModels);
  const SpeedPrices prices(policies, histories_);
  EXPECT_EQ(prices.Find(RulesOf(kOne), MachineOf(kSlow)), std::nullopt);
  EXPECT_EQ(prices.Of(RulesOf(kOne), MachineOf(kSlow)), 0);
}

}  // namespace
}  // namespace sluice
