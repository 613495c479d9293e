#include "solver/grouped_problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "base/rng.h"
#include "oracle/random_problem.h"
#include "oracle/witness_cut.h"
#include "solver/registry.h"
#include "solver/verify.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

FlowSolution SolveGrouped(const GroupedProblem& grouped) {
  return grouped.Expand(
      MakeSolver("cost_scaling")->Solve(grouped.problem(), {}));
}

TEST(GroupedProblem, IsNotWorthwhileWhereNothingIsAlike) {
  FlowProblem problem;
  EXPECT_FALSE(GroupedProblem(problem).is_worthwhile());
  problem.AddNode(1);
  problem.AddNode(-1);
  problem.AddArc(0, 1, 1, 1);
  EXPECT_FALSE(GroupedProblem(problem).is_worthwhile());
}

TEST(GroupedProblem, DrawsParallelArcsAsOneConvexArc) {
  FlowProblem problem;
  problem.AddNode(4);
  problem.AddNode(-4);
  problem.AddArc(0, 1, 2, 7);
  problem.AddArc(1, 0, 2, 7);  // The other way: not parallel.
  problem.AddArc(0, 1, 1, 3);
  problem.AddArc(0, 1, 9, 8);
  const GroupedProblem grouped(problem);
  ASSERT_TRUE(grouped.is_worthwhile());
  ASSERT_EQ(grouped.problem().arc_count(), 2);
  EXPECT_THAT(
      grouped.problem().segments(1),  // In the order of the cheapest.
      ElementsAre(CostSegment{1, 3}, CostSegment{2, 7}, CostSegment{9, 8}));
  const FlowSolution solution = SolveGrouped(grouped);
  EXPECT_THAT(solution.flows, ElementsAre(2, 0, 1, 1));
  EXPECT_THAT(VerifySolution(problem, solution), IsOk());
}

TEST(GroupedProblem, KeepsParallelArcsApartThatMustCarrySomething) {
  FlowProblem problem;
  problem.AddNode(3);
  problem.AddNode(-3);
  problem.AddArc(0, 1, 2, 7, /*lower=*/1);
  problem.AddArc(0, 1, 2, 3);
  EXPECT_FALSE(GroupedProblem(problem).is_worthwhile());
}

TEST(GroupedProblem, DrawsSourcesWithEqualArcsAsOne) {
  FlowProblem problem;
  const NodeIndex sink = problem.AddNode(-6);
  const NodeIndex machine = problem.AddNode(0);
  problem.AddArc(machine, sink, 4, 0);
  for (const FlowUnits supply : {1, 2, 3}) {
    const NodeIndex source = problem.AddNode(supply);
    // In either order.
    if (supply == 2) problem.AddArc(source, sink, 5, 9);
    problem.AddArc(source, machine, 3, 1);
    if (supply != 2) problem.AddArc(source, sink, 5, 9);
  }
  const GroupedProblem grouped(problem);
  ASSERT_TRUE(grouped.is_worthwhile());
  EXPECT_EQ(grouped.problem().node_count(), 3);
  EXPECT_EQ(grouped.problem().supply(2), 6);
  EXPECT_EQ(grouped.problem().arc_count(), 3);
  const FlowSolution solution = SolveGrouped(grouped);
  EXPECT_EQ(solution.objective, 4 * 1 + 2 * 9);
  EXPECT_THAT(VerifySolution(problem, solution), IsOk());
}

// Each of these differs from the first source in one thing.
TEST(GroupedProblem, KeepsSourcesApartThatDiffer) {
  FlowProblem problem;
  const NodeIndex sink = problem.AddNode(-5);
  const auto add = [&](FlowUnits capacity, FlowCost cost) {
    const NodeIndex source = problem.AddNode(1);
    problem.AddArc(source, sink, capacity, cost);
    return source;
  };
  add(1, 4);
  add(1, 5);
  problem.SetSupply(add(1, 4), 2);  // More than its arc takes.
  const NodeIndex visited = add(1, 4);
  problem.AddArc(sink, visited, 1, 0);
  EXPECT_FALSE(GroupedProblem(problem).is_worthwhile());
}

