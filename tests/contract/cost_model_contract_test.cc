// What every cost model promises (sluice/cost/cost_model.h), tried on each one
// that is registered.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "contract/worlds.h"
#include "cost/policy_set.h"

namespace sluice {
namespace {

class CostModelContract : public testing::TestWithParam<CostModelEntry> {
 protected:
  const std::vector<Machine> machines_ = DrawMachines(/*seed=*/1, 400);
  const std::vector<PlacementRules> rules_ = DrawClasses(/*seed=*/2, 60).rules;
  const std::unique_ptr<CostModel> model_ = GetParam().make();
};

TEST_P(CostModelContract, KeepsLoadCostsWithinItsScale) {
  Rng rng(3);
  for (const Machine& machine : machines_) {
    for (int i = 0; i < 20; ++i) {
      const Resources used = DrawLoad(&rng);
      const Cost cost = model_->LoadCost(machine, used);
      EXPECT_GE(cost, 0) << "seed 3, machine " << machine.id;
      EXPECT_LE(cost, kModelCostMax) << "seed 3, machine " << machine.id;
    }
  }
}

TEST_P(CostModelContract, KeepsPreferenceCostsWithinItsScale) {
  for (const Machine& machine : machines_) {
    for (const PlacementRules& rules : rules_) {
      const Cost cost = model_->PreferenceCost(rules, machine);
      EXPECT_GE(cost, 0) << "machine " << machine.id;
      EXPECT_LE(cost, kModelCostMax) << "machine " << machine.id;
    }
  }
}

TEST_P(CostModelContract, BoundsJobsByWhatCanBe) {
  const JobBounds bounds = model_->BoundsOfJobs();
  EXPECT_GE(bounds.at_least, 0);
  EXPECT_TRUE(bounds.at_most == 0 || bounds.at_most >= bounds.at_least);
}

// From what takes no time to what takes a year, and beyond.
TEST_P(CostModelContract, KeepsWaitingFactorsWithinItsScale) {
  for (int64_t mean_step = 0; mean_step < 63; ++mean_step) {
    for (int64_t step = 0; step < 63; ++step) {
      const int64_t factor = model_->WaitingFactor({step, mean_step});
      EXPECT_GE(factor, 1) << step << " of " << mean_step;
      EXPECT_LE(factor, kWaitingFactorMax) << step << " of " << mean_step;
    }
  }
}

TEST_P(CostModelContract, ChargesMoreTheSlowerItIsAndWithinItsScale) {
  for (const int64_t best_fs : {int64_t{1}, int64_t{250'000}, INT64_MAX}) {
    Cost last = 0;
    for (const int64_t slower_fs : {int64_t{0}, int64_t{1}, int64_t{99'999},
                                    int64_t{900'000}, INT64_MAX}) {
      const int64_t here_fs =
          best_fs > INT64_MAX - slower_fs ? INT64_MAX : best_fs + slower_fs;
      const Cost cost = model_->SpeedCost({here_fs, best_fs});
      EXPECT_GE(cost, last) << here_fs << " for " << best_fs;
      EXPECT_LE(cost, kModelCostMax) << here_fs << " for " << best_fs;
      last = cost;
    }
  }
  EXPECT_EQ(model_->SpeedCost({7, 7}), 0) << "as fast as can be";
  EXPECT_GE(model_->SpeedSamplesMin().value_or(1), 1);
}

TEST_P(CostModelContract, GrowsLessParticularAboutDataTheLongerATaskWaits) {
  std::optional<Cost> last = model_->DetourMax(0);
  for (const int64_t waited_ms : {int64_t{1}, int64_t{60'000}, INT64_MAX}) {
    const std::optional<Cost> detour = model_->DetourMax(waited_ms);
    EXPECT_EQ(detour.has_value(), last.has_value());
    EXPECT_GE(detour, last);
    EXPECT_LE(detour.value_or(0), kModelCostMax);
    last = detour;
  }
}

TEST_P(CostModelContract, ChargesNothingOfAnotherKind) {
  const CostKind kind = GetParam().kind;
  for (const Machine& machine : machines_) {
    if (kind != CostKind::kLoad) {
      EXPECT_EQ(model_->LoadCost(machine, machine.used), 0);
    }
    for (const PlacementRules& rules : rules_) {
      if (kind == CostKind::kPreference) break;
      EXPECT_EQ(model_->PreferenceCost(rules, machine), 0);
    }
  }
  const PeerStanding standing = {.missed_weight = 100,
                                 .missed_weight_max = 100,
                                 .crowding = 100 * kCrowdingUnit};
  EXPECT_EQ(model_->PeerCost(standing) > 0, kind == CostKind::kPeers);
  const bool has_aggregates = kind == CostKind::kAggregate;
  EXPECT_EQ(!model_->AggregateLabel().empty(), has_aggregates);
  const Resources half(500, 500, 0, 0);
  const Resources whole(1000, 1000, 0, 0);
  EXPECT_EQ(model_->AggregateCost(half, whole) > 0, has_aggregates);
  EXPECT_EQ(model_->SiblingCost(100) > 0, kind == CostKind::kSiblings);
  EXPECT_EQ(model_->Minds(TaskKind::kRabbit, TaskKind::kDevil) > 0,
            kind == CostKind::kInterference);
  const bool heeds_speeds = model_->SpeedSamplesMin().has_value();
  EXPECT_EQ(model_->SpeedCost({1'000'000, 1}) > 0, heeds_speeds);
  EXPECT_TRUE(!heeds_speeds || kind == CostKind::kPreference);
  const ExpectedRun soon = {.step = 0, .mean_step = 10};
  EXPECT_EQ(model_->WaitingFactor(soon) > 1, kind == CostKind::kWaiting);
}

TEST_P(CostModelContract, GivesTheSameAnswerTwiceAndFromAnotherInstance) {
  const std::unique_ptr<CostModel> other = GetParam().make();
  for (const Machine& machine : machines_) {
    const Cost load = model_->LoadCost(machine, machine.used);
    EXPECT_EQ(model_->LoadCost(machine, machine.used), load);
    EXPECT_EQ(other->LoadCost(machine, machine.used), load);
    for (const PlacementRules& rules : rules_) {
      const Cost preference = model_->PreferenceCost(rules, machine);
      EXPECT_EQ(model_->PreferenceCost(rules, machine), preference);
      EXPECT_EQ(other->PreferenceCost(rules, machine), preference);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, CostModelContract,
                         testing::ValuesIn(CostModels().begin(),
                                           CostModels().end()),
                         [](const auto& entry) {
                           return std::string(entry.param.name);
                         });

}  // namespace
}  // namespace sluice
