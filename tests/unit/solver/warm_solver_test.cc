#include "solver/warm_solver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "base/rng.h"
#include "oracle/random_problem.h"
#include "solver/all_or_none.h"
#include "solver/registry.h"
#include "solver/verify.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;

struct Source {
  uint64_t name = 0;
  FlowUnits supply = 0;
};

// Sources, each with an arc to each of `steps.size()` machines, on which one
// unit more is one step dearer, and a dear way to wait.
FlowProblem Draw(const std::vector<Source>& sources,
                 const std::vector<FlowCost>& steps) {
  FlowProblem problem;
  const NodeIndex sink = problem.AddNode(0);
  FlowUnits supply = 0;
  std::vector<NodeIndex> machines;
  for (const FlowCost step : steps) {
    machines.push_back(problem.AddNode(0));
    std::vector<CostSegment> ladder;
    for (FlowCost k = 0; k < 8; ++k) ladder.push_back({1, k * step});
    problem.AddConvexArc(machines.back(), sink, ladder);
  }
  for (const Source& source : sources) {
    const NodeIndex node = problem.AddNode(source.supply);
    problem.SetName(node, source.name);
    supply += source.supply;
    problem.AddArc(node, sink, source.supply, 1000);
    for (const NodeIndex machine : machines) {
      const auto distance = static_cast<FlowCost>(
          (source.name + static_cast<uint64_t>(machine)) % 7);
      problem.AddArc(node, machine, source.supply, distance);
    }
  }
  problem.SetSupply(sink, -supply);
  return problem;
}

class WarmSolverTest : public testing::Test {
 protected:
  // Checks that the solution is as good as from scratch.
  FlowSolution Solve(const FlowProblem& problem) {
    FlowSolution solution = solver_.Solve(problem);
    const FlowSolution scratch =
        SolveWithAllOrNone(problem, *MakeSolver("network_simplex"));
    EXPECT_EQ(solution.outcome, scratch.outcome) << solution.error;
    EXPECT_EQ(solution.objective, scratch.objective);
    EXPECT_EQ(solution.error, scratch.error);
    if (solution.outcome == SolveOutcome::kOptimal) {
      EXPECT_THAT(VerifyWithAllOrNone(problem, solution), IsOk());
    }
    return solution;
  }

  std::unique_ptr<Solver> automatic_ = MakeSolver("automatic");
  WarmSolver solver_{*automatic_};
};

TEST_F(WarmSolverTest, SolvesTheFirstFromScratch) {
  EXPECT_FALSE(Solve(Draw({{1, 5}, {2, 3}}, {1, 2, 3})).is_warm);
}

TEST_F(WarmSolverTest, BeginsAtThePricesOfTheLast) {
  const FlowSolution first = Solve(Draw({{1, 5}, {2, 3}}, {1, 2, 3}));
  const FlowSolution again = Solve(Draw({{1, 5}, {2, 3}}, {1, 2, 3}));
  EXPECT_TRUE(again.is_warm);
  EXPECT_LT(again.work.arc_scans, first.work.arc_scans);
}

// Machines have no names: they are others in each pass.
TEST_F(WarmSolverTest, GoesOnWithOtherAmountsAndOtherMachines) {
  Solve(Draw({{1, 5}, {2, 3}, {3, 9}}, {1, 2, 3}));
  EXPECT_TRUE(Solve(Draw({{3, 2}, {1, 9}}, {1, 2, 3})).is_warm);
  EXPECT_TRUE(Solve(Draw({{2, 4}, {3, 1}, {1, 1}}, {3, 1, 9, 4})).is_warm);
}

TEST_F(WarmSolverTest, BeginsWhereMostSourcesAreKnown) {
  Solve(Draw({{1, 1}, {2, 1}, {3, 1}}, {1, 2}));
  EXPECT_FALSE(Solve(Draw({{1, 1}, {2, 1}, {4, 1}}, {1, 2})).is_warm);
  EXPECT_TRUE(Solve(Draw({{1, 1}, {2, 1}, {4, 1}, {5, 1}}, {1, 2})).is_warm);
}

TEST_F(WarmSolverTest, TakesNoNameForNone) {
  Solve(Draw({{0, 5}}, {1, 2}));
  EXPECT_FALSE(Solve(Draw({{0, 5}}, {1, 2})).is_warm);
}

TEST_F(WarmSolverTest, ToleratesSourcesOfOneName) {
  Solve(Draw({{1, 5}, {1, 3}}, {1, 2}));
  EXPECT_TRUE(Solve(Draw({{1, 2}, {1, 8}}, {2, 1})).is_warm);
}

