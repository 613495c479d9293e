#include "solver/choose.h"

#include <gtest/gtest.h>

#include <vector>

#include "solver/registry.h"

namespace sluice {
namespace {

// `nodes` nodes, the last few with a unit of demand each, an arc into each.
FlowProblem Network(NodeIndex nodes, NodeIndex demand_count,
                    int segments_per_arc) {
  FlowProblem problem;
  problem.AddNode(demand_count);
  for (NodeIndex node = 1; node < nodes; ++node) {
    problem.AddNode(node >= nodes - demand_count ? -1 : 0);
    problem.AddConvexArc(
        0, node,
        std::vector<CostSegment>(static_cast<size_t>(segments_per_arc),
                                 {.width = 1, .cost = 1}));
  }
  return problem;
}

TEST(ChooseSolver, NamesASolverForNothing) {
  EXPECT_NE(MakeSolver(ChooseSolver(FlowProblem())), nullptr);
}

TEST(ChooseSolver, TakesTheSimplexMethodForSmallNetworks) {
  EXPECT_EQ(ChooseSolver(Network(5000, 1, 1)), "network_simplex");
  EXPECT_EQ(ChooseSolver(Network(5001, 1, 1)), "cost_scaling");
}

TEST(ChooseSolver, TakesTheSimplexMethodForLargerOnesThatAreDense) {
  FlowProblem dense = Network(6000, 1, 1);
  while (dense.arc_count() < 64 * 6001) dense.AddArc(0, 1, 1, 1);
  EXPECT_EQ(ChooseSolver(dense), "network_simplex");
  for (int i = 0; i < 4001; ++i) dense.AddNode(0);
  while (dense.arc_count() < 64 * 10002) dense.AddArc(0, 1, 1, 1);
  EXPECT_EQ(ChooseSolver(dense), "cost_scaling");
}

TEST(ChooseSolver, TakesCostScalingForLadders) {
  const auto with_arcs = [](ArcIndex arcs, int segments_per_arc) {
    FlowProblem problem = Network(500, 1, segments_per_arc);
    while (problem.arc_count() < arcs) {
      const auto segments = problem.segments(0);
      problem.AddConvexArc(
          0, 1, std::vector<CostSegment>(segments.begin(), segments.end()));
    }
    return problem;
  };
  EXPECT_EQ(ChooseSolver(with_arcs(8001, 2)), "network_simplex");
  EXPECT_EQ(ChooseSolver(with_arcs(8001, 3)), "cost_scaling");
  EXPECT_EQ(ChooseSolver(with_arcs(8000, 3)), "network_simplex");
}

TEST(ChooseSolver, TakesTheSimplexMethodForSpreadDemand) {
  EXPECT_EQ(ChooseSolver(Network(20000, 200, 1)), "cost_scaling");
  EXPECT_EQ(ChooseSolver(Network(20000, 201, 1)), "network_simplex");
  EXPECT_EQ(ChooseSolver(Network(20000, 201, 3)), "network_simplex");
  EXPECT_EQ(ChooseSolver(Network(100001, 2000, 1)), "cost_scaling");
}

}  // namespace
}  // namespace sluice
