#include "round/packing/running_tasks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "constraints/constraint_set.h"
#include "cost/policy_set.h"
#include "network/eligibility.h"
#include "round/packing/movability.h"
#include "round/packing/packing_peers.h"
#include "unit/state/state_fixture.h"
#include "util/peer_builder.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

class RunningTasksTest : public StateTest {
 protected:
  RunningTasksTest() { Do(Added("m", {.cpu = 1000})); }

  void RunTask(uint64_t uid, const TaskOptions& options,
               const PeerOptions& peers = {}) {
    Do(Submitted(uid, options, peers));
    state_.Place({uid}, MachineOf("m").id, static_cast<int64_t>(uid));
    DeliverAll();
  }
  RunningTasks Find(uint32_t priority) {
    state_.SyncPeers();
    PackingPeers peers(state_, constraints_, {}, {});
    return {state_, {.priority = priority}, {}, &peers};
  }
  MachineId m() const { return MachineOf("m").id; }

  const ConstraintSet constraints_;
};

TEST_F(RunningTasksTest, AreOneClassForEachPriorityAndRequest) {
  RunTask(1, {.cpu = 100, .priority = 1});
  RunTask(2, {.cpu = 100, .priority = 3});
  RunTask(3, {.cpu = 100, .priority = 1, .job = "another"});
  RunTask(4, {.cpu = 200, .priority = 1});
  RunTask(5, {.cpu = 100, .priority = 5});
  const RunningTasks running = Find(5);
  ASSERT_THAT(running.classes(), SizeIs(3));
  EXPECT_EQ(running.classes()[0].key.priority, 3u);
  EXPECT_EQ(running.classes()[1].key.priority, 1u);
  EXPECT_THAT(running.CountOn(m()),
              ElementsAre(Pair(0, 1), Pair(1, 2), Pair(2, 1)));
  EXPECT_EQ((*running.FindRoomOn(m()))[kCpu], 500);
  EXPECT_THAT(running.TasksOn(m(), 1), ElementsAre(TaskId{3}, TaskId{1}))
      << "the one that was placed last first";
}

TEST_F(RunningTasksTest, CountsTheRoomOfWhatLeavesAlready) {
  RunTask(1, {.cpu = 100, .priority = 9});
  state_.Preempt({1});
  const RunningTasks running = Find(5);
  EXPECT_TRUE(running.empty());
  EXPECT_EQ((*running.FindRoomOn(m()))[kCpu], 100);
}

TEST_F(RunningTasksTest, LeavesAloneWhatNobodyKnowsOfAndGangsWhereNotAsked) {
  RunTask(1, {.cpu = 100, .job = "gang"}, {.gang = {.minimum = 1}});
  Do(Submitted(3, {.cpu = 100}));
  Place(3, "m");
  EXPECT_TRUE(Find(5).empty()) << "nobody knows yet of the last one";
  DeliverAll();
  EXPECT_THAT(Find(5).classes(), SizeIs(1));
}

TEST_F(RunningTasksTest, AreToldApartByWhatConcernsOneThatWaits) {
  RunTask(1, {.cpu = 100, .labels = {{"app", "db"}}}, PeerOptions());
  RunTask(2, {.cpu = 100, .labels = {{"app", "web"}}}, PeerOptions());
  RunTask(3, {.cpu = 100, .labels = {{"app", "other"}}}, PeerOptions());
  EXPECT_THAT(Find(5).classes(), SizeIs(1));
  PlacementRules near;
  near.affinity = {{App("db"), ""}};
  Do(Submitted(4, {.cpu = 100, .priority = 9, .rules = near}, PeerOptions()));
  EXPECT_THAT(Find(5).classes(), SizeIs(2));
  PlacementRules apart;
  apart.anti_affinity = {{App("web"), ""}};
  Do(Submitted(5, {.cpu = 100, .priority = 9, .rules = apart}, PeerOptions()));
  EXPECT_THAT(Find(5).classes(), SizeIs(3));
}

TEST_F(RunningTasksTest, AreOneClassForEachPriceAndSetOfBudgets) {
  const DisruptionBudget one = {
      .limit = DisruptionBudget::Limit::kMaxUnavailable, .amount = 1};
  RunTask(1, {.cpu = 100, .job = "a", .budget = one});
  RunTask(2, {.cpu = 100, .job = "a", .budget = one});
  RunTask(3, {.cpu = 100, .job = "b"});
  RunTask(4, {.cpu = 100, .job = "b", .preemption_cost = 50});
  const RunningTasks running = Find(5);
  ASSERT_THAT(running.classes(), SizeIs(3));
  std::multiset<std::pair<int64_t, std::vector<size_t>>> prices;
  for (const RunningTasks::Class& one_class : running.classes()) {
    prices.emplace(one_class.price, one_class.budgets);
  }
  EXPECT_THAT(prices, ElementsAre(Pair(2, IsEmpty()), Pair(2, ElementsAre(0)),
                                  Pair(3, IsEmpty())))
      << "100, 100 and 150 as multiples of 50";
  EXPECT_THAT(running.allowances(), ElementsAre(1));
}

