#include "round/passes/range_demand.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "util/cluster_builder.h"
#include "util/peer_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

class RangeDemandTest : public testing::Test {
 protected:
  // Of all priorities.
  RangeDemand Find(uint32_t lowest = 0,
                   size_t priorities_max = std::numeric_limits<size_t>::max()) {
    context_.emplace(
        RoundContext::Subject{cluster_.mutable_state(), cluster_.policies(),
                              cluster_.constraints(), cluster_.eligibility()},
        RoundOptions(), /*now_ms=*/0);
    context_->plan = plan_;
    RangeSearch search({.highest = std::numeric_limits<uint32_t>::max(),
                        .lowest = lowest,
                        .priorities_max = priorities_max},
                       &*context_);
    steps_ = 1;
    for (; !search.Continue(); ++steps_) context_->budget.BeginStep();
    return search.Take();
  }
  TestScheduler cluster_;
  std::optional<RoundContext> context_;
  std::optional<PackingPlan> plan_;
  int steps_ = 0;
};

TEST_F(RangeDemandTest, GoesOnAsLongAsThereIsRoom) {
  cluster_.Apply(Added("a", {.cpu = 1000}));
  for (uint32_t i = 1; i <= 9; ++i) {
    cluster_.Apply(Submitted(i, {.cpu = 100 * i, .priority = 10 - i}));
  }
  const RangeDemand demand = Find();
  ASSERT_EQ(demand.members.size(), 4u);
  EXPECT_EQ(demand.members[3].key.priority, 6u);
  EXPECT_EQ(demand.next, 5u);
  EXPECT_FALSE(demand.is_next_apart);
}

// 400 fit into what is free of either machine once, and three tasks ask for it.
TEST_F(RangeDemandTest, EndsWhereOneSizeHasNoMoreRoom) {
  cluster_.Apply(Added("a", {.cpu = 700}));
  cluster_.Apply(Added("b", {.cpu = 700}));
  for (uint32_t i = 1; i <= 3; ++i) {
    cluster_.Apply(Submitted(i, {.cpu = 400, .priority = 10 - i}));
  }
  const RangeDemand demand = Find();
  EXPECT_EQ(demand.members.size(), 2u);
  EXPECT_EQ(demand.next, 7u);
  EXPECT_FALSE(demand.is_next_apart);
}

TEST_F(RangeDemandTest, LeavesApartAPriorityThatHasNoRoomByItself) {
  cluster_.Apply(Added("a", {.cpu = 700}));
  cluster_.Apply(Submitted(1, {.cpu = 400, .priority = 9}));
  cluster_.Apply(Submitted(2, {.cpu = 400, .priority = 9}));
  const RangeDemand demand = Find();
  EXPECT_TRUE(demand.members.empty());
  EXPECT_EQ(demand.next, 9u);
  EXPECT_TRUE(demand.is_next_apart);
}

TEST_F(RangeDemandTest, PassesOverWhatFitsNowhere) {
  cluster_.Apply(Added("a", {.cpu = 1000}));
  cluster_.Apply(Submitted(1, {.cpu = 2000, .priority = 3}));
  cluster_.Apply(Submitted(2, {.cpu = 200, .priority = 2}));
  cluster_.Apply(Submitted(3, {.cpu = 2000, .priority = 1}));
  const RangeDemand demand = Find();
  ASSERT_EQ(demand.members.size(), 1u);
  EXPECT_EQ(demand.members[0].key.priority, 2u);
  EXPECT_FALSE(demand.next.has_value());
}

TEST_F(RangeDemandTest, EndsBeforeWhatIsBoundToOthers) {
  cluster_.Apply(Added("a", {.cpu = 1000}));
  cluster_.Apply(Submitted(1, {.cpu = 10, .priority = 3}));
  cluster_.Apply(Submitted(2, {.cpu = 10, .priority = 2, .job = "gang"},
                           {.gang = {.minimum = Gang::kAllTasks}}));
  const RangeDemand demand = Find();
  EXPECT_EQ(demand.members.size(), 1u);
  EXPECT_EQ(demand.next, 2u);
  EXPECT_TRUE(demand.is_next_apart);
}

// The gang is placed with the more urgent of its own, wherever that runs.
TEST_F(RangeDemandTest, EndsBeforeAGangThatThePlanPlaces) {
  cluster_.Apply(Added("a", {.cpu = 1000}));
  cluster_.Apply(Submitted(1, {.cpu = 10, .priority = 4}));
  cluster_.Apply(Submitted(2, {.cpu = 10, .priority = 3}));
  cluster_.Apply(Submitted(3, {.cpu = 10, .priority = 1, .job = "gang"},
                           {.gang = {.minimum = Gang::kAllTasks}}));
  const ClassKey gang = cluster_.state().pending().rbegin()->first;
  plan_.emplace();
  plan_->classes = {gang};
  plan_->tier_of_gang[*gang.gang] = 3;
  const RangeDemand demand = Find();
  EXPECT_EQ(demand.members.size(), 1u);
  EXPECT_EQ(demand.next, 3u);
  EXPECT_TRUE(demand.is_next_apart);
}

