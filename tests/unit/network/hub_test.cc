#include "network/hub.h"

#include <gtest/gtest.h>

#include <deque>
#include <utility>
#include <vector>

#include "sluice/flow/problem.h"

namespace sluice {
namespace {

using Units = std::deque<std::pair<size_t, FlowUnits>>;

FlowSolution SolutionWith(std::vector<FlowUnits> flows) {
  FlowSolution solution;
  solution.flows = std::move(flows);
  return solution;
}

class HubTest : public ::testing::Test {
 protected:
  HubTest() {
    problem_.AddNode(5);
    hub_.node = problem_.AddNode(0);
    sink_ = problem_.AddNode(-5);
    hub_.classes.push_back({0, problem_.AddArc(0, hub_.node, 5, 0)});
  }

  FlowProblem problem_;
  NodeIndex sink_ = 0;
  Hub hub_;
};

TEST_F(HubTest, ChargesAUnitForItsMachineAndItsAggregate) {
  const std::vector<CostSegment> machines = {{2, 10}, {2, 20}};
  const std::vector<CostSegment> rack = {{1, 1}, {2, 3}};
  hub_.Share(7, machines, rack);
  hub_.Draw(sink_, 5, &problem_);
  std::vector<std::pair<FlowUnits, FlowCost>> segments;
  for (const auto& [width, cost] : problem_.segments(*hub_.shared)) {
    segments.emplace_back(width, cost);
  }
  EXPECT_EQ(segments, (std::vector<std::pair<FlowUnits, FlowCost>>{
                          {1, 11}, {1, 13}, {1, 23}}));
}

TEST_F(HubTest, GivesUnitsToTheGroupsThatTheyCostTheLeastIn) {
  const std::vector<CostSegment> flat = {{5, 10}};
  const std::vector<CostSegment> steep = {{1, 0}, {1, 2}, {1, 4}};
  const std::vector<CostSegment> dear = {{1, 1}, {1, 3}};
  hub_.Share(4, flat, dear);
  hub_.Share(9, flat, steep);
  hub_.Draw(sink_, 5, &problem_);
  EXPECT_EQ(hub_.UnitsBy(SolutionWith({0, 0})), Units());
  EXPECT_EQ(hub_.UnitsBy(SolutionWith({1, 1})), (Units{{9, 1}}));
  EXPECT_EQ(hub_.UnitsBy(SolutionWith({3, 3})), (Units{{4, 1}, {9, 2}}));
  EXPECT_EQ(hub_.UnitsBy(SolutionWith({5, 5})), (Units{{4, 2}, {9, 3}}));
}

TEST_F(HubTest, CarriesNoMoreOnItsSharedArcThanThereAreUnits) {
  const std::vector<CostSegment> machines = {{9, 10}};
  hub_.Share(0, machines, machines);
  hub_.Share(1, machines, machines);
  hub_.Draw(sink_, 5, &problem_);
  FlowUnits width = 0;
  for (const CostSegment& one : problem_.segments(*hub_.shared)) {
    width += one.width;
  }
  EXPECT_EQ(width, 5);
}

TEST_F(HubTest, HasNoSharedArcWhereNoGroupSharesIt) {
  hub_.groups.push_back({3, problem_.AddArc(hub_.node, sink_, 5, 0)});
  hub_.Draw(sink_, 5, &problem_);
  EXPECT_FALSE(hub_.shared.has_value());
  EXPECT_EQ(problem_.arc_count(), 2);
  EXPECT_EQ(hub_.UnitsBy(SolutionWith({2, 2})), (Units{{3, 2}}));
}

}  // namespace
}  // namespace sluice