TEST_F(WarmSolverTest, DecidesOnAllOrNoneArcsFromPricesToo) {
  FlowProblem problem;
  for (const FlowUnits supply : {4, -4}) problem.AddNode(supply);
  problem.SetName(0, 7);
  problem.SetAllOrNone(problem.AddArc(0, 1, 3, 1), true);
  problem.SetAllOrNone(problem.AddArc(0, 1, 2, 5), true);
  problem.SetAllOrNone(problem.AddArc(0, 1, 2, 5), true);
  problem.AddArc(0, 1, 4, 100);
  for (const bool is_known : {false, true, true}) {
    const FlowSolution solution = Solve(problem);
    EXPECT_THAT(solution.flows, ElementsAre(0, 2, 2, 0));
    EXPECT_EQ(solution.is_warm, is_known);
  }
}

TEST_F(WarmSolverTest, SaysWhatIsWrongAsFromScratch) {
  Solve(Draw({{1, 5}}, {1, 2}));
  Solve(FlowProblem());
  FlowProblem invalid = Draw({{1, 5}}, {1, 2});
  invalid.AddArc(0, 1000, 1, 1);
  EXPECT_EQ(Solve(invalid).outcome, SolveOutcome::kInvalidProblem);
  FlowProblem infeasible = Draw({{1, 5}}, {});
  infeasible.SetArc(0, 1, 1);
  EXPECT_EQ(Solve(infeasible).outcome, SolveOutcome::kInfeasible);
  EXPECT_TRUE(Solve(Draw({{1, 5}}, {1, 2})).is_warm);
}

TEST_F(WarmSolverTest, SolvesLargeProblemsFromScratch) {
  std::vector<Source> sources;
  for (uint64_t name = 1; name <= 100; ++name) sources.push_back({name, 1});
  const FlowProblem problem = Draw(sources, std::vector<FlowCost>(50, 1));
  Solve(problem);
  EXPECT_FALSE(Solve(problem).is_warm);
}

// So that a daemon that sees ever new classes does not grow.
TEST_F(WarmSolverTest, ForgetsWhenItKnowsTooMuch) {
  Solve(Draw({{1, 1}}, {1}));
  std::vector<Source> sources;
  for (uint64_t name = 2; name < 50002; ++name) sources.push_back({name, 1});
  const FlowProblem some = Draw(sources, {});
  for (Source& source : sources) source.name += 50000;
  const FlowProblem others = Draw(sources, {});
  for (Source& source : sources) source.name += 50000;
  for (const FlowProblem& problem : {some, others, Draw(sources, {})}) {
    EXPECT_EQ(solver_.Solve(problem).outcome, SolveOutcome::kOptimal);
  }
  EXPECT_FALSE(Solve(Draw({{1, 1}}, {1})).is_warm);
}

// Networks of other classes, machines, costs and amounts each time, under names
// that say little, some with gangs.
TEST(WarmSolverProperty, IsAsGoodAsFromScratch) {
  int warm_count = 0;
  for (uint64_t seed = 0; seed < 200 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const std::unique_ptr<Solver> automatic = MakeSolver("automatic");
    WarmSolver solver(*automatic);
    for (int step = 0; step < 20; ++step) {
      SCOPED_TRACE(step);
      FlowProblem problem =
          rng.Chance(3, 4)
              ? MakeRandomCluster(static_cast<int>(rng.Between(1, 8)),
                                  static_cast<int>(rng.Between(1, 20)), 30,
                                  &rng)
              : MakeRandomProblem({.node_count_max = 12, .arc_count_max = 40},
                                  &rng);
      for (NodeIndex node = 0; node < problem.node_count(); ++node) {
        problem.SetName(node, static_cast<uint64_t>(rng.Between(0, 9)));
      }
      const int64_t marks = problem.arc_count() > 0 ? rng.Between(-3, 3) : 0;
      for (int64_t i = 0; i < marks; ++i) {
        const auto arc =
            static_cast<ArcIndex>(rng.Between(0, problem.arc_count() - 1));
        if (problem.arc(arc).lower == 0) problem.SetAllOrNone(arc, true);
      }
      const FlowSolution solution = solver.Solve(problem);
      const FlowSolution scratch =
          SolveWithAllOrNone(problem, *MakeSolver("network_simplex"));
      ASSERT_EQ(solution.outcome, scratch.outcome) << solution.error;
      if (solution.outcome != SolveOutcome::kOptimal) continue;
      ASSERT_EQ(solution.objective, scratch.objective);
      ASSERT_THAT(VerifyWithAllOrNone(problem, solution), IsOk());
      if (solution.is_warm) ++warm_count;
    }
  }
  EXPECT_GT(warm_count, 1000);
}

}  // namespace
}  // namespace sluice
