// What every registered solver promises.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

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
using ::testing::IsEmpty;

FlowProblem WithSupplies(const std::vector<FlowUnits>& supplies) {
  FlowProblem problem;
  for (const FlowUnits supply : supplies) problem.AddNode(supply);
  return problem;
}

class SolverContract : public testing::TestWithParam<SolverEntry> {
 protected:
  FlowSolution Solve(const FlowProblem& problem) {
    return GetParam().make()->Solve(problem);
  }

  // The objective of a solution that is optimal and proven so.
  FlowCost Optimum(const FlowProblem& problem) {
    const FlowSolution solution = Solve(problem);
    EXPECT_EQ(solution.outcome, SolveOutcome::kOptimal) << solution.error;
    EXPECT_THAT(VerifySolution(problem, solution), IsOk());
    EXPECT_THAT(solution.error, IsEmpty());
    EXPECT_THAT(solution.witness_cut, IsEmpty());
    return solution.objective;
  }
};

TEST_P(SolverContract, SolvesNothingAtNoCost) {
  EXPECT_EQ(Optimum(FlowProblem()), 0);
  EXPECT_EQ(Optimum(WithSupplies({0, 0})), 0);
}

TEST_P(SolverContract, TakesTheCheaperWayFirst) {
  FlowProblem problem = WithSupplies({5, 0, -5});
  problem.AddArc(0, 1, 3, 1);
  problem.AddArc(1, 2, 9, 1);
  problem.AddArc(0, 2, 9, 7);
  const FlowSolution solution = Solve(problem);
  EXPECT_THAT(solution.flows, ElementsAre(3, 3, 2));
  EXPECT_EQ(Optimum(problem), 3 * 2 + 2 * 7);
}

TEST_P(SolverContract, SpreadsOverConvexArcsByMarginalCost) {
  FlowProblem problem = WithSupplies({6, -6});
  const CostSegment steep[] = {{1, 1}, {1, 4}, {1, 9}, {1, 16}};
  const CostSegment flat[] = {{2, 3}, {4, 8}};
  problem.AddConvexArc(0, 1, steep);
  problem.AddConvexArc(0, 1, flat);
  const FlowSolution solution = Solve(problem);
  EXPECT_THAT(solution.flows, ElementsAre(2, 4));
  EXPECT_EQ(Optimum(problem), 1 + 4 + 3 + 3 + 8 + 8);
}

TEST_P(SolverContract, LeavesDearSupplyWithTheUnscheduledAggregator) {
  // Two classes, two machines with room for three, dear waiting.
  FlowProblem problem = WithSupplies({3, 2, 0, 0, 0, -5});
  const CostSegment load[] = {{1, 10}, {1, 20}};
  problem.AddConvexArc(2, 5, load);
  problem.AddArc(3, 5, 1, 10);
  for (const NodeIndex from : {0, 1}) {
    problem.AddArc(from, 2, 2, 5);
    problem.AddArc(from, 3, 2, from == 0 ? 0 : 50);
    problem.AddArc(from, 4, 5, from == 0 ? 1000000 : 2000000);
  }
  problem.AddArc(4, 5, 5, 0);
  EXPECT_EQ(Optimum(problem), (5 + 10) + (5 + 20) + (0 + 10) + 2000000);
}

TEST_P(SolverContract, MeetsLowerBounds) {
  FlowProblem problem = WithSupplies({4, -4});
  problem.AddArc(0, 1, 4, 1);
  const CostSegment dear[] = {{1, 5}, {2, 6}};
  problem.AddConvexArc(0, 1, dear, 2);
  const FlowSolution solution = Solve(problem);
  EXPECT_THAT(solution.flows, ElementsAre(2, 2));
  EXPECT_EQ(Optimum(problem), 2 + 5 + 6);
}

TEST_P(SolverContract, GoesAroundNegativeCycles) {
  FlowProblem problem = WithSupplies({0, 0});
  problem.AddArc(0, 1, 4, -5);
  const CostSegment back[] = {{2, 3}, {2, 6}};
  problem.AddConvexArc(1, 0, back);
  EXPECT_EQ(Optimum(problem), 2 * (-5 + 3));
}

TEST_P(SolverContract, FillsSelfLoopsThatPay) {
  FlowProblem problem = WithSupplies({0});
  const CostSegment loop[] = {{2, -3}, {2, 4}};
  problem.AddConvexArc(0, 0, loop);
  problem.AddArc(0, 0, 7, 1, 2);
  const FlowSolution solution = Solve(problem);
  EXPECT_THAT(solution.flows, ElementsAre(2, 2));
  EXPECT_EQ(Optimum(problem), -6 + 2);
}

TEST_P(SolverContract, AllowsParallelAndClosedArcs) {
  FlowProblem problem = WithSupplies({3, -3});
  problem.AddArc(0, 1, 2, 4);
  problem.AddArc(0, 1, 2, 4);
  problem.AddArc(0, 1, 0, -9);
  problem.AddConvexArc(0, 1, {});
  EXPECT_EQ(Optimum(problem), 12);
}

TEST_P(SolverContract, CopesWithCostsOf31Bits) {
  constexpr FlowCost kCost = int64_t{1} << 31;
  FlowProblem problem = WithSupplies({1000000, 0, -1000000});
  problem.AddArc(0, 1, 1000000, kCost);
  problem.AddArc(1, 2, 999999, kCost);
  problem.AddArc(1, 2, 1, kCost + 1);
  EXPECT_EQ(Optimum(problem), 2 * kCost * 1000000 + 1);
}

