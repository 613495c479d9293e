#include "cli/solve/solve_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "solver/registry.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::HasSubstr;

// Four units over an arc of cost 2 and capacity 9.
FlowProblem Sample() {
  FlowProblem problem;
  problem.AddNode(4);
  problem.AddNode(-4);
  problem.AddArc(0, 1, 9, 2);
  return problem;
}

std::unique_ptr<SolveSession> Session(const FlowProblem& problem,
                                      std::string_view algorithm = kAutomatic) {
  return MakeSolveSession(problem, {.algorithm = std::string(algorithm)});
}

TEST(SolveSession, IsChosenByWhatTheProblemHas) {
  FlowProblem problem = Sample();
  EXPECT_EQ(Session(problem)->name(), kAutomatic);
  for (const SolverEntry& entry : Solvers()) {
    EXPECT_EQ(Session(problem, entry.name)->name(), entry.name);
  }
  problem.SetAllOrNone(0, true);
  EXPECT_EQ(Session(problem, "cost_scaling")->name(),
            "all_or_none(cost_scaling)");
  problem.SetGain(0, {1, 2});
  EXPECT_EQ(Session(problem)->name(), "all_or_none(generalized_simplex)");
  problem.SetAllOrNone(0, false);
  EXPECT_EQ(Session(problem)->name(), "generalized_simplex");
}

TEST(SolveSession, SolvesAndSolvesAgain) {
  for (const SolverEntry& entry : Solvers()) {
    FlowProblem problem = Sample();
    const std::unique_ptr<SolveSession> session = Session(problem, entry.name);
    session->Solve(problem);
    EXPECT_EQ(session->result().outcome, SolveOutcome::kOptimal);
    EXPECT_EQ(session->result().objective, "8");
    EXPECT_NE(session->result().found_by, "");
    EXPECT_FALSE(session->result().search.has_value());
    EXPECT_THAT(session->Verify(problem), IsOk());

    problem.StartLog();
    problem.SetArc(0, 9, -3);
    // The proof is of the problem as it was.
    EXPECT_FALSE(session->Verify(problem).ok());
    session->Resolve(problem);
    EXPECT_EQ(session->result().objective, "-12");
    EXPECT_THAT(session->Verify(problem), IsOk());
  }
}

TEST(SolveSession, SaysWhyThereIsNoOptimum) {
  FlowProblem problem = Sample();
  problem.SetArc(0, 3, 2);
  const std::unique_ptr<SolveSession> session = Session(problem);
  session->Solve(problem);
  SolveResult result = session->result();
  EXPECT_EQ(result.outcome, SolveOutcome::kInfeasible);
  EXPECT_EQ(result.objective, "");
  EXPECT_EQ(result.witness_cut_size, 1);
  EXPECT_THAT(result.error, HasSubstr("supply"));

  problem.SetSupply(0, 3);
  session->Solve(problem);
  result = session->result();
  EXPECT_EQ(result.outcome, SolveOutcome::kInvalidProblem);
  EXPECT_EQ(result.error, "supplies add up to -1 and not to zero");
}

TEST(SolveSession, SolvesWithGains) {
  FlowProblem problem = Sample();
  problem.SetSupply(1, -2);
  problem.SetGain(0, {1, 2});
  const std::unique_ptr<SolveSession> session = Session(problem);
  session->Solve(problem);
  EXPECT_EQ(session->result().outcome, SolveOutcome::kOptimal);
  EXPECT_NEAR(std::stod(session->result().objective), 8, 1e-6);
  EXPECT_THAT(session->Verify(problem), IsOk());
  problem.SetArc(0, 9, 3);
  EXPECT_FALSE(session->Verify(problem).ok());
  session->Resolve(problem);
  EXPECT_NEAR(std::stod(session->result().objective), 12, 1e-6);
  problem.SetArc(0, 3, 2);
  session->Resolve(problem);
  EXPECT_EQ(session->result().outcome, SolveOutcome::kInfeasible);
  EXPECT_EQ(session->result().objective, "");
}

TEST(SolveSession, SearchesWhereArcsAreAllOrNone) {
  for (const bool has_gain : {false, true}) {
    FlowProblem problem = Sample();
    problem.SetAllOrNone(problem.AddArc(0, 1, 5, 1), true);
    // A gain that no flow passes.
    if (has_gain) problem.SetGain(problem.AddArc(1, 0, 1, 9), {1, 2});
    const std::unique_ptr<SolveSession> session = Session(problem);
    session->Solve(problem);
    const SolveResult result = session->result();
    EXPECT_EQ(result.outcome, SolveOutcome::kOptimal) << result.error;
    EXPECT_EQ(std::stod(result.objective), 8);
    ASSERT_TRUE(result.search.has_value());
    EXPECT_GE(result.search->node_count, 1);
    EXPECT_EQ(std::stod(result.search->best_objective), 8);
    EXPECT_EQ(std::stod(result.search->bound), 8);
    EXPECT_EQ(std::stod(result.search->gap), 0);
    EXPECT_THAT(session->Verify(problem), IsOk());
    problem.SetArc(1, 4, 1);
    session->Resolve(problem);
    EXPECT_EQ(std::stod(session->result().objective), 4);
    EXPECT_THAT(session->Verify(problem), IsOk());
  }
}

TEST(SolveSession, KeepsWhatASearchFoundWithinItsBudget) {
  FlowProblem problem = Sample();
  problem.SetAllOrNone(problem.AddArc(0, 1, 5, 1), true);
  const std::unique_ptr<SolveSession> session =
      MakeSolveSession(problem, {.search_nodes_max = 1});
  session->Solve(problem);
  const SolveResult result = session->result();
  EXPECT_EQ(result.outcome, SolveOutcome::kBudgetSpent);
  EXPECT_EQ(result.objective, "");
  ASSERT_TRUE(result.search.has_value());
  EXPECT_EQ(result.search->node_count, 1);
  // No flow yet, but the relaxation says what none can be below.
  EXPECT_EQ(result.search->best_objective, "");
  EXPECT_EQ(result.search->bound, "4");
}

}  // namespace
}  // namespace sluice
