#include "core/exchange.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "base/rng.h"
#include "cost/waiting_cost.h"
#include "util/cluster_builder.h"
#include "util/peer_builder.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

constexpr int64_t kMinuteMs = 60000;
constexpr uint64_t kAll = std::numeric_limits<uint64_t>::max();

class ExchangeTest : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
  }
  // Places the task as a round would have.
  void Place(uint64_t uid, std::string_view uuid) {
    cluster_.mutable_state().Place({uid},
                                   cluster_.state().FindMachine(uuid)->id, 0);
    placed_.push_back({uid});
  }
  ExchangeOutcome Run(int64_t now_ms = 0, uint64_t sequence_end = kAll) {
    Exchange exchange(&cluster_.mutable_state(), cluster_.constraints(),
                      &cluster_.eligibility(),
                      /*priority=*/0, placed_, sequence_end, now_ms);
    while (!exchange.Step(/*looks_max=*/1)) {
    }
    return exchange.outcome();
  }
  // What is left waiting, at its price.
  Cost WaitingLeft(int64_t now_ms) const {
    Cost cost = 0;
    for (const TaskId id : cluster_.state().unscheduled()) {
      cost += WaitingCost(now_ms - cluster_.state().FindTask(id)->submitted_ms);
    }
    return cost;
  }
  TestScheduler cluster_;
  std::vector<TaskId> placed_;
};

TEST_F(ExchangeTest, GivesTheRoomOfOneTaskToTwo) {
  ClusterBuilder()
      .Machine("m", {.cpu = 1000})
      .Task(1, {.cpu = 900})
      .Tasks(2, 2, {.cpu = 500})
      .ApplyTo(&cluster_);
  Place(1, "m");
  const ExchangeOutcome outcome = Run();
  EXPECT_EQ(outcome.withdrawn, 1);
  EXPECT_EQ(outcome.placed, 2);
  EXPECT_EQ(cluster_.MachineOf(1), "");
  EXPECT_EQ(cluster_.MachineOf(2), "m");
  EXPECT_EQ(cluster_.MachineOf(3), "m");
}

TEST_F(ExchangeTest, GivesTheRoomOfTwoTasksToThree) {
  ClusterBuilder()
      .Machine("m", {.cpu = 900, .memory = 900})
      .Tasks(1, 2, {.cpu = 450, .memory = 1})
      .Tasks(3, 3, {.cpu = 300, .memory = 300})
      .ApplyTo(&cluster_);
  Place(1, "m");
  Place(2, "m");
  EXPECT_EQ(Run().placed, 3);
  EXPECT_EQ(cluster_.state().pending_count(), 2);
}

TEST_F(ExchangeTest, ExchangesNothingForAsMuch) {
  ClusterBuilder()
      .Machine("m", {.cpu = 1000})
      .Task(1, {.cpu = 900})
      .Task(2, {.cpu = 800})
      .ApplyTo(&cluster_);
  Place(1, "m");
  EXPECT_EQ(Run().withdrawn, 0);
  EXPECT_EQ(cluster_.MachineOf(1), "m");
}

TEST_F(ExchangeTest, GivesTheRoomToTheOlderTask) {
  cluster_.Apply(Added("m", {.cpu = 1000}), 0);
  cluster_.Apply(Submitted(1, {.cpu = 600}), 0);
  cluster_.Apply(Submitted(2, {.cpu = 600}), kMinuteMs);
  Place(2, "m");
  EXPECT_EQ(Run(kMinuteMs).withdrawn, 1);
  EXPECT_EQ(cluster_.MachineOf(1), "m");
}

TEST_F(ExchangeTest, KeepsAnOldTaskThatIsDearerThanTwoNewOnes) {
  cluster_.Apply(Added("m", {.cpu = 1000}), 0);
  cluster_.Apply(Submitted(1, {.cpu = 1000}), 0);
  cluster_.Apply(Submitted(2, {.cpu = 500}), 2 * kMinuteMs);
  cluster_.Apply(Submitted(3, {.cpu = 500}), 2 * kMinuteMs);
  Place(1, "m");
  EXPECT_EQ(Run(2 * kMinuteMs).withdrawn, 0);
}

