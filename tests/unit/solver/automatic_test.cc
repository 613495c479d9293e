// What the automatic solver adds to the algorithms behind it.  That it solves
// and resolves is in the suites over all solvers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "base/rng.h"
#include "flow/validate.h"
#include "oracle/random_problem.h"
#include "solver/registry.h"
#include "solver/verify.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

FlowProblem Cluster(int task_max) {
  Rng rng(1);
  return MakeRandomCluster(30, 300, task_max, &rng);
}

// Moves `units` of supply from the first source that has them to the next.
void MoveUnits(FlowProblem* problem, FlowUnits units) {
  NodeIndex from = 0;
  while (problem->supply(from) < units) ++from;
  NodeIndex to = from + 1;
  while (problem->supply(to) <= 0) ++to;
  problem->SetSupply(from, problem->supply(from) - units);
  problem->SetSupply(to, problem->supply(to) + units);
}

// Gives each plain arc another cost.
void SetRandomCosts(FlowProblem* problem) {
  Rng rng(2);
  for (ArcIndex arc = 0; arc < problem->arc_count(); ++arc) {
    if (!problem->arc(arc).is_plain()) continue;
    problem->SetArc(arc, problem->arc(arc).capacity(), rng.Between(0, 100000));
  }
}

TEST(Automatic, SaysWhichAlgorithmItChose) {
  const FlowSolution solution = MakeSolver("automatic")->Solve(Cluster(20), {});
  EXPECT_NE(solution.algorithm, "automatic");
  EXPECT_NE(MakeSolver(solution.algorithm), nullptr);
}

// Cost scaling multiplies costs by the number of nodes, and has no room left.
TEST(Automatic, SolvesWhatIsTooDearForCostScaling) {
  constexpr int kLength = 39;
  FlowProblem problem;
  problem.AddNode(1);
  for (NodeIndex node = 0; node < kLength; ++node) {
    problem.AddArc(node, problem.AddNode(0), 1, kScaledCostMax / 41);
  }
  problem.SetSupply(kLength, -1);
  const FlowSolution solution = MakeSolver("automatic")->Solve(problem, {});
  EXPECT_EQ(solution.outcome, SolveOutcome::kOptimal);
  EXPECT_EQ(solution.objective, kLength * (kScaledCostMax / 41));
}

TEST(Automatic, RepairsTheOptimumWhereLittleChanged) {
  FlowProblem problem = Cluster(20);
  problem.StartLog();
  const std::unique_ptr<Solver> solver = MakeSolver("automatic");
  FlowSolution solution = solver->Solve(problem);
  ASSERT_EQ(solution.outcome, SolveOutcome::kOptimal);
  const int64_t scratch_scans = solution.work.arc_scans;
  problem.StartLog();
  MoveUnits(&problem, 1);
  solver->Resolve(problem, {}, &solution);
  EXPECT_EQ(solution.algorithm, "successive_shortest_paths");
  EXPECT_THAT(VerifySolution(problem, solution), IsOk());
  EXPECT_LT(solution.work.arc_scans, scratch_scans / 2);
}

TEST(Automatic, SolvesAnewWithoutALog) {
  FlowProblem problem = Cluster(20);
  const std::unique_ptr<Solver> solver = MakeSolver("automatic");
  FlowSolution solution = solver->Solve(problem);
  MoveUnits(&problem, 1);
  solver->Resolve(problem, {}, &solution);
  EXPECT_NE(solution.algorithm, "successive_shortest_paths");
  EXPECT_THAT(VerifySolution(problem, solution), IsOk());
}

// The optimum of one problem is nothing to repair another with.
TEST(Automatic, ForgetsTheProblemBefore) {
  FlowProblem former = Cluster(20);
  former.StartLog();
  const std::unique_ptr<Solver> solver = MakeSolver("automatic");
  ASSERT_EQ(solver->Solve(former).outcome, SolveOutcome::kOptimal);
  FlowProblem problem = Cluster(20);
  SetRandomCosts(&problem);
  FlowSolution solution = solver->Solve(problem);
  problem.StartLog();
  MoveUnits(&problem, 1);
  solver->Resolve(problem, {}, &solution);
  EXPECT_NE(solution.algorithm, "successive_shortest_paths");
  EXPECT_THAT(VerifySolution(problem, solution), IsOk());
}