TEST_F(RunningTasksTest, CostMoreTheOftenerTheyWereDisturbed) {
  for (uint64_t uid = 1; uid <= 6; ++uid) {
    RunTask(uid, {.cpu = 100});
    const int64_t times = std::min<int64_t>(static_cast<int64_t>(uid), 4);
    EXPECT_EQ(StopCost(TaskOf(uid), {.cost = 10}), 10 * times);
    EXPECT_EQ(Find(5).classes()[0].price, 1) << "it is the only one";
    state_.Preempt({uid});
    DeliverAll();
    Do(Removed(uid));
  }
}

TEST_F(RunningTasksTest, TakeTurnsWhereAllWereDisturbedOftenEnough) {
  uint64_t uid = 0;
  const auto run = [&](const char* job, int64_t disturbances) {
    for (int64_t i = 0; i < disturbances; ++i) {
      RunTask(++uid, {.cpu = 100, .job = job});
      state_.Preempt({uid});
      DeliverAll();
      Do(Removed(uid));
    }
    RunTask(++uid, {.cpu = 100, .job = job});
    return TaskId{uid};
  };
  const TaskId less = run("a", kDisturbancesMax);
  const TaskId more = run("b", kDisturbancesMax + 1);
  const RunningTasks running = Find(5);
  ASSERT_THAT(running.classes(), SizeIs(1));
  EXPECT_THAT(running.TasksOn(m(), 0), ElementsAre(less, more))
      << "though the other was placed last";
}

TEST_F(RunningTasksTest, MoveAsFarAsBudgetsAreToLetThem) {
  const DisruptionBudget one = {
      .limit = DisruptionBudget::Limit::kMaxUnavailable, .amount = 1};
  for (uint64_t uid = 1; uid <= 3; ++uid) {
    RunTask(uid, {.cpu = 100, .owner = {"ReplicaSet", "r"}, .budget = one});
  }
  RunTask(4, {.cpu = 100, .job = "free", .owner = {"ReplicaSet", "f"}});
  const PolicySet policies = *PolicySet::FromNames(kDefaultCostModels);
  Eligibility eligibility(constraints_, policies);
  eligibility.Refresh(&state_);
  const MoveOptions moves = {.min_run_ms = 0};
  // How many may move, of all four.
  const auto count_movable = [&](BudgetedMoves budgeted_moves) {
    state_.SyncPeers();
    Movability movability(state_, constraints_, moves, 1000, &eligibility);
    PackingPeers peers(state_, constraints_, {}, {});
    const RunningTasks running(state_,
                               {.priority = 5,
                                .movability = &movability,
                                .budgeted_moves = budgeted_moves},
                               {}, &peers);
    int64_t count = 0;
    for (const auto& [c, tasks] : running.CountOn(m())) {
      if (running.classes()[c].move_cost.has_value()) count += tasks;
    }
    return count;
  };
  EXPECT_EQ(count_movable(BudgetedMoves::kAll), 4);
  EXPECT_EQ(count_movable(BudgetedMoves::kAsAllowed), 2)
      << "one within the budget, and the free one";
  EXPECT_EQ(count_movable(BudgetedMoves::kNone), 1);
}

TEST_F(RunningTasksTest, LeavesAloneWhatABudgetProtects) {
  RunTask(1,
          {.cpu = 100,
           .budget = DisruptionBudget{
               .limit = DisruptionBudget::Limit::kMinAvailable, .amount = 1}});
  EXPECT_TRUE(Find(5).empty());
  EXPECT_EQ(Find(5).FindRoomOn(m()), nullptr);
}

TEST_F(RunningTasksTest, LeavesAloneAMachineThatIsSmallerThanItsLoad) {
  RunTask(1, {.cpu = 800});
  Do(Updated("m", MachineOptions{.cpu = 500}));
  EXPECT_TRUE(Find(5).empty());
  EXPECT_THAT(Find(5).CountOn(m()), IsEmpty());
}

}  // namespace
}  // namespace sluice
