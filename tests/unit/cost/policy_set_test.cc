#include "cost/policy_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "sluice/state/machine.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::ElementsAre;

TEST(PolicySet, KnowsTheModelsByName) {
  const auto policies = PolicySet::FromNames("cpu_memory");
  ASSERT_THAT(policies, IsOk());
  EXPECT_THAT(policies->names(), ElementsAre("cpu_memory"));
}

TEST(PolicySet, NamesWhatItDoesNotKnow) {
  EXPECT_THAT(PolicySet::FromNames("cheapest"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "cost model 'cheapest' is unknown"));
  EXPECT_THAT(PolicySet::FromNames("cpu_memory,cheapest"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "cost model 'cheapest' is unknown"));
}

TEST(PolicySet, RefusesNoNameAtAll) {
  for (const char* names : {"", ",", "cpu_memory,", ",cpu_memory"}) {
    EXPECT_THAT(PolicySet::FromNames(names),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         "cost model '' is unknown"))
        << names;
  }
}

TEST(PolicySet, RefusesANameTwice) {
  EXPECT_THAT(PolicySet::FromNames("cpu_memory,cpu_memory"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "cost model 'cpu_memory' is named twice"));
}

TEST(PolicySet, PassesParametersOn) {
  const auto policies = PolicySet::FromNames("taint,random:seed=7");
  ASSERT_THAT(policies, IsOk());
  EXPECT_THAT(policies->names(), ElementsAre("taint", "random"));
  for (const auto& [names, error] : {
           std::pair("random:sed=7",
                     "cost model 'random': there is no parameter 'sed'"),
           std::pair("taint:seed=7",
                     "cost model 'taint': there is no parameter 'seed'"),
           std::pair("random:",
                     "cost model 'random': '' is not a parameter with "
                     "a number, such as 'seed=7'"),
           std::pair("random:seed",
                     "cost model 'random': 'seed' is not a "
                     "parameter with a number, such as 'seed=7'"),
           std::pair("random:seed=7x,taint",
                     "cost model 'random': 'seed=7x' is not a parameter with a "
                     "number, such as 'seed=7'"),
       }) {
    EXPECT_THAT(PolicySet::FromNames(names),
                StatusIs(absl::StatusCode::kInvalidArgument, error));
  }
}

TEST(PolicySet, TakesNamesToTheLetter) {
  EXPECT_FALSE(PolicySet::FromNames("CPU_MEMORY").ok());
  EXPECT_FALSE(PolicySet::FromNames(" cpu_memory").ok());
}

TEST(PolicySet, SaysWhichWishesItLeavesOut) {
  EXPECT_EQ(PolicySet::FromNames(kDefaultCostModels)->UnheededWishes(), "");
  EXPECT_EQ(PolicySet::FromNames("load_spreading,node_affinity,pod_affinity")
                ->UnheededWishes(),
            "PreferNoSchedule taints (taint); spread constraints that may be "
            "broken (topology_spread)");
}

TEST(PolicySet, ChargesForUseWhereThatIsMeasured) {
  const auto policies = PolicySet::FromNames("cpu_memory");
  Machine machine;
  machine.allocatable = machine.capacity = Resources(1000, 1000, 0, 10);
  const Resources asked(800, 800, 0, 2);
  EXPECT_EQ(policies->LoadCost(machine, asked), 2800);
  machine.reclaimed = Resources(300, 300, 0, 0);
  EXPECT_EQ(policies->LoadCost(machine, asked), 2800);
  machine.is_measured = true;
  EXPECT_EQ(policies->LoadCost(machine, asked), 2500);
}

TEST(PolicySet, ListsEveryModelWithASummary) {
  for (const CostModelEntry& entry : CostModels()) {
    EXPECT_FALSE(entry.summary.empty()) << entry.name;
    std::string names(entry.name);
    if (entry.kind == CostKind::kInterference) names += ",pod_affinity";
    EXPECT_THAT(PolicySet::FromNames(names), IsOk());
  }
}

}  // namespace
}  // namespace sluice
