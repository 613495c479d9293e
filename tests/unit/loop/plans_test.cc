// Plans of moves, which the loop makes between two rounds.

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>

#include "unit/loop/loop_fixture.h"

namespace sluice {
namespace {

class PlansTest : public LoopFixture {
 protected:
  // How many moves the plan has; nothing where there is none.
  using Answer = std::optional<size_t>;

  void AskForPlan(Awaited<Answer>* answer) {
    ASSERT_TRUE(loop_.Plan(
        Preemption::kFull,
        [answer](const ClusterState& /*state*/, const RebalancePlan* plan) {
          answer->Set(plan == nullptr ? Answer() : plan->decided.moves.size());
        }));
  }
  // A task that could move to make room for a large one.
  void AddTasks() {
    Submit(Added("m", {.cpu = 1000}));
    Submit(
        Submitted(1, {.cpu = 400, .job = "one", .owner = {"ReplicaSet", "r"}}));
    Schedule();
    Submit(Added("n", {.cpu = 500}));
    Submit(Submitted(2, {.cpu = 800, .job = "large"}));
    Schedule();
    clock_.AdvanceMs(600'000);
  }
};

TEST_F(PlansTest, AreMadeAtOnceBetweenRounds) {
  AddTasks();
  Awaited<Answer> answer;
  AskForPlan(&answer);
  EXPECT_EQ(answer.Get(), 1u);
}

TEST_F(PlansTest, WaitForTheEndOfTheRound) {
  AddTasks();
  solver_.gate.Close();
  const int arrivals = solver_.gate.arrivals();
  Submit(Submitted(3, {.cpu = 100, .job = "small"}));
  FakeCall call;
  ASSERT_TRUE(loop_.Schedule(&call));
  solver_.gate.AwaitArrivals(arrivals + 1);
  Awaited<Answer> answer;
  AskForPlan(&answer);
  Settle();
  EXPECT_FALSE(answer.is_set());
  solver_.gate.Open();
  EXPECT_TRUE(answer.Get().has_value());
  call.Reply();
  call.End(/*is_delivered=*/true);
}

TEST_F(PlansTest, AreNotMadeByALoopThatHasStopped) {
  loop_.Stop();
  EXPECT_FALSE(
      loop_.Plan(Preemption::kFull,
                 [](const ClusterState&, const RebalancePlan*) { FAIL(); }));
}

}  // namespace
}  // namespace sluice