TEST_P(SolverContract, NamesTheNodesWhoseSupplyCannotLeave) {
  FlowProblem problem = WithSupplies({2, 3, 0, -5});
  problem.AddArc(0, 3, 2, 1);
  problem.AddArc(1, 2, 3, 1);
  problem.AddArc(2, 3, 2, 1);
  const FlowSolution solution = Solve(problem);
  EXPECT_EQ(solution.outcome, SolveOutcome::kInfeasible);
  EXPECT_THAT(solution.witness_cut, ElementsAre(1, 2));
  EXPECT_THAT(solution.error, HasSubstr("supply"));
}

TEST_P(SolverContract, FindsSupplyWithoutAnyArcInfeasible) {
  const FlowSolution solution = Solve(WithSupplies({0, 1, -1}));
  EXPECT_EQ(solution.outcome, SolveOutcome::kInfeasible);
  EXPECT_THAT(solution.witness_cut, testing::Contains(1));
  EXPECT_THAT(solution.witness_cut, testing::Not(testing::Contains(2)));
}

TEST_P(SolverContract, FindsLowerBoundsThatCannotBeMet) {
  FlowProblem problem = WithSupplies({0, 0, 0});
  problem.AddArc(0, 1, 5, 1, 3);
  problem.AddArc(1, 2, 2, 1);
  problem.AddArc(2, 0, 5, 1);
  const FlowSolution solution = Solve(problem);
  EXPECT_EQ(solution.outcome, SolveOutcome::kInfeasible);
  EXPECT_THAT(solution.witness_cut, ElementsAre(1));
}

TEST_P(SolverContract, RefusesAnInvalidProblemByName) {
  FlowProblem problem = WithSupplies({1, -1});
  problem.AddArc(0, 7, 1, 1);
  const FlowSolution solution = Solve(problem);
  EXPECT_EQ(solution.outcome, SolveOutcome::kInvalidProblem);
  EXPECT_EQ(solution.error, "arc 0: no node 7");
}

TEST_P(SolverContract, RefusesUnbalancedSupplies) {
  EXPECT_EQ(Solve(WithSupplies({2, -1})).outcome,
            SolveOutcome::kInvalidProblem);
}

TEST_P(SolverContract, RefusesCostsBeyondItsRange) {
  FlowProblem problem = WithSupplies({1, -1});
  problem.AddArc(0, 1, 1, int64_t{1} << 62);
  const FlowSolution solution = Solve(problem);
  EXPECT_EQ(solution.outcome, SolveOutcome::kCostRange);
  EXPECT_THAT(solution.error, HasSubstr("arc 0: cost"));
}

TEST_P(SolverContract, SaysWhichAlgorithmItUsed) {
  EXPECT_FALSE(Solve(WithSupplies({0})).algorithm.empty());
}

TEST_P(SolverContract, ReportsAnObjectiveBeyond64Bits) {
  FlowProblem problem = WithSupplies({kFlowTotalMax / 4, -kFlowTotalMax / 4});
  problem.AddArc(0, 1, kFlowTotalMax / 4, int64_t{1} << 40);
  const FlowSolution solution = Solve(problem);
  EXPECT_EQ(solution.outcome, SolveOutcome::kCostRange);
  EXPECT_THAT(solution.error, HasSubstr("objective"));
}

TEST_P(SolverContract, GivesUpWhenCancelled) {
  FlowProblem problem = WithSupplies({1, -1});
  problem.AddArc(0, 1, 1, 1);
  const std::atomic<bool> cancelled = true;
  const FlowSolution solution =
      GetParam().make()->Solve(problem, {.cancelled = &cancelled});
  EXPECT_EQ(solution.outcome, SolveOutcome::kCancelled);
  EXPECT_THAT(solution.flows, IsEmpty());
}

TEST_P(SolverContract, GivesUpWhenItsBudgetIsSpent) {
  // Nothing in it is alike, so that no solver gets away with less.
  FlowProblem problem;
  for (int i = 0; i < 100; ++i) problem.AddNode(1);
  for (int i = 0; i < 100; ++i) problem.AddNode(-1);
  for (int i = 0; i < 100; ++i) {
    for (int j = 0; j < 100; ++j) problem.AddArc(i, 100 + j, 1, i * j % 101);
  }
  const FlowSolution solution =
      GetParam().make()->Solve(problem, {.work_max = 1});
  EXPECT_EQ(solution.outcome, SolveOutcome::kBudgetSpent);
  EXPECT_EQ(solution.error, "budget spent");
  EXPECT_THAT(solution.flows, IsEmpty());
}

TEST_P(SolverContract, GivesTheSameSolutionAgain) {
  // Ties everywhere: which optimum is found must not be chance.
  FlowProblem problem = WithSupplies({0, 0});
  for (int i = 0; i < 20; ++i) {
    const NodeIndex machine = problem.AddNode(0);
    problem.AddArc(0, machine, 3, 1);
    problem.AddArc(machine, 1, 2, 1);
  }
  problem.SetSupply(0, 25);
  problem.SetSupply(1, -25);
  const std::unique_ptr<Solver> solver = GetParam().make();
  const FlowSolution first = solver->Solve(problem);
  const FlowSolution again = solver->Solve(problem);
  const FlowSolution other = Solve(problem);
  EXPECT_EQ(first.objective, 50);
  EXPECT_EQ(first.flows, again.flows);
  EXPECT_EQ(first.potentials, again.potentials);
  EXPECT_EQ(first.flows, other.flows);
  EXPECT_EQ(first.potentials, other.potentials);
}

INSTANTIATE_TEST_SUITE_P(All, SolverContract,
                         testing::ValuesIn(Solvers().begin(), Solvers().end()),
                         [](const auto& instance) {
                           return std::string(instance.param.name);
                         });

}  // namespace
}  // namespace sluice
