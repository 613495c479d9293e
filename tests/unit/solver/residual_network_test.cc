#include "solver/residual_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace sluice {
namespace {

using ::testing::ElementsAre;

// Nodes 0 and 1, and one arc from 0 to 1: half arc 0 leaves node 0, half arc 1
// is its twin.
FlowProblem OneArc(std::vector<CostSegment> segments, FlowUnits lower) {
  FlowProblem problem;
  problem.AddNode(0);
  problem.AddNode(0);
  problem.AddConvexArc(0, 1, segments, lower);
  return problem;
}

void ExpectHalfArcs(const ResidualNetwork& network, FlowCost next_cost,
                    FlowUnits next, FlowCost last_cost, FlowUnits last) {
  EXPECT_EQ(network.half_arc(0).residual, next);
  EXPECT_EQ(network.half_arc(0).is_twin_open, last > 0 ? 1 : 0);
  EXPECT_EQ(network.half_arc(1).is_twin_open, next > 0 ? 1 : 0);
  if (next > 0) {
    EXPECT_EQ(network.half_arc(0).cost, next_cost);
    EXPECT_EQ(network.TwinCost(1), next_cost);
  }
  EXPECT_EQ(network.half_arc(1).residual, last);
  if (last > 0) {
    EXPECT_EQ(network.half_arc(1).cost, -last_cost);
    EXPECT_EQ(network.TwinCost(0), -last_cost);
  }
}

TEST(ResidualNetwork, WalksALadderUpAndDown) {
  const FlowProblem problem = OneArc({{2, 10}, {1, 20}, {3, 30}}, 0);
  ResidualNetwork network(problem, 1);
  ExpectHalfArcs(network, 10, 2, 0, 0);
  network.Push(0, 0, 1);
  ExpectHalfArcs(network, 10, 1, 10, 1);
  network.Push(0, 0, 1);  // Onto the boundary.
  ExpectHalfArcs(network, 20, 1, 10, 2);
  network.Push(0, 0, 1);
  ExpectHalfArcs(network, 30, 3, 20, 1);
  network.Push(0, 0, 3);  // To the top.
  ExpectHalfArcs(network, 0, 0, 30, 3);
  network.Push(1, 1, 2);
  ExpectHalfArcs(network, 30, 2, 30, 1);
  network.Push(1, 1, 1);
  ExpectHalfArcs(network, 30, 3, 20, 1);
  network.Push(1, 1, 1);
  ExpectHalfArcs(network, 20, 1, 10, 2);
  network.Push(1, 1, 2);  // To the bottom.
  ExpectHalfArcs(network, 10, 2, 0, 0);
  EXPECT_THAT(network.Flows(problem), ElementsAre(0));
}

TEST(ResidualNetwork, BeginsAtTheLowerBound) {
  const FlowProblem problem = OneArc({{2, 10}, {2, 20}, {3, 30}}, 3);
  ResidualNetwork network(problem, 1);
  EXPECT_EQ(network.excess(0), -3);
  EXPECT_EQ(network.excess(1), 3);
  ExpectHalfArcs(network, 20, 1, 0, 0);
  network.Push(0, 0, 1);
  ExpectHalfArcs(network, 30, 3, 20, 1);
  network.Push(0, 0, 2);
  EXPECT_EQ(network.excess(1), 6);
  EXPECT_THAT(network.Flows(problem), ElementsAre(6));
}

TEST(ResidualNetwork, JoinsSegmentsOfEqualCost) {
  const FlowProblem problem = OneArc({{2, 10}, {2, 10}, {3, 30}}, 1);
  const ResidualNetwork network(problem, 5);
  ExpectHalfArcs(network, 50, 3, 0, 0);
  EXPECT_EQ(network.cost_max(), 150);
}

TEST(ResidualNetwork, LeavesOutArcsThatCannotChange) {
  FlowProblem problem = OneArc({{2, 10}}, 2);
  problem.AddArc(0, 1, 0, 5);
  problem.AddConvexArc(0, 1, {});
  const CostSegment loop[] = {{2, -3}, {3, -1}, {4, 0}};
  problem.AddConvexArc(1, 1, loop);
  problem.AddConvexArc(1, 1, loop, 7);
  const ResidualNetwork network(problem, 1);
  EXPECT_EQ(network.half_arc_count(), 0);
  EXPECT_THAT(network.Flows(problem), ElementsAre(2, 0, 0, 5, 7));
}

TEST(ResidualNetwork, ListsTheHalfArcsOfEachNode) {
  FlowProblem problem;
  for (int i = 0; i < 3; ++i) problem.AddNode(0);
  problem.AddArc(2, 0, 1, 1);
  problem.AddArc(0, 1, 1, 2);
  problem.AddArc(2, 1, 1, 3);
  const ResidualNetwork network(problem, 1);
  ASSERT_EQ(network.half_arc_count(), 6);
  for (NodeIndex node = 0; node < 3; ++node) {
    ASSERT_EQ(network.first(node + 1) - network.first(node), 2);
    for (int32_t i = network.first(node); i < network.first(node + 1); ++i) {
      const ResidualNetwork::HalfArc& arc = network.half_arc(i);
      EXPECT_EQ(network.half_arc(arc.twin).twin, i);
      EXPECT_EQ(network.half_arc(arc.twin).head, node);
      EXPECT_EQ(network.half_arc(arc.twin).cost, -arc.cost);
    }
  }
}

}  // namespace
}  // namespace sluice
