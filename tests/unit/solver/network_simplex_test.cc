// What only this solver promises; solver_contract_test.cc has the rest.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "flow/validate.h"
#include "sluice/flow/problem.h"
#include "sluice/solver/solver.h"
#include "solver/registry.h"
#include "solver/verify.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;

FlowProblem WithSupplies(const std::vector<FlowUnits>& supplies) {
  FlowProblem problem;
  for (const FlowUnits supply : supplies) problem.AddNode(supply);
  return problem;
}

// An optimum that its certificate proves.
FlowSolution Solve(const FlowProblem& problem) {
  FlowSolution solution = MakeSolver("network_simplex")->Solve(problem);
  EXPECT_THAT(VerifySolution(problem, solution), IsOk());
  return solution;
}

TEST(NetworkSimplex, CountsItsWork) {
  FlowProblem problem = WithSupplies({1, 0, -1});
  problem.AddArc(0, 1, 1, 1);
  problem.AddArc(1, 2, 1, 1);
  const SolveWork work = Solve(problem).work;
  // Each of the two real arcs enters the tree once.
  EXPECT_EQ(work.pivots, 2);
  EXPECT_GE(work.arc_scans, 2 * 2);
  EXPECT_EQ(work.phases + work.pushes + work.relabels + work.paths, 0);
}

TEST(NetworkSimplex, PassesSeveralSegmentsInOnePivot) {
  FlowProblem problem = WithSupplies({9, -9});
  const CostSegment ladder[] = {{2, 1}, {3, 2}, {3, 2}, {2, 8}};
  problem.AddConvexArc(0, 1, ladder);
  const FlowSolution solution = Solve(problem);
  EXPECT_THAT(solution.flows, ElementsAre(9));
  EXPECT_EQ(solution.work.pivots, 1);
}

TEST(NetworkSimplex, WalksALadderBackToItsLowerBound) {
  // The ladder looks better than an arc of cost 22 and serves all, until the
  // way around turns out to be free.  Its bound lies within its second segment.
  FlowProblem problem = WithSupplies({6, -6, 0});
  const CostSegment ladder[] = {{2, 1}, {2, 2}, {1, 7}, {1, 9}};
  problem.AddConvexArc(0, 1, ladder, 3);
  problem.AddArc(0, 2, 9, -22);
  problem.AddArc(2, 1, 9, 22);
  EXPECT_THAT(Solve(problem).flows, ElementsAre(3, 3, 3));
}

TEST(NetworkSimplex, RestsBetweenTwoSegments) {
  // The price of going on, 8, and that of coming back, 2, are both worse.
  FlowProblem problem = WithSupplies({4, -4});
  const CostSegment ladder[] = {{3, 2}, {3, 8}};
  problem.AddConvexArc(0, 1, ladder);
  problem.AddArc(0, 1, 4, 5);
  EXPECT_THAT(Solve(problem).flows, ElementsAre(3, 1));
}

TEST(NetworkSimplex, SaturatesArcsThatPay) {
  // A path of negative arcs that no supply asks for cannot be used; the cycle
  // of it and the arc back can, as far as the capacities go.
  FlowProblem problem = WithSupplies({0, 0, 0});
  problem.AddArc(0, 1, 1000, -5);
  problem.AddArc(1, 2, 700, -5);
  problem.AddArc(2, 0, 900, 9);
  problem.AddArc(0, 2, 100, -50);
  EXPECT_THAT(Solve(problem).flows, ElementsAre(700, 700, 800, 100));
}

TEST(NetworkSimplex, BringsBackFlowThatLooksUnbounded) {
  // Each cycle gains without end but for capacities near the limit.
  FlowProblem problem = WithSupplies({0, 0});
  constexpr FlowUnits kCapacity = kFlowTotalMax / 4;
  problem.AddArc(0, 1, kCapacity, -1);
  problem.AddArc(1, 0, kCapacity, -1);
  problem.AddArc(1, 1, kCapacity, -1);
  EXPECT_THAT(Solve(problem).flows,
              ElementsAre(kCapacity, kCapacity, kCapacity));
}

