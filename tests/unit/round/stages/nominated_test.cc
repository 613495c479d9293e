#include "round/stages/nominated.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "round/context/round_context.h"
#include "util/cluster_builder.h"
#include "util/peer_builder.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

// Tasks 1 and 2 were told to leave "m", and tasks 3 and 4 have its room kept.
class ServeNominatedTest : public ::testing::Test {
 protected:
  ServeNominatedTest() {
    ClusterBuilder()
        .Machine("m", {.cpu = 2000, .labels = {{"zone", "z"}}})
        .Tasks(1, 2, {.cpu = 1000})
        .ApplyTo(&cluster_);
    cluster_.Round();
    cluster_.Deliver();
    for (const uint64_t uid : {3, 4}) {
      cluster_.Apply(Submitted(
          uid, {.cpu = 1000, .priority = 9, .labels = {{"app", "high"}}},
          PeerOptions()));
    }
    ClusterState& state = cluster_.mutable_state();
    for (const uint64_t uid : {1, 2}) state.Preempt({uid});
    for (const uint64_t uid : {3, 4}) {
      state.Nominate({uid}, state.FindMachine("m")->id);
    }
  }
  void TearDown() override {
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
  }
  void Serve() { Do(ServeNominated); }
  void EndVain() { Do(EndVainNominations); }
  void Do(void (*stage)(RoundContext*)) {
    cluster_.eligibility();  // Learns the rules of what waits.
    RoundContext context(
        {cluster_.mutable_state(), cluster_.policies(), cluster_.constraints(),
         cluster_.scheduler().eligibility()},
        {}, 0);
    RoundStats stats;
    context.stats = &stats;
    stage(&context);
  }

  TestScheduler cluster_;
};

TEST_F(ServeNominatedTest, KeepsRoomThatIsNotFreeYet) {
  Serve();
  EXPECT_THAT(cluster_.state().nominations().machines(), SizeIs(2));
}

TEST_F(ServeNominatedTest, PlacesThoseWhoseRoomIsFree) {
  cluster_.Apply(Removed(1));
  Serve();
  EXPECT_THAT(cluster_.state().nominations().machines(), SizeIs(1));
  EXPECT_EQ(cluster_.MachineOf(3), "m");
  EXPECT_EQ(cluster_.MachineOf(4), "");
}

TEST_F(ServeNominatedTest, GivesUpNoMoreRoomThanThereIsElsewhere) {
  cluster_.Apply(Added("n", {.cpu = 1000}));
  Serve();
  EXPECT_THAT(cluster_.state().nominations().machines(), SizeIs(1));
  cluster_.Apply(Added("o", {.cpu = 2000}));
  Serve();
  EXPECT_THAT(cluster_.state().nominations().machines(), IsEmpty());
}

// Its room is free, and two are to come before its zone rises.
TEST_F(ServeNominatedTest, KeepsTheRoomOfOneWhoseSpreadCountsThoseToCome) {
  PlacementRules rules;
  rules.spread = {Spread(App("high"), "zone")};
  cluster_.Apply(Added("n", {.cpu = 500, .labels = {{"zone", "z"}}}));
  cluster_.Apply(Submitted(5, {.cpu = 500, .priority = 5, .rules = rules}));
  ClusterState& state = cluster_.mutable_state();
  state.Nominate({5}, state.FindMachine("n")->id);
  Serve();
  EXPECT_TRUE(state.nominations().Contains({5}));
  for (const uint64_t uid : {1, 2}) cluster_.Apply(Removed(uid));
  Serve();
  EXPECT_EQ(cluster_.MachineOf(5), "n");
}

TEST_F(ServeNominatedTest, KeepsNoRoomForAPartOfAGang) {
  cluster_.Apply(Added("n", {.cpu = 1000}));
  for (const uint64_t uid : {5, 6}) {
    cluster_.Apply(
        Submitted(uid, {.cpu = 500, .job = "gang"}, {.gang = {.minimum = 2}}));
  }
  ClusterState& state = cluster_.mutable_state();
  for (const uint64_t uid : {5, 6}) {
    state.Nominate({uid}, state.FindMachine("n")->id);
  }
  EndVain();
  EXPECT_THAT(state.nominations().machines(), SizeIs(4));
  state.EndNomination({6});
  EndVain();
  EXPECT_THAT(state.nominations().machines(), SizeIs(2));
}

}  // namespace
}  // namespace sluice
