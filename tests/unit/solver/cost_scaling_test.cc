// What only this solver promises; solver_contract_test.cc has the rest.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "flow/validate.h"
#include "sluice/flow/problem.h"
#include "sluice/solver/solver.h"
#include "solver/registry.h"
#include "solver/verify.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// One unit over `length` arcs, each of cost `cost`.
FlowProblem Chain(int length, FlowCost cost) {
  FlowProblem problem;
  problem.AddNode(1);
  for (int i = 1; i < length; ++i) problem.AddNode(0);
  problem.AddNode(-1);
  for (int i = 0; i < length; ++i) problem.AddArc(i, i + 1, 1, cost);
  return problem;
}

TEST(CostScaling, CountsItsWork) {
  const FlowSolution solution =
      MakeSolver("cost_scaling")->Solve(Chain(5, 1000));
  EXPECT_GT(solution.work.phases, 1);
  EXPECT_GE(solution.work.pushes, 5);
  EXPECT_GT(solution.work.arc_scans, 10);
}

TEST(CostScaling, FindsThePotentialsOfALongChain) {
  const FlowProblem problem = Chain(1000, 1000000);
  const FlowSolution solution = MakeSolver("cost_scaling")->Solve(problem);
  EXPECT_THAT(VerifySolution(problem, solution), IsOk());
  EXPECT_EQ(solution.objective, 1000 * 1000000LL);
}

TEST(CostScaling, ReportsPotentialsBeyondItsRange) {
  // Each cost is within the limit, but the path adds up 39 of them.
  const FlowSolution solution =
      MakeSolver("cost_scaling")->Solve(Chain(39, kScaledCostMax / 41));
  EXPECT_EQ(solution.outcome, SolveOutcome::kCostRange);
  EXPECT_THAT(solution.error, HasSubstr("potentials"));
}

TEST(CostScaling, StaysExactWhereAllCostsAreZero) {
  FlowProblem problem;
  problem.AddNode(2);
  problem.AddNode(-2);
  problem.AddArc(0, 1, 3, 0);
  const FlowSolution solution = MakeSolver("cost_scaling")->Solve(problem);
  EXPECT_THAT(VerifySolution(problem, solution), IsOk());
  EXPECT_THAT(solution.flows, ElementsAre(2));
}

TEST(CostScaling, DoesNotPourIntoADeadEnd) {
  // Node 2 is cheap to enter and has no way on.
  FlowProblem problem;
  problem.AddNode(5);
  problem.AddNode(-5);
  problem.AddNode(0);
  problem.AddArc(0, 2, 5, -100);
  problem.AddArc(0, 1, 5, 100);
  const FlowSolution solution = MakeSolver("cost_scaling")->Solve(problem);
  EXPECT_THAT(VerifySolution(problem, solution), IsOk());
  EXPECT_THAT(solution.flows, ElementsAre(0, 5));
}

}  // namespace
}  // namespace sluice
