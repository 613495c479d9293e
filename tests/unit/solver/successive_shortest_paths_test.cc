// What only this solver promises; solver_contract_test.cc has the rest.

#include <gtest/gtest.h>

#include <memory>

#include "sluice/flow/problem.h"
#include "sluice/solver/solver.h"
#include "solver/registry.h"

namespace sluice {
namespace {

TEST(SuccessiveShortestPaths, SolvesAgainAlongThePathsThatChanged) {
  FlowProblem problem;
  problem.AddNode(3);
  problem.AddNode(-3);
  for (int i = 0; i < 5; ++i) problem.AddArc(0, 1, 1, i);
  const std::unique_ptr<Solver> solver =
      MakeSolver("successive_shortest_paths");
  problem.StartLog();
  FlowSolution solution = solver->Solve(problem);
  EXPECT_EQ(solution.work.paths, 3);
  problem.StartLog();
  problem.SetArc(2, 0, 0);
  solver->Resolve(problem, {}, &solution);
  EXPECT_EQ(solution.work.paths, 1);
  EXPECT_EQ(solution.objective, 0 + 1 + 3);
}

}  // namespace
}  // namespace sluice
