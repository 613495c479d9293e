// What the core thread solves itself.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "loop/core_loop.h"
#include "unit/loop/loop_fixture.h"
#include "util/cluster_builder.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

class SmallProblemsTest : public LoopFixture {
 protected:
  SmallProblemsTest() : LoopFixture({.inline_arcs_max = 100}) {}
};

TEST_F(SmallProblemsTest, AreSolvedWithinOneWrite) {
  Submit(Added("m", {.cpu = 1000}));
  store_.gate.Close();
  Awaited<Ack> first;
  SubmitAsync(Submitted(1, {.cpu = 100}), &first);
  store_.gate.AwaitArrivals(2);
  // Both wait for the core thread, and are handled together.
  Awaited<Ack> second;
  SubmitAsync(Submitted(2, {.cpu = 100}), &second);
  FakeCall call;
  ASSERT_TRUE(loop_.Schedule(&call));
  store_.gate.Open();
  EXPECT_THAT(TasksOf(call.Reply()), ElementsAre(1, 2));
  EXPECT_EQ(metrics_.solves.Value(), 1);
  // The machine, the first task, and the second with what was placed.
  EXPECT_EQ(metrics_.store_writes.Value(), 3);
  call.End(/*is_delivered=*/true);
}

TEST_F(SmallProblemsTest, AreHandedOverWhereTheyAreLarger) {
  Submit(Added("m", {.cpu = 1000000}));
  // Each a class of its own.
  for (int i = 1; i <= 101; ++i) {
    Submit(Submitted(static_cast<uint64_t>(i), {.cpu = 1000 + i}));
  }
  solver_.gate.Close();
  FakeCall call;
  ASSERT_TRUE(loop_.Schedule(&call));
  solver_.gate.AwaitArrivals(1);
  EXPECT_EQ(Submit(Removed(1)), Ack::kOk) << "commands go on";
  solver_.gate.Open();
  EXPECT_THAT(call.Reply().deltas, SizeIs(100));
  call.End(/*is_delivered=*/true);
}

TEST_F(SmallProblemsTest, CountAsTimeWithoutCommands) {
  Submit(Added("m", {.cpu = 1000}));
  Submit(Submitted(1, {.cpu = 100, .priority = 2}));
  Submit(Submitted(2, {.cpu = 100, .priority = 1}));
  solver_.tamper = [this](FlowSolution*) { clock_.AdvanceUs(700); };
  EXPECT_THAT(Schedule(), ElementsAre(1, 2));
  const RoundStats stats = Settle();
  EXPECT_EQ(stats.solve_us, 1400);
  EXPECT_EQ(stats.longest_step_us, 1400);
}

TEST_F(SmallProblemsTest, AreNoFailuresWhereTheShutdownCancelsThem) {
  Submit(Added("m", {.cpu = 1000}));
  Submit(Submitted(1, {.cpu = 1000}));
  solver_.gate.Close();
  FakeCall call;
  ASSERT_TRUE(loop_.Schedule(&call));
  solver_.gate.AwaitArrivals(1);
  loop_.BeginShutdown();
  call.Reply();
  call.End(/*is_delivered=*/true);
  loop_.Stop();
  EXPECT_EQ(metrics_.solve_failures.Value(), 0);
}

}  // namespace
}  // namespace sluice