TEST_F(ExchangeTest, LeavesWhatAClientWasTold) {
  ClusterBuilder()
      .Machine("m", {.cpu = 1000})
      .Machine("n", {.cpu = 1000})
      .Tasks(1, 2, {.cpu = 900})
      .Tasks(3, 4, {.cpu = 500})
      .ApplyTo(&cluster_);
  Place(1, "m");
  cluster_.Deliver();
  Place(2, "n");
  cluster_.scheduler().TakeReply(kReplyBytesMax);  // In flight.
  EXPECT_EQ(Run().withdrawn, 0);
  cluster_.scheduler().EndReply(/*is_delivered=*/false);
  EXPECT_EQ(Run().withdrawn, 1) << "the reply came back, so nobody knows";
  EXPECT_EQ(cluster_.MachineOf(1), "m");
  EXPECT_EQ(cluster_.MachineOf(2), "");
}

TEST_F(ExchangeTest, StaysWithinItsPriority) {
  ClusterBuilder()
      .Machine("m", {.cpu = 1000})
      .Machine("n", {.cpu = 1000})
      .Task(1, {.cpu = 900, .priority = 1})
      .Task(2, {.cpu = 900})
      .Tasks(3, 2, {.cpu = 500, .priority = 1})
      .ApplyTo(&cluster_);
  Place(1, "m");
  Place(2, "n");
  EXPECT_EQ(Run().withdrawn, 0);
}

TEST_F(ExchangeTest, LeavesOutWhatCameAfterTheRoundBegan) {
  ClusterBuilder()
      .Machine("m", {.cpu = 1000})
      .Task(1, {.cpu = 900})
      .Tasks(2, 2, {.cpu = 500})
      .ApplyTo(&cluster_);
  Place(1, "m");
  EXPECT_EQ(Run(0, cluster_.TaskOf(3).sequence).withdrawn, 0);
  EXPECT_EQ(Run(0, cluster_.TaskOf(3).sequence + 1).withdrawn, 1);
}

TEST_F(ExchangeTest, SkipsMachinesAndTasksThatAreGone) {
  ClusterBuilder()
      .Machine("m", {.cpu = 1000})
      .Tasks(1, 2, {.cpu = 450})
      .Tasks(3, 2, {.cpu = 500})
      .ApplyTo(&cluster_);
  Place(1, "m");
  Place(2, "m");
  cluster_.Apply(Removed(1));
  cluster_.Apply(Completed(2));
  EXPECT_EQ(Run().withdrawn, 0);
  cluster_.Apply(Removed("m"));
  EXPECT_EQ(Run().placed, 0);
}

// Its first machine went away, and the round placed it a second time.
TEST_F(ExchangeTest, CountsATaskOnceThatWasPlacedTwice) {
  ClusterBuilder()
      .Machine("gone", {.cpu = 1000})
      .Machine("m", {.cpu = 1000})
      .Task(1, {.cpu = 900})
      .Tasks(2, 3, {.cpu = 600})
      .ApplyTo(&cluster_);
  Place(1, "gone");
  cluster_.Apply(Removed("gone"));
  Place(1, "m");
  // Its room holds one of the others; taken for two, it would seem to hold
  // three.
  EXPECT_EQ(Run().withdrawn, 0);
  EXPECT_EQ(cluster_.MachineOf(1), "m");
}

TEST_F(ExchangeTest, LeavesAMachineAloneThatIsOvercommitted) {
  ClusterBuilder()
      .Machine("m", {.cpu = 1000})
      .Task(1, {.cpu = 900})
      .Tasks(2, 2, {.cpu = 450})
      .ApplyTo(&cluster_);
  Place(1, "m");
  cluster_.Apply(ForeignPod("a/ns", "m", {{"cpu", 500}}));
  Run();
  // 500 are left without the task: one of the small ones, which gains nothing.
  EXPECT_EQ(cluster_.MachineOf(1), "m");
}

