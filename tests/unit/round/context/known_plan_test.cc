#include "round/context/known_plan.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "util/cluster_builder.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

// Task 1 runs on "m", which has room for one of the waiting tasks 2 and 3.
class KeepRoomAgainTest : public ::testing::Test {
 protected:
  KeepRoomAgainTest() {
    ClusterBuilder()
        .Machine("m", {.cpu = 2000})
        .Tasks(1, 1, {.cpu = 1000})
        .ApplyTo(&cluster_);
    cluster_.Round();
    cluster_.Deliver();
    for (const uint64_t uid : {2, 3}) {
      cluster_.Apply(Submitted(uid, {.cpu = 1000}));
    }
    machine_ = state().FindMachine("m")->id;
  }
  void TearDown() override {
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
  }
  ClusterState& state() { return cluster_.mutable_state(); }
  bool Keeps(uint64_t id) {
    return KeepRoomAgain({id}, machine_, /*is_final=*/false, &state());
  }
  bool IsNominated(uint64_t id) {
    return state().nominations().Contains(TaskId{id});
  }

  TestScheduler cluster_;
  MachineId machine_;
};

TEST_F(KeepRoomAgainTest, KeepsWhatIsThere) {
  EXPECT_TRUE(Keeps(2));
  EXPECT_TRUE(IsNominated(2));
}

TEST_F(KeepRoomAgainTest, KeepsNoRoomThatIsPromisedToAnother) {
  ASSERT_TRUE(Keeps(2));
  EXPECT_FALSE(Keeps(3));
  EXPECT_FALSE(IsNominated(3));
  EXPECT_TRUE(IsNominated(2));
}

TEST_F(KeepRoomAgainTest, KeepsRoomOnceForEachTask) {
  ASSERT_TRUE(Keeps(2));
  EXPECT_FALSE(Keeps(2));
  EXPECT_TRUE(IsNominated(2)) << "as it was";
}

TEST_F(KeepRoomAgainTest, KeepsNothingForWhoRunsOrIsGone) {
  cluster_.Apply(RemoveTask{{2}});
  for (const uint64_t id : {1, 2, 99}) {
    EXPECT_FALSE(Keeps(id)) << id;
    EXPECT_FALSE(IsNominated(id)) << id;
  }
}

TEST_F(KeepRoomAgainTest, KeepsNothingOnAMachineThatLeft) {
  cluster_.Apply(RemoveMachine{"m"});
  EXPECT_FALSE(Keeps(2));
  EXPECT_FALSE(IsNominated(2));
  machine_ = {99};
  EXPECT_FALSE(Keeps(2)) << "there is no such machine";
}

}  // namespace
}  // namespace sluice
