#include "round/round_solver.h"

#include <gtest/gtest.h>

#include <memory>
#include <variant>

#include "solver/registry.h"

namespace sluice {
namespace {

// Claims twice the cost of what it finds.
class WrongSolver : public Solver {
 public:
  std::string_view name() const override { return "wrong"; }
  FlowSolution Solve(const FlowProblem& problem,
                     const SolveLimits& limits) override {
    FlowSolution solution = solver_->Solve(problem, limits);
    solution.objective *= 2;
    return solution;
  }

 private:
  std::unique_ptr<Solver> solver_ = MakeSolver("automatic");
};

// One unit from node 0 to node 1, at cost 3.
FlowProblem OneUnit() {
  FlowProblem problem;
  problem.AddNode(1);
  problem.AddNode(-1);
  problem.AddArc(0, 1, 1, 3);
  return problem;
}

// Three tasks of size 2, which cost 10 each to leave waiting and 7 to place; a
// machine has room for two.
PackingWork ThreeTasks() {
  PackingWork work;
  work.effort.work_max = 1000;
  work.problem.classes.push_back({{2}, {{3, 10}}});
  work.problem.groups.push_back({{5}, 1, 0});
  work.problem.costs = {{7}};
  return work;
}

TEST(RoundSolver, SolvesFlowsAndChecksThem) {
  const std::unique_ptr<Solver> solver = MakeSolver("automatic");
  RoundSolver round_solver(*solver);
  const auto [answer, certificate] = round_solver.Solve(OneUnit());
  EXPECT_EQ(std::get<FlowSolution>(answer).objective, 3);
  EXPECT_TRUE(certificate.ok()) << certificate;
}

TEST(RoundSolver, DoesNotBelieveASolver) {
  WrongSolver solver;
  RoundSolver round_solver(solver);
  EXPECT_FALSE(round_solver.Solve(OneUnit()).certificate.ok());
}

TEST(RoundSolver, Packs) {
  const std::unique_ptr<Solver> solver = MakeSolver("automatic");
  const auto [answer, certificate] = RoundSolver(*solver).Solve(ThreeTasks());
  const auto& packing = std::get<PackingSolution>(answer);
  EXPECT_EQ(packing.cost, (PackingCost{10, 14}));
  EXPECT_EQ(packing.bound, packing.cost);
  ASSERT_EQ(packing.patterns.size(), 1u);
}

TEST(RoundSolver, ProvesOnlyABoundWhereThatIsAsked) {
  const std::unique_ptr<Solver> solver = MakeSolver("automatic");
  PackingWork work = ThreeTasks();
  work.waiting_cost = 20;
  const auto [answer, certificate] = RoundSolver(*solver).Solve(work);
  const auto& packing = std::get<PackingSolution>(answer);
  EXPECT_EQ(packing.bound, (PackingCost{10, 7}));
  EXPECT_TRUE(packing.patterns.empty());
}

TEST(RoundSolver, HasNothingToSayToAPause) {
  const std::unique_ptr<Solver> solver = MakeSolver("automatic");
  const auto [answer, certificate] = RoundSolver(*solver).Solve(Pause());
  EXPECT_TRUE(std::holds_alternative<Pause>(answer));
  EXPECT_TRUE(certificate.ok());
}

}  // namespace
}  // namespace sluice
