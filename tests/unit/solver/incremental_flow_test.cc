#include "solver/incremental_flow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "sluice/flow/problem.h"
#include "sluice/solver/solver.h"
#include "solver/verify.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Two units from node 0 to node 1, over arcs of cost 1, 5 and 9.
class IncrementalFlowTest : public testing::Test {
 protected:
  IncrementalFlowTest() {
    problem_.AddNode(2);
    problem_.AddNode(-2);
    for (const FlowCost cost : {1, 5, 9}) problem_.AddArc(0, 1, 1, cost);
    problem_.StartLog();
    solution_ = flow_.Solve(problem_, {});
    problem_.StartLog();
  }

  void Resolve(const SolveLimits& limits = {}) {
    flow_.Resolve(problem_, limits, &solution_);
  }

  FlowProblem problem_;
  IncrementalFlow flow_;
  FlowSolution solution_;
};

TEST_F(IncrementalFlowTest, FollowsAChangeOfCost) {
  problem_.SetArc(0, 1, 20);
  Resolve();
  EXPECT_THAT(solution_.flows, ElementsAre(0, 1, 1));
  EXPECT_THAT(VerifySolution(problem_, solution_), IsOk());
}

TEST_F(IncrementalFlowTest, DoesNothingWhereNothingChanged) {
  Resolve();
  EXPECT_EQ(solution_.objective, 6);
  EXPECT_EQ(solution_.work.paths, 0);
  EXPECT_EQ(solution_.work.arc_scans, 0);
}

TEST_F(IncrementalFlowTest, AdoptsWhatAnotherFound) {
  IncrementalFlow other;
  other.Adopt(problem_, &solution_);
  problem_.RemoveArc(1);
  other.Resolve(problem_, {}, &solution_);
  EXPECT_THAT(solution_.flows, ElementsAre(1, 0, 1));
  EXPECT_THAT(VerifySolution(problem_, solution_), IsOk());
}

TEST_F(IncrementalFlowTest, NamesAnArcThatAChangeMadeInvalid) {
  problem_.SetArc(1, 1, 1, 2);
  Resolve();
  EXPECT_EQ(solution_.outcome, SolveOutcome::kInvalidProblem);
  EXPECT_EQ(solution_.error, "arc 1: lower bound 2 is above the capacity 1");
}

TEST_F(IncrementalFlowTest, GoesOnAfterItWasCancelled) {
  problem_.RemoveArc(0);
  const std::atomic<bool> cancelled = true;
  Resolve({.cancelled = &cancelled});
  EXPECT_EQ(solution_.outcome, SolveOutcome::kCancelled);
  EXPECT_THAT(solution_.flows, IsEmpty());
  EXPECT_FALSE(flow_.has_optimum());
  Resolve();
  EXPECT_EQ(solution_.objective, 14);
}

TEST_F(IncrementalFlowTest, BecomesFeasibleAgain) {
  problem_.RemoveArc(0);
  problem_.RemoveArc(1);
  Resolve();
  EXPECT_EQ(solution_.outcome, SolveOutcome::kInfeasible);
  problem_.StartLog();
  problem_.AddArc(0, 1, 1, 3);
  Resolve();
  EXPECT_EQ(solution_.objective, 12);
}

}  // namespace
}  // namespace sluice