TEST(NetworkSimplex, KeepsArtificialFlowUntilItIsReplaced) {
  // Node 3's demand is pledged to node 2 before anything arrives at node 3.
  FlowProblem problem = WithSupplies({0, 2, -2, -2, 2});
  const CostSegment dear[] = {{2, 18}, {2, 42}};
  const CostSegment ladder[] = {{2, -21}, {2, 27}};
  problem.AddConvexArc(1, 4, dear);
  problem.AddConvexArc(4, 3, ladder);
  problem.AddArc(0, 3, 0, 0);
  problem.AddArc(3, 2, 2, -36);
  problem.AddArc(1, 4, 0, 0);
  problem.AddArc(1, 4, 2, -2);
  EXPECT_THAT(Solve(problem).flows, ElementsAre(0, 4, 0, 2, 0, 2));
}

TEST(NetworkSimplex, EndsOnDegenerateTies) {
  // An assignment of equal costs: nearly every pivot moves nothing.
  constexpr int kSize = 40;
  FlowProblem problem;
  for (int i = 0; i < kSize; ++i) problem.AddNode(1);
  for (int i = 0; i < kSize; ++i) problem.AddNode(-1);
  for (int i = 0; i < kSize; ++i) {
    for (int k = 0; k < kSize; ++k) {
      problem.AddArc(i, kSize + k, 1, (i + k) % 2 == 0 ? 1 : 2);
    }
  }
  EXPECT_EQ(Solve(problem).objective, kSize);
}

TEST(NetworkSimplex, DoesNotTakeForFreeWhatSupplyCannotExceed) {
  // Capacities at or above the supply are ignored within; nodes 1 and 2 get
  // more than their own supply, so that theirs must not be.
  FlowProblem problem = WithSupplies({3, 1, 0, -4});
  problem.AddArc(0, 1, 3, 1);
  problem.AddArc(0, 2, 3, 5);
  problem.AddArc(1, 3, 2, 1);
  problem.AddArc(2, 3, 9, 1);
  problem.AddArc(1, 2, 1, 1);
  EXPECT_THAT(Solve(problem).flows, ElementsAre(2, 1, 2, 2, 1));
}

TEST(NetworkSimplex, StaysExactAtTheLargestCosts) {
  // Potentials beyond what cost scaling can hold.
  constexpr int kLength = 39;
  constexpr FlowCost kCost = kScaledCostMax / (kLength + 2);
  FlowProblem problem;
  problem.AddNode(1);
  for (int i = 1; i < kLength; ++i) problem.AddNode(0);
  problem.AddNode(-1);
  for (int i = 0; i < kLength; ++i) problem.AddArc(i, i + 1, 1, kCost);
  EXPECT_EQ(Solve(problem).objective, kLength * kCost);
}

TEST(NetworkSimplex, StaysExactWhereLargeCostsCancel) {
  // Costs of either sign at the limit, so that prices wander far.
  int optimal_count = 0;
  for (uint64_t seed = 0; seed < 50 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    constexpr NodeIndex kNodes = 30;
    constexpr FlowCost kCost = kScaledCostMax / (kNodes + 1);
    FlowProblem problem = WithSupplies(std::vector<FlowUnits>(kNodes));
    for (int i = 0; i < 200; ++i) {
      const auto tail = static_cast<NodeIndex>(rng.Below(kNodes));
      const auto head = static_cast<NodeIndex>(rng.Below(kNodes));
      const FlowCost cost = rng.Chance(1, 2) ? kCost : rng.Between(0, kCost);
      problem.AddArc(tail, head, rng.Between(0, 1),
                     rng.Chance(1, 2) ? cost : -cost);
    }
    const FlowSolution solution = MakeSolver("network_simplex")->Solve(problem);
    if (solution.outcome == SolveOutcome::kCostRange) continue;
    ++optimal_count;
    EXPECT_THAT(VerifySolution(problem, solution), IsOk());
  }
  EXPECT_GT(optimal_count, 10);
}

TEST(NetworkSimplex, LooksAtTheLimitsWhileItPivots) {
  constexpr int kSize = 60;
  FlowProblem problem;
  for (int i = 0; i < kSize; ++i) problem.AddNode(1);
  for (int i = 0; i < kSize; ++i) problem.AddNode(-1);
  for (int i = 0; i < kSize * kSize; ++i) {
    problem.AddArc(i % kSize, kSize + i / kSize, 1, (i * 37) % 101);
  }
  constexpr int64_t kWorkMax = 10000;
  const FlowSolution solution =
      MakeSolver("network_simplex")->Solve(problem, {.work_max = kWorkMax});
  EXPECT_EQ(solution.outcome, SolveOutcome::kBudgetSpent);
  EXPECT_GE(solution.work.arc_scans, kWorkMax);
  EXPECT_LT(solution.work.arc_scans, 2 * kWorkMax);
}

}  // namespace
}  // namespace sluice