// Others may be where they are because of it.
TEST_F(ExchangeTest, LeavesTasksAloneThatDependOnOthers) {
  const PlacementRules about_others = {
      .preferred_peers = {{1, {TasksOfJob("nobody"), ""}}}};
  const PlacementRules about_it = {.affinity = {{TasksOfJob("meant"), ""}}};
  const SubmitTask placed[] = {
      Submitted(1, {.cpu = 900, .job = "rules", .rules = about_others}),
      Submitted(2, {.cpu = 900, .job = "meant"}),
      Submitted(3, {.cpu = 900, .job = "gang"}, {.gang = {.minimum = 1}}),
      Submitted(4, {.cpu = 900, .job = "free"}),
  };
  for (const SubmitTask& submit : placed) {
    const std::string uuid = StrCat("m", submit.task.value);
    cluster_.Apply(Added(uuid, {.cpu = 1000}));
    cluster_.Apply(submit);
    Place(submit.task.value, uuid);
  }
  ClusterBuilder()
      .Task(9, {.cpu = 5000, .rules = about_it})
      .Tasks(10, 8, {.cpu = 500})
      .ApplyTo(&cluster_);
  cluster_.mutable_state().SyncPeers();
  EXPECT_EQ(Run().withdrawn, 1);
  for (const uint64_t uid : {1, 2, 3}) {
    EXPECT_TRUE(cluster_.TaskOf(uid).class_key.IsBound());
    EXPECT_NE(cluster_.MachineOf(uid), "");
  }
  EXPECT_EQ(cluster_.MachineOf(4), "");
}

// Whatever it finds: less is left waiting, and nothing is overcommitted.
class RandomExchangeTest : public ExchangeTest,
                           public testing::WithParamInterface<uint64_t> {
 protected:
  static constexpr uint64_t kTaskCount = 16;

  void SetUp() override {
    Rng rng(GetParam());
    for (int i = 0; i < 3; ++i) {
      cluster_.Apply(Added(StrCat("m", i), {.cpu = rng.Between(500, 1500),
                                            .memory = rng.Between(500, 1500),
                                            .pods = rng.Between(2, 9)}));
    }
    for (uint64_t uid = 1; uid <= kTaskCount; ++uid) {
      cluster_.Apply(Submitted(uid, {.cpu = rng.Between(50, 900),
                                     .memory = rng.Between(50, 900)}),
                     rng.Between(0, 3) * kMinuteMs / 2);
    }
    for (uint64_t uid = 1; uid <= kTaskCount; ++uid) PlaceWhereItFits(uid);
  }
  void PlaceWhereItFits(uint64_t uid) {
    for (const auto& [id, machine] : cluster_.state().machines()) {
      if (cluster_.TaskOf(uid).class_key.request.FitsIn(machine->Free())) {
        return Place(uid, machine->uuid);
      }
    }
  }
};

TEST_P(RandomExchangeTest, GainsOrDoesNothing) {
  constexpr int64_t kNowMs = 2 * kMinuteMs;
  const Cost before = WaitingLeft(kNowMs);
  const ExchangeOutcome outcome = Run(kNowMs);
  const Cost after = WaitingLeft(kNowMs);
  if (outcome.withdrawn > 0) {
    EXPECT_LT(after, before);
  } else {
    EXPECT_EQ(after, before);
    EXPECT_EQ(outcome.placed, 0);
  }
  for (const auto& [id, machine] : cluster_.state().machines()) {
    EXPECT_TRUE(machine->used.FitsIn(machine->allocatable)) << machine->uuid;
  }
}

// Commands come in between two steps, and replies go out.
TEST_P(RandomExchangeTest, GoesOnWhateverHappensBetweenItsSteps) {
  Rng rng(GetParam() + 1000);
  Exchange exchange(&cluster_.mutable_state(), cluster_.constraints(),
                    &cluster_.eligibility(),
                    /*priority=*/0, placed_, kAll, 2 * kMinuteMs);
  while (!exchange.Step(/*looks_max=*/1)) {
    const uint64_t uid = 1 + rng.Below(kTaskCount);
    const std::string uuid = StrCat("m", rng.Below(3));
    switch (rng.Below(8)) {
      case 0:
        cluster_.Apply(Removed(uid));
        break;
      case 1:
        cluster_.Apply(Completed(uid));
        break;
      case 2:
        cluster_.Apply(Removed(uuid));
        break;
      case 3:
        cluster_.Apply(Added(uuid, {.cpu = 1000, .memory = 1000}));
        break;
      case 4:
        cluster_.Apply(Submitted(uid, {.cpu = rng.Between(50, 900)}));
        break;
      case 5:
        cluster_.Apply(ForeignPod("a/ns", uuid, {{"cpu", 300}}));
        break;
      case 6:
        cluster_.Deliver(/*bytes_max=*/50);
        break;
      default:
        break;
    }
    ASSERT_EQ(FindContradiction(cluster_.state()), "");
  }
  EXPECT_GE(exchange.outcome().placed, exchange.outcome().withdrawn);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomExchangeTest,
                         testing::Range<uint64_t>(1, 201));

}  // namespace
}  // namespace sluice
