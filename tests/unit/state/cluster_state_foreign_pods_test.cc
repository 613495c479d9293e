// Pods that another scheduler placed: their usage counts, flap or not (R6).

#include <gtest/gtest.h>

#include <vector>

#include "base/strings.h"
#include "unit/state/state_fixture.h"

namespace sluice {
namespace {

class ForeignPodsTest : public StateTest {
 protected:
  void SetUp() override {
    Do(Added("m", {.cpu = 1000, .pods = 5, .pus = {{"pu", {}}}}));
    Do(Added("n", {.cpu = 1000, .pods = 5}));
  }
};

TEST_F(ForeignPodsTest, UseWhatTheySayAndOnePod) {
  EXPECT_EQ(Do(ForeignPod("a/ns", "m", {{"cpu", 300}})), Ack::kOk);
  EXPECT_EQ(MachineOf("m").Free(), Resources(700, 0, 0, 4));
  EXPECT_FALSE(MachineOf("m").IsEmpty());
}

TEST_F(ForeignPodsTest, AreFoundByAnyUuidOfTheMachine) {
  EXPECT_EQ(Do(ForeignPod("a/ns", "pu", {{"cpu", 300}})), Ack::kOk);
  EXPECT_EQ(UsedCpu("m"), 300);
  EXPECT_EQ(Do(ForeignPod("a/ns", "other", {})), Ack::kNotFound);
}

TEST_F(ForeignPodsTest, AreReplacedByAPodOfTheSameName) {
  Do(ForeignPod("a/ns", "m", {{"cpu", 300}}));
  EXPECT_EQ(Do(ForeignPod("a/ns", "m", {{"cpu", 400}})), Ack::kOk);
  EXPECT_EQ(UsedCpu("m"), 400);
  EXPECT_EQ(UsedPods("m"), 1);
  EXPECT_EQ(Do(ForeignPod("a/ns", "n", {{"cpu", 500}})), Ack::kOk);
  EXPECT_EQ(UsedCpu("m"), 0);
  EXPECT_EQ(UsedCpu("n"), 500);
}

TEST_F(ForeignPodsTest, StayWhereTheyAreWhenTheirReplacementIsNowhere) {
  Do(ForeignPod("a/ns", "m", {{"cpu", 300}}));
  EXPECT_EQ(Do(ForeignPod("a/ns", "other", {{"cpu", 400}})), Ack::kNotFound);
  EXPECT_EQ(UsedCpu("m"), 300);
}

TEST_F(ForeignPodsTest, GiveBackWhatTheyUsed) {
  Do(ForeignPod("a/ns", "m", {{"cpu", 300}}));
  EXPECT_EQ(Do(RemoveForeignPod{"a/ns"}), Ack::kOk);
  EXPECT_EQ(UsedCpu("m"), 0);
  EXPECT_EQ(UsedPods("m"), 0);
  EXPECT_EQ(Do(RemoveForeignPod{"a/ns"}), Ack::kNotFound);
  EXPECT_EQ(Do(ForeignPod("a/ns", "m", {{"cpu", 100}})), Ack::kOk)
      << "a pod that returns under its name is welcome";
}

// The report of an end comes late: the pod is on another machine by now.
TEST_F(ForeignPodsTest, StayWhereTheyAreWhenTheirEndElsewhereIsReported) {
  Do(ForeignPod("a/ns", "m", {{"cpu", 300}}));
  EXPECT_EQ(Do(RemoveForeignPod{"a/ns", "n"}), Ack::kNotFound);
  EXPECT_EQ(Do(RemoveForeignPod{"a/ns", "nowhere"}), Ack::kNotFound);
  EXPECT_EQ(UsedCpu("m"), 300);
  EXPECT_EQ(Do(RemoveForeignPod{"a/ns", "pu"}), Ack::kOk)
      << "any uuid of its machine will do";
  EXPECT_EQ(UsedCpu("m"), 0);
}

TEST_F(ForeignPodsTest, SurviveTheFlapOfTheirMachine) {
  Do(ForeignPod("a/ns", "m", {{"cpu", 300}}));
  Do(ForeignPod("b/ns", "m", {{"cpu", 200}}));
  Do(Removed("m"));
  EXPECT_EQ(Do(RemoveForeignPod{"b/ns"}), Ack::kOk);
  EXPECT_EQ(Do(ForeignPod("c/ns", "m", {{"cpu", 50}})), Ack::kOk);
  Do(Added("m", {.cpu = 1000, .pods = 5}));
  EXPECT_EQ(MachineOf("m").Free(), Resources(650, 0, 0, 3));
}

TEST_F(ForeignPodsTest, MayUseMoreThanThereIs) {
  Do(ForeignPod("a/ns", "m", {{"cpu", 3000}}));
  EXPECT_EQ(MachineOf("m").Free()[kCpu], -2000);
}

// Beyond what a sum can hold nothing may be lost: a machine that gave back
// more than it took would be overcommitted.
TEST_F(ForeignPodsTest, LeaveAMachineAsItWasHoweverMuchTheyUsed) {
  constexpr int kPodCount = 9;
  Do(ForeignPod("small/ns", "m", {{"cpu", 300}}));
  for (int i = 0; i < kPodCount; ++i) {
    Do(ForeignPod(StrCat("huge", i), "m", {{"cpu", kAmountMax}}));
  }
  EXPECT_EQ(UsedCpu("m"), kAmountSaturated);
  for (int i = 0; i < kPodCount; ++i) {
    Do(RemoveForeignPod{StrCat("huge", i)});
    EXPECT_GT(UsedCpu("m"), 0);
  }
  EXPECT_EQ(UsedCpu("m"), 300);
}

}  // namespace
}  // namespace sluice