// Every cost is another: nothing of the old optimum is worth keeping.
TEST(Automatic, SolvesAnewWhereARepairIsTooMuchWork) {
  FlowProblem problem = Cluster(400);
  problem.StartLog();
  const std::unique_ptr<Solver> solver = MakeSolver("automatic");
  FlowSolution solution = solver->Solve(problem);
  problem.StartLog();
  SetRandomCosts(&problem);
  solver->Resolve(problem, {}, &solution);
  EXPECT_NE(solution.algorithm, "successive_shortest_paths");
  EXPECT_THAT(VerifySolution(problem, solution), IsOk());
  problem.StartLog();
  MoveUnits(&problem, 1);
  solver->Resolve(problem, {}, &solution);
  EXPECT_EQ(solution.algorithm, "successive_shortest_paths");
  EXPECT_THAT(VerifySolution(problem, solution), IsOk());
}

TEST(Automatic, KeepsToTheBudgetOfItsCaller) {
  FlowProblem problem = Cluster(60);
  problem.StartLog();
  const std::unique_ptr<Solver> solver = MakeSolver("automatic");
  FlowSolution solution = solver->Solve(problem);
  problem.StartLog();
  MoveUnits(&problem, 20);
  solver->Resolve(problem, {.work_max = 1}, &solution);
  EXPECT_EQ(solution.outcome, SolveOutcome::kBudgetSpent);
  problem.StartLog();
  MoveUnits(&problem, 1);
  solver->Resolve(problem, {}, &solution);
  EXPECT_THAT(VerifySolution(problem, solution), IsOk());
}

TEST(Automatic, GoesOnFromAStart) {
  const FlowProblem problem = Cluster(20);
  const std::unique_ptr<Solver> solver = MakeSolver("automatic");
  FlowSolution solution = solver->Solve(problem);
  const FlowCost optimum = solution.objective;
  EXPECT_FALSE(solution.is_warm);
  solver->SolveFrom(problem, {}, &solution);
  EXPECT_EQ(solution.outcome, SolveOutcome::kOptimal);
  EXPECT_EQ(solution.objective, optimum);
  EXPECT_TRUE(solution.is_warm);
  EXPECT_EQ(solution.work.paths, 0);
}

TEST(Automatic, KeepsToTheBudgetOfItsCallerFromAStart) {
  const FlowProblem problem = Cluster(60);
  const std::unique_ptr<Solver> solver = MakeSolver("automatic");
  FlowSolution solution;
  solver->SolveFrom(problem, {.work_max = 1}, &solution);
  EXPECT_EQ(solution.outcome, SolveOutcome::kBudgetSpent);
  EXPECT_FALSE(solution.is_warm);
  const std::atomic<bool> cancelled = true;
  solver->SolveFrom(problem, {.cancelled = &cancelled}, &solution);
  EXPECT_EQ(solution.outcome, SolveOutcome::kCancelled);
  EXPECT_FALSE(solution.is_warm);
  solver->SolveFrom(problem, {}, &solution);
  EXPECT_THAT(VerifySolution(problem, solution), IsOk());
}

TEST(Automatic, SolvesAnewWhereAStartIsTooMuchWork) {
  const FlowProblem problem = Cluster(2000);
  const std::unique_ptr<Solver> solver = MakeSolver("automatic");
  FlowSolution solution;
  solver->SolveFrom(problem, {}, &solution);
  EXPECT_FALSE(solution.is_warm);
  EXPECT_NE(solution.algorithm, "successive_shortest_paths");
  EXPECT_THAT(VerifySolution(problem, solution), IsOk());
}

}  // namespace
}  // namespace sluice
