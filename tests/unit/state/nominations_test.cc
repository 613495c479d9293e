#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

#include "unit/state/state_fixture.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// A machine of 1,000 with a victim of 600, and a task of 500 that waits for it
// to leave.
class NominationTest : public StateTest {
 protected:
  NominationTest() {
    Do(Added("m", {.cpu = 1000}));
    Do(Submitted(1, {.cpu = 600}));
    Run(1, "m");
    Do(Submitted(2, {.cpu = 500, .priority = 9}));
    state_.Preempt({1});
    Nominate(2, "m");
  }
  void Nominate(uint64_t uid, std::string_view uuid) {
    state_.Nominate({uid}, MachineOf(uuid).id);
  }
  int64_t FreeCpu(std::string_view uuid) const {
    return MachineOf(uuid).Free()[kCpu];
  }
};

TEST_F(NominationTest, TakesTheTaskOutOfItsQueueWhileItWaits) {
  EXPECT_TRUE(IsWaiting(2));
  EXPECT_THAT(state_.pending(), IsEmpty());
  EXPECT_EQ(state_.pending_count(), 1);
  EXPECT_THAT(state_.nominations().machines(),
              ElementsAre(Pair(TaskId{2}, MachineOf("m").id)));
}

TEST_F(NominationTest, CountsThoseOfAClassByMachine) {
  const auto counts = [this](uint64_t uid) {
    return state_.nominations().MachinesOf(TaskOf(uid).class_key);
  };
  Do(Added("n", {.cpu = 1000}));
  for (const uint64_t uid : {3, 4}) {
    Do(Submitted(uid, {.cpu = 100, .priority = 9}));
  }
  EXPECT_THAT(counts(3), IsEmpty());
  Nominate(3, "n");
  Nominate(4, "n");
  EXPECT_THAT(counts(3), ElementsAre(Pair(MachineOf("n").id, 2)));
  EXPECT_THAT(counts(2), ElementsAre(Pair(MachineOf("m").id, 1)));
  state_.EndNomination({3});
  EXPECT_THAT(counts(4), ElementsAre(Pair(MachineOf("n").id, 1)));
  Do(Removed(4));
  EXPECT_THAT(counts(3), IsEmpty());
}

TEST_F(NominationTest, KeepsOnlyWhatThoseThatLeaveDoNotMakeRoomFor) {
  EXPECT_EQ(FreeCpu("m"), 400);
  DeliverAll();
  Do(Removed(1));
  EXPECT_EQ(FreeCpu("m"), 500) << "of 1,000, 500 are kept";
}

TEST_F(NominationTest, KeepsPartOfWhatIsFreeForOneThatNeedsMoreThanLeaves) {
  Do(Submitted(3, {.cpu = 400, .priority = 9}));
  Nominate(3, "m");
  EXPECT_EQ(FreeCpu("m"), 100);
  EXPECT_TRUE(state_.nominations().CanBeHeldBy(MachineOf("m")));
  Do(Submitted(4, {.cpu = 200, .priority = 9}));
  Nominate(4, "m");
  EXPECT_FALSE(state_.nominations().CanBeHeldBy(MachineOf("m")));
}

TEST_F(NominationTest, LeavesTheTaskAsAnyOtherOnceItHasEnded) {
  state_.EndNomination({2});
  EXPECT_THAT(state_.nominations().machines(), IsEmpty());
  EXPECT_EQ(state_.pending().size(), 1u);
  EXPECT_EQ(state_.pending_count(), 1);
  DeliverAll();
  Do(Removed(1));
  EXPECT_EQ(FreeCpu("m"), 1000);
}

TEST_F(NominationTest, KeepsTheHostPortsOfTheTask) {
  Do(Submitted(3, {.cpu = 100, .rules = {.host_ports = {TcpPort(80)}}}));
  Nominate(3, "m");
  EXPECT_THAT(MachineOf("m").kept_host_ports, ElementsAre(TcpPort(80)));
  EXPECT_THAT(MachineOf("m").used_host_ports, IsEmpty());
  Do(Updated(3, {.cpu = 100, .rules = {.host_ports = {TcpPort(81)}}}));
  EXPECT_THAT(MachineOf("m").kept_host_ports, IsEmpty());
}

TEST_F(NominationTest, EndsWhenTheTaskChanges) {
  Do(Updated(2, TaskOptions{.cpu = 300, .priority = 9}));
  EXPECT_THAT(state_.nominations().machines(), IsEmpty());
  EXPECT_EQ(state_.pending().size(), 1u);
}

TEST_F(NominationTest, EndsWhenTheTaskIsRemoved) {
  Do(Removed(2));
  EXPECT_THAT(state_.nominations().machines(), IsEmpty());
  EXPECT_EQ(state_.pending_count(), 0);
}

TEST_F(NominationTest, EndsWhenTheMachineGoes) {
  Do(Removed("m"));
  EXPECT_THAT(state_.nominations().machines(), IsEmpty());
  EXPECT_EQ(state_.pending().size(), 1u);
}

TEST_F(NominationTest, FollowsAVictimThatIsDescribedAnew) {
  DeliverAll();
  Do(Updated(1, TaskOptions{.cpu = 300}));
  // 700 are free, 300 leave, and 500 are wanted.
  EXPECT_EQ(FreeCpu("m"), 500);
  EXPECT_TRUE(state_.nominations().CanBeHeldBy(MachineOf("m")));
}

TEST_F(NominationTest, CannotBeMetWhereTheMachineHasBecomeTooSmall) {
  Do(Updated("m", MachineOptions{.cpu = 400}));
  EXPECT_FALSE(state_.nominations().CanBeHeldBy(MachineOf("m")));
  EXPECT_FALSE(state_.nominations().machines().empty()) << "a round ends it";
}

}  // namespace
}  // namespace sluice
