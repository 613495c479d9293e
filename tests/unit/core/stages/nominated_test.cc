#include "core/stages/nominated.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "core/round_context.h"
#include "util/cluster_builder.h"
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
        .Machine("m", {.cpu = 2000})
        .Tasks(1, 2, {.cpu = 1000})
        .ApplyTo(&cluster_);
    cluster_.Round();
    cluster_.Deliver();
    ClusterBuilder()
        .Tasks(3, 2, {.cpu = 1000, .priority = 9})
        .ApplyTo(&cluster_);
    ClusterState& state = cluster_.mutable_state();
    for (const uint64_t uid : {1, 2}) state.Preempt({uid});
    for (const uint64_t uid : {3, 4}) {
      state.Nominate({uid}, state.FindMachine("m")->id);
    }
  }
  void TearDown() override {
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
  }
  void Serve() {
    cluster_.eligibility();  // Learns the rules of what waits.
    RoundContext context(
        {cluster_.mutable_state(), cluster_.policies(), cluster_.constraints(),
         cluster_.scheduler().eligibility()},
        {}, 0);
    RoundStats stats;
    context.stats = &stats;
    ServeNominated(&context);
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

}  // namespace
}  // namespace sluice