TEST_F(RangeDemandTest, EndsBeforeThoseWhoNeedCompanyOfThePlan) {
  cluster_.Apply(Added("a", {.cpu = 1000}));
  cluster_.Apply(Submitted(1, {.cpu = 10, .priority = 4}));
  // It fits nowhere, as yet.
  cluster_.Apply(Submitted(2, {.cpu = 2000, .priority = 3}));
  cluster_.Apply(Submitted(3, {.cpu = 10, .priority = 2}));
  plan_.emplace();
  for (const auto& [key, tasks] : cluster_.state().pending()) {
    plan_->classes.push_back(key);
    if (key.priority == 3) plan_->followers.try_emplace(key, 1);
  }
  const RangeDemand demand = Find();
  EXPECT_EQ(demand.members.size(), 1u);
  EXPECT_EQ(demand.next, 3u);
  EXPECT_TRUE(demand.is_next_apart);
}

TEST_F(RangeDemandTest, KeepsToItsBounds) {
  cluster_.Apply(Added("a", {.cpu = 1000}));
  for (uint32_t i = 0; i <= 5; ++i) {
    cluster_.Apply(Submitted(i + 1, {.cpu = 10, .priority = i}));
  }
  EXPECT_EQ(Find().members.size(), 6u);
  const RangeDemand down_to_3 = Find(/*lowest=*/3);
  EXPECT_EQ(down_to_3.members.size(), 3u);
  EXPECT_EQ(down_to_3.next, 2u);
  const RangeDemand of_two = Find(/*lowest=*/0, /*priorities_max=*/2);
  EXPECT_EQ(of_two.members.size(), 2u);
  EXPECT_EQ(of_two.next, 3u);
}

// A pass of many sizes is dear; one of many tasks of few sizes is not.
TEST_F(RangeDemandTest, IsShortWhereNearlyEachTaskHasASizeOfItsOwn) {
  cluster_.Apply(Added("a", {.cpu = 1000000, .pods = 10000}));
  for (uint32_t i = 1; i <= 500; ++i) {
    cluster_.Apply(Submitted(i, {.cpu = i, .priority = 1000 - i}));
  }
  const RangeDemand varied = Find();
  EXPECT_EQ(varied.members.size(), 64u);
  EXPECT_EQ(varied.next, 1000u - 65);
  for (uint32_t i = 501; i <= 2000; ++i) {
    cluster_.Apply(Submitted(i, {.cpu = i % 500 + 1, .priority = 3000 - i}));
  }
  EXPECT_EQ(Find().members.size(), 2000u);
}

TEST_F(RangeDemandTest, LetsCommandsInBetween) {
  // No machine has what a task asks for, though one has each part of it.
  for (int64_t i = 0; i < 1200; ++i) {
    cluster_.Apply(
        Added(StrCat("m", i), {.cpu = i % 2 == 0 ? 1000 + i : 10,
                               .memory = i % 2 == 0 ? 10 : 9000 + i}));
  }
  for (uint32_t i = 1; i <= 1000; ++i) {
    cluster_.Apply(
        Submitted(i, {.cpu = 500, .memory = 500 + i, .priority = i}));
  }
  const RangeDemand demand = Find();
  EXPECT_TRUE(demand.members.empty());
  EXPECT_FALSE(demand.next.has_value());
  EXPECT_EQ(steps_, 2);
}

TEST_F(RangeDemandTest, LetsCommandsInWithinOnePriority) {
  for (int64_t i = 0; i < 1200; ++i) {
    cluster_.Apply(
        Added(StrCat("m", i), {.cpu = i % 2 == 0 ? 1000 + i : 10,
                               .memory = i % 2 == 0 ? 10 : 9000 + i}));
  }
  cluster_.Apply(Submitted(1, {.cpu = 10, .memory = 10, .priority = 1}));
  for (uint32_t i = 2; i <= 2000; ++i) {
    cluster_.Apply(
        Submitted(i, {.cpu = 500, .memory = 500 + i, .priority = 1}));
  }
  cluster_.Apply(Submitted(2001, {.cpu = 20, .memory = 10, .priority = 1}));
  EXPECT_EQ(Find().members.size(), 2u);
  EXPECT_EQ(steps_, 3);
}

}  // namespace
}  // namespace sluice