TEST(GroupedProblem, NamesTheMembersOfAGroupThatCannotLeave) {
  FlowProblem problem;
  for (int i = 0; i < 3; ++i) problem.AddNode(1);
  const NodeIndex trap = problem.AddNode(0);
  for (NodeIndex source = 0; source < 3; ++source) {
    problem.AddArc(source, trap, 8, 1);
  }
  problem.AddArc(trap, problem.AddNode(-3), 2, 1);
  const GroupedProblem grouped(problem);
  ASSERT_TRUE(grouped.is_worthwhile());
  const FlowSolution solution = SolveGrouped(grouped);
  EXPECT_EQ(solution.outcome, SolveOutcome::kInfeasible);
  EXPECT_THAT(solution.witness_cut, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(VerifyWitnessCut(problem, solution.witness_cut), IsOk());
}

// Makes `copies` of what is there: of sources, and of arcs.
FlowProblem Multiply(const FlowProblem& problem, int copies, Rng* rng) {
  FlowProblem multiplied;
  std::vector<std::vector<NodeIndex>> nodes;
  for (NodeIndex node = 0; node < problem.node_count(); ++node) {
    nodes.push_back({multiplied.AddNode(problem.supply(node))});
  }
  FlowUnits more = 0;
  for (NodeIndex node = 0; node < problem.node_count(); ++node) {
    if (problem.supply(node) <= 0) continue;
    const auto head = static_cast<NodeIndex>(
        rng->Below(static_cast<uint64_t>(problem.node_count())));
    const FlowCost cost = rng->Between(-5, 50);
    for (int i = 0; i < copies; ++i) {
      const FlowUnits supply = rng->Between(1, 3);
      const NodeIndex source = multiplied.AddNode(supply);
      multiplied.AddArc(source, head, rng->Between(3, 5), cost);
      multiplied.AddArc(source, node, rng->Between(3, 5), 2 * cost);
      more += supply;
    }
  }
  for (ArcIndex i = 0; i < problem.arc_count(); ++i) {
    const FlowProblem::Arc& arc = problem.arc(i);
    for (const CostSegment& segment : problem.segments(i)) {
      for (int copy = 0; copy < copies; ++copy) {
        multiplied.AddArc(arc.tail, arc.head, segment.width,
                          segment.cost + rng->Between(0, 1));
      }
    }
  }
  if (problem.node_count() > 0) {
    multiplied.SetSupply(0, multiplied.supply(0) - more);
  }
  return multiplied;
}

TEST(GroupedProblem, HasTheOptimumOfTheWholeProblem) {
  int worthwhile = 0;
  int infeasible = 0;
  for (uint64_t seed = 0; seed < 2000 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const FlowProblem problem = Multiply(
        MakeRandomProblem({.node_count_max = 8, .arc_count_max = 20}, &rng), 3,
        &rng);
    const GroupedProblem grouped(problem);
    if (!grouped.is_worthwhile()) continue;
    ++worthwhile;
    const FlowSolution solution = SolveGrouped(grouped);
    const FlowSolution whole = MakeSolver("cost_scaling")->Solve(problem, {});
    ASSERT_EQ(solution.outcome, whole.outcome);
    if (solution.outcome == SolveOutcome::kOptimal) {
      EXPECT_THAT(VerifySolution(problem, solution), IsOk());
      EXPECT_EQ(solution.objective, whole.objective);
      EXPECT_THAT(solution.witness_cut, IsEmpty());
    } else {
      ++infeasible;
      EXPECT_THAT(VerifyWitnessCut(problem, solution.witness_cut), IsOk());
    }
  }
  EXPECT_GT(worthwhile, 1000);
  EXPECT_GT(infeasible, 100);
  EXPECT_LT(infeasible, worthwhile - 100);
}

}  // namespace
}  // namespace sluice
