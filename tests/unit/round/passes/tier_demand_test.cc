#include "round/passes/tier_demand.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "util/cluster_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

class TierDemandTest : public testing::Test {
 protected:
  void BeginRound() {
    context_.emplace(
        RoundContext::Subject{cluster_.mutable_state(), cluster_.policies(),
                              cluster_.constraints(), cluster_.eligibility()},
        RoundOptions(), /*now_ms=*/0);
  }
  // No machine has what a class of theirs asks for, though one has each part of
  // it: so each class looks at all of them.
  void AddMachinesThatLackOneThing(int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      const bool has_cpu = i % 2 == 0;
      cluster_.Apply(Added(
          StrCat("m", i),
          {.cpu = has_cpu ? 1000 + i : 10, .memory = has_cpu ? 10 : 5000 + i}));
    }
  }
  TestScheduler cluster_;
  std::optional<RoundContext> context_;
};

TEST_F(TierDemandTest, IsWhatFitsSomewhere) {
  cluster_.Apply(Added("a", {.cpu = 1000}));
  cluster_.Apply(Added("b", {.cpu = 300}));
  cluster_.Apply(Submitted(1, {.cpu = 1200}));
  for (uint64_t uid = 2; uid <= 9; ++uid) {
    cluster_.Apply(Submitted(uid, {.cpu = 250}));
  }
  BeginRound();
  const TierDemand demand = FindDemand(Tier(), &*context_);
  ASSERT_EQ(demand.members.size(), 1u);
  EXPECT_EQ(demand.members[0].key.request[kCpu], 250);
  EXPECT_EQ(demand.members[0].count, 5);
  EXPECT_EQ(demand.free[kCpu], 1300);
}

TEST_F(TierDemandTest, LetsCommandsInAndBeginsAgainAfterThem) {
  constexpr int64_t kMachines = 1200;
  AddMachinesThatLackOneThing(kMachines);
  uint64_t uid = 0;
  while (uid < 1000) {
    ++uid;
    cluster_.Apply(Submitted(
        uid, {.cpu = 500, .memory = static_cast<int64_t>(500 + uid)}));
  }
  BeginRound();
  DemandSearch search(Tier(), &*context_);
  ASSERT_FALSE(search.Continue());
  EXPECT_LT(context_->budget.in_step(), kWorkPerStep + kMachines);
  cluster_.Apply(Added("large", {.cpu = 500, .memory = 700}));
  int steps = 1;
  do {
    context_->budget.BeginStep();
    ++steps;
  } while (!search.Continue());
  EXPECT_EQ(steps, 3);
  EXPECT_EQ(search.Take().members.size(), 200u);
}

TEST_F(TierDemandTest, ComesToAnEndWhateverCommandsCome) {
  AddMachinesThatLackOneThing(1200);
  for (uint64_t uid = 1; uid <= 1000; ++uid) {
    cluster_.Apply(Submitted(
        uid, {.cpu = 500, .memory = static_cast<int64_t>(500 + uid)}));
  }
  BeginRound();
  DemandSearch search(Tier(), &*context_);
  int steps = 1;
  while (!search.Continue()) {
    context_->budget.BeginStep();
    cluster_.Apply(Added(StrCat("late", ++steps), {.cpu = 1}));
    ASSERT_LT(steps, 20);
  }
  EXPECT_TRUE(search.Take().members.empty());
}

TEST_F(TierDemandTest, MergesWhatOnlyPrioritiesTellApart) {
  for (uint32_t i = 1; i <= 6; ++i) {
    cluster_.Apply(
        Submitted(i, {.cpu = i % 2 == 0 ? 20 : 10, .priority = 10 - i}));
  }
  std::vector<BandMember> members;
  for (const auto& [key, tasks] : cluster_.state().pending()) {
    members.push_back({key, 1, 0});
  }
  const std::vector<BandMember> merged = MergeAlike(std::move(members));
  ASSERT_EQ(merged.size(), 2u);
  EXPECT_EQ(merged[0].key.priority, 9u);
  EXPECT_EQ(merged[0].count, 3);
  ASSERT_EQ(merged[0].alike.size(), 2u);
  EXPECT_EQ(merged[0].alike[1].priority, 5u);
}

}  // namespace
}  // namespace sluice
