#include "state/measured_use.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "base/strings.h"
#include "unit/state/state_fixture.h"

namespace sluice {
namespace {

constexpr int64_t kMinute = 60'000;

// A machine of 1,000 millicores and 1,000 of memory.
class MeasuredUseTest : public StateTest {
 protected:
  MeasuredUseTest() {
    state_.measured_use().SetOptions({.is_on = true,
                                      .samples = 2,
                                      .floor_percent = 50,
                                      .overcommit_percent = 150,
                                      .stale_ms = 5 * kMinute});
    Do(Added("m", {.cpu = 1000,
                   .memory = 1000,
                   .pods = 10,
                   .capacity = {{"cpu", 1000}, {"memory", 1000}}}));
  }

  void RunAt(uint64_t uid, int64_t cpu, int64_t memory, int64_t now_ms) {
    Do(Submitted(uid, {.cpu = cpu, .memory = memory}));
    state_.Place({uid}, MachineOf("m").id, now_ms);
    DeliverAll();
  }
  // In per cent of the machine.
  void Sample(int64_t cpu, int64_t memory, int64_t now_ms) {
    Do(
        ReportMachineUsage{
            "m", {.cpu_ppm = cpu * 10'000, .memory_ppm = memory * 10'000}},
        now_ms);
  }
  int64_t FreeCpu() const { return MachineOf("m").Free()[kCpu]; }
  int64_t FreeMemory() const { return MachineOf("m").Free()[kMemory]; }
};

TEST_F(MeasuredUseTest, GivesToOthersWhatIsNotUsed) {
  RunAt(1, 800, 400, 0);
  EXPECT_EQ(FreeCpu(), 200);
  Sample(60, 30, kMinute);
  EXPECT_EQ(FreeCpu(), 200) << "one sample says nothing yet";
  Sample(60, 30, 2 * kMinute);
  EXPECT_EQ(FreeCpu(), 400);
  EXPECT_EQ(FreeMemory(), 700);
  EXPECT_EQ(MachineOf("m").FreeOf(kCpu), 400);
  EXPECT_EQ(MachineOf("m").Offered()[kCpu], 1200);
}

TEST_F(MeasuredUseTest, CountsARiseAtOnceAndAFallInTime) {
  RunAt(1, 1000, 0, 0);
  Sample(60, 0, kMinute);
  Sample(60, 0, 2 * kMinute);
  EXPECT_EQ(FreeCpu(), 400);
  Sample(90, 0, 3 * kMinute);
  EXPECT_EQ(FreeCpu(), 100);
  Sample(60, 0, 4 * kMinute);
  EXPECT_EQ(FreeCpu(), 250) << "the mean of the last two";
  Sample(60, 0, 5 * kMinute);
  EXPECT_EQ(FreeCpu(), 400);
}

TEST_F(MeasuredUseTest, CountsAtLeastTheFloor) {
  RunAt(1, 600, 0, 0);
  Sample(1, 0, kMinute);
  Sample(1, 0, 2 * kMinute);
  EXPECT_EQ(FreeCpu(), 700);
}

TEST_F(MeasuredUseTest, OvercommitsNoMoreThanItMay) {
  state_.measured_use().SetOptions({.is_on = true,
                                    .samples = 1,
                                    .floor_percent = 0,
                                    .overcommit_percent = 150});
  RunAt(1, 1000, 0, 0);
  Sample(10, 0, kMinute);
  EXPECT_EQ(FreeCpu(), 500) << "not 900";
  RunAt(2, 500, 0, 2 * kMinute);
  Sample(20, 0, 3 * kMinute);
  EXPECT_EQ(FreeCpu(), 0) << "requests are 150 per cent";
}

TEST_F(MeasuredUseTest, CountsNewTasksInFullUntilAllSamplesKnowThem) {
  RunAt(1, 500, 0, 0);
  Sample(30, 0, kMinute);
  Sample(30, 0, 2 * kMinute);
  EXPECT_EQ(FreeCpu(), 700);
  RunAt(2, 400, 0, 3 * kMinute);
  EXPECT_EQ(FreeCpu(), 300);
  Sample(50, 0, 4 * kMinute);
  EXPECT_EQ(FreeCpu(), 100) << "500 used beside 400 that may yet be";
  Sample(50, 0, 5 * kMinute);
  EXPECT_EQ(FreeCpu(), 500) << "both are known";
}

// The clock may be set back, or many samples come while a round is under way.
// What the round takes back fits where it was.
TEST_F(MeasuredUseTest, CountsWhatNoClientKnowsOfInFull) {
  RunAt(1, 800, 0, 0);
  Do(Submitted(2, {.cpu = 200}));
  Place(2, "m");
  Sample(40, 0, kMinute);
  Sample(40, 0, 2 * kMinute);
  EXPECT_EQ(FreeCpu(), 400) << "400 of 800, and 200";
  state_.Withdraw({2});
  EXPECT_EQ(FreeCpu(), 600);
  Place(2, "m");
  EXPECT_EQ(FreeCpu(), 400);
  DeliverAll();
}

TEST_F(MeasuredUseTest, GivesBackInProportionWhenATaskLeaves) {
  RunAt(1, 400, 0, 0);
  RunAt(2, 400, 0, 0);
  Sample(60, 0, kMinute);
  Sample(60, 0, 2 * kMinute);
  EXPECT_EQ(FreeCpu(), 400);
  Do(Completed(2));
  EXPECT_EQ(FreeCpu(), 700) << "what is left needs 300 of 400";
}

TEST_F(MeasuredUseTest, HasLessWhereMoreIsUsedThanWasAskedFor) {
  RunAt(1, 200, 0, 0);
  Sample(90, 0, kMinute);
  Sample(90, 0, 2 * kMinute);
  EXPECT_EQ(FreeCpu(), 100);
  EXPECT_EQ(FreeMemory(), 1000);
}

TEST_F(MeasuredUseTest, FallsBackToRequestsWithoutNewSamples) {
  RunAt(1, 1000, 1000, 0);
  Sample(60, 60, kMinute);
  Sample(60, 60, 2 * kMinute);
  state_.DropStaleSamples(7 * kMinute);
  EXPECT_EQ(FreeCpu(), 400);
  state_.DropStaleSamples(7 * kMinute + 1);
  EXPECT_EQ(FreeCpu(), 0);
  EXPECT_FALSE(MachineOf("m").is_measured);
  Sample(60, 60, 9 * kMinute);
  EXPECT_EQ(FreeCpu(), 400) << "the samples before count again";
}

TEST_F(MeasuredUseTest, DropsSamplesOfAClockThatWasSetBack) {
  RunAt(1, 1000, 0, 0);
  Sample(60, 0, 10 * kMinute);
  Sample(60, 0, 11 * kMinute);
  EXPECT_EQ(FreeCpu(), 400);
  state_.DropStaleSamples(5 * kMinute);
  EXPECT_EQ(FreeCpu(), 0);
}

TEST_F(MeasuredUseTest, SamplesExpireWhetherTheyDecideOrNot) {
  for (const bool is_on : {true, false}) {
    state_.measured_use().SetOptions({.is_on = is_on, .stale_ms = kMinute});
    EXPECT_EQ(MachineOf("m").usage.Current(), nullptr);
    Sample(10, 0, kMinute);
    Sample(20, 0, 2 * kMinute);
    const uint64_t revision = MachineOf("m").revision;
    state_.DropStaleSamples(3 * kMinute);
    ASSERT_NE(MachineOf("m").usage.Current(), nullptr);
    EXPECT_EQ(MachineOf("m").usage.Current()->cpu_ppm, 200'000);
    state_.DropStaleSamples(3 * kMinute + 1);
    EXPECT_EQ(MachineOf("m").usage.Current(), nullptr);
    EXPECT_GE(MachineOf("m").usage.samples().size(), 2u) << "still to be seen";
    EXPECT_EQ(MachineOf("m").revision, revision);
  }
}

TEST_F(MeasuredUseTest, ForgetsTheSamplesOfAMachineThatIsForgotten) {
  Sample(10, 0, kMinute);
  Do(Removed("m"));
  for (size_t i = 0; i <= kDepartedMachinesMax; ++i) {
    Do(Added(StrCat("n", i), {}));
    Do(Removed(StrCat("n", i)));
  }
  ASSERT_EQ(state_.FindMachine("m"), nullptr);
  state_.DropStaleSamples(60 * kMinute);
}

TEST_F(MeasuredUseTest, FollowsWhatTheMachineOffers) {
  RunAt(1, 800, 0, 0);
  Sample(50, 0, kMinute);
  Sample(50, 0, 2 * kMinute);
  EXPECT_EQ(FreeCpu(), 500);
  Do(Updated("m", {.cpu = 500,
                   .memory = 1000,
                   .pods = 10,
                   .capacity = {{"cpu", 1000}, {"memory", 1000}}}));
  EXPECT_EQ(FreeCpu(), -50) << "half of 500 at most is reclaimed";
}

TEST_F(MeasuredUseTest, ChangesNothingThatHardlyChanged) {
  RunAt(1, 1000, 0, 0);
  Sample(60, 0, kMinute);
  Sample(60, 0, 2 * kMinute);
  const uint64_t revision = MachineOf("m").revision;
  Do(ReportMachineUsage{"m", {.cpu_ppm = 599'000, .memory_ppm = 0}},
     3 * kMinute);
  EXPECT_EQ(MachineOf("m").revision, revision);
  Sample(70, 0, 4 * kMinute);
  EXPECT_GT(MachineOf("m").revision, revision);
}

TEST_F(MeasuredUseTest, DecidesNothingUnlessItIsOn) {
  state_.measured_use().SetOptions({});
  RunAt(1, 1000, 0, 0);
  for (int i = 1; i < 20; ++i) Sample(1, 1, i * kMinute);
  EXPECT_EQ(FreeCpu(), 0);
}

}  // namespace
}  // namespace sluice
