#include "round/plans/rebalance_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

#include "base/strings.h"
#include "util/peer_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

constexpr int64_t kNowMs = 600'000;

// The daemon itself neither stops nor moves anything.
class RebalancePlanTest : public testing::Test {
 protected:
  explicit RebalancePlanTest(const PreemptionOptions& options = {})
      : cluster_({.preemption = options}) {
    for (const char* uuid : {"a", "b"}) {
      cluster_.Apply(Added(uuid, {.cpu = 1000}));
    }
    Run(1, "a", 400);
    Run(2, "b", 400);
  }

  void Run(uint64_t uid, std::string_view uuid, int64_t cpu) {
    cluster_.Apply(Submitted(uid, {.cpu = cpu,
                                   .job = StrCat("job-", uid),
                                   .owner = {"ReplicaSet", "r"}}));
    cluster_.mutable_state().SyncPeers();
    cluster_.mutable_state().Place({uid}, IdOf(uuid), 0);
    cluster_.Deliver();
  }
  MachineId IdOf(std::string_view uuid) const {
    return cluster_.state().FindMachine(uuid)->id;
  }
  PreemptingPlan::Decided Plan(Preemption mode) {
    return cluster_.scheduler().Plan(mode, kNowMs).decided;
  }

  TestScheduler cluster_;
};

TEST_F(RebalancePlanTest, SaysWhoWouldMoveForWhom) {
  cluster_.Apply(Submitted(11, {.cpu = 800, .job = "large"}));
  EXPECT_THAT(cluster_.Reply(kNowMs), IsEmpty());
  const PreemptingPlan::Decided decided = Plan(Preemption::kFull);
  ASSERT_THAT(decided.moves, SizeIs(1));
  EXPECT_NE(decided.moves[0].from, decided.moves[0].to);
  EXPECT_EQ(decided.moves[0].gain, -MoveOptions().cost);
  EXPECT_THAT(decided.stopped, IsEmpty());
  EXPECT_THAT(decided.nominated,
              ElementsAre(Pair(TaskId{11}, decided.moves[0].from)));
  EXPECT_THAT(decided.depending, ElementsAre(TaskId{11}));
}

TEST_F(RebalancePlanTest, SaysWhoWouldBeStopped) {
  cluster_.Apply(Submitted(11, {.cpu = 800, .priority = 9, .job = "large"}));
  EXPECT_THAT(cluster_.Reply(kNowMs), IsEmpty());
  const PreemptingPlan::Decided decided = Plan(Preemption::kPriority);
  EXPECT_THAT(decided.moves, IsEmpty());
  EXPECT_THAT(decided.stopped, SizeIs(1));
  EXPECT_THAT(decided.nominated, SizeIs(1));
  EXPECT_THAT(decided.depending, IsEmpty());
  EXPECT_THAT(
      cluster_.scheduler().Plan(Preemption::kPriority, kNowMs).stop_costs,
      ElementsAre(PreemptionOptions().cost));
}

class RebalancePlanOfAPartTest : public RebalancePlanTest {
 protected:
  RebalancePlanOfAPartTest()
      : RebalancePlanTest({.moves = {.whole_machines_max = 3}}) {
    for (const char* uuid : {"c", "d"}) {
      cluster_.Apply(Added(uuid, {.cpu = 300}));
    }
  }
};

TEST_F(RebalancePlanOfAPartTest, SaysHowManyMachinesItIsAbout) {
  const auto machines_in = [this](Preemption mode) {
    return cluster_.scheduler().Plan(mode, kNowMs).machines_in_part;
  };
  EXPECT_EQ(machines_in(Preemption::kFull), 2);
  EXPECT_EQ(machines_in(Preemption::kPriority), 0);
}

TEST_F(RebalancePlanTest, DoesNothing) {
  cluster_.Apply(Submitted(11, {.cpu = 800, .priority = 9, .job = "large"}));
  cluster_.Reply(kNowMs);
  const uint64_t version = cluster_.state().version();
  Plan(Preemption::kFull);
  Plan(Preemption::kPriority);
  EXPECT_EQ(cluster_.state().version(), version);
  EXPECT_FALSE(cluster_.TaskOf(1).is_evicted || cluster_.TaskOf(2).is_evicted);
  EXPECT_THAT(cluster_.state().nominations().machines(), IsEmpty());
  EXPECT_THAT(cluster_.Reply(kNowMs), IsEmpty());
}

TEST_F(RebalancePlanTest, IsEmptyWhereNothingIsGained) {
  const PreemptingPlan::Decided decided = Plan(Preemption::kFull);
  EXPECT_THAT(decided.moves, IsEmpty());
  EXPECT_THAT(decided.stopped, IsEmpty());
  EXPECT_THAT(decided.nominated, IsEmpty());
}

}  // namespace
}  // namespace sluice
