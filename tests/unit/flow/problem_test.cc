#include "sluice/flow/problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string_view>

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(FlowProblem, NumbersNodesAndArcsInTheOrderTheyAreAdded) {
  FlowProblem problem;
  EXPECT_EQ(problem.AddNode(3), 0);
  EXPECT_EQ(problem.AddNode(-3), 1);
  EXPECT_EQ(problem.AddArc(0, 1, 5, 7), 0);
  EXPECT_EQ(problem.AddArc(1, 0, 2, -1, 1), 1);
  EXPECT_EQ(problem.node_count(), 2);
  EXPECT_EQ(problem.arc_count(), 2);
  EXPECT_EQ(problem.supply(1), -3);
  EXPECT_EQ(problem.arc(1).tail, 1);
  EXPECT_EQ(problem.arc(1).head, 0);
  EXPECT_EQ(problem.arc(1).lower, 1);
  EXPECT_EQ(problem.arc(1).capacity, 2);
}

TEST(FlowProblem, ReplacesASupply) {
  FlowProblem problem;
  problem.AddNode(3);
  problem.SetSupply(0, 8);
  EXPECT_EQ(problem.supply(0), 8);
}

TEST(FlowProblem, GivesAPlainArcOneSegment) {
  FlowProblem problem;
  const ArcIndex arc = problem.AddArc(0, 0, 5, 7);
  EXPECT_THAT(problem.segments(arc), ElementsAre(CostSegment{5, 7}));
}

TEST(FlowProblem, KeepsTheSegmentsOfEachArcApart) {
  FlowProblem problem;
  const CostSegment first[] = {{2, 1}, {3, 4}};
  const CostSegment second[] = {{1, 0}, {1, 5}, {4, 6}};
  problem.AddConvexArc(0, 0, first);
  problem.AddConvexArc(0, 0, {});
  problem.AddConvexArc(0, 0, second);
  EXPECT_EQ(problem.arc(0).capacity, 5);
  EXPECT_EQ(problem.arc(1).capacity, 0);
  EXPECT_EQ(problem.arc(2).capacity, 6);
  EXPECT_THAT(problem.segments(0), ElementsAre(first[0], first[1]));
  EXPECT_THAT(problem.segments(1), IsEmpty());
  EXPECT_THAT(problem.segments(2),
              ElementsAre(second[0], second[1], second[2]));
  EXPECT_EQ(problem.segment_count(), 5);
}

TEST(FlowProblem, MarksAnArcWhoseWidthsOverflow) {
  FlowProblem problem;
  const FlowUnits most = std::numeric_limits<FlowUnits>::max();
  const CostSegment segments[] = {{most, 0}, {1, 0}};
  problem.AddConvexArc(0, 0, segments);
  EXPECT_EQ(problem.arc(0).capacity, -1);
}

TEST(FlowProblemDeathTest, RefusesTheSupplyOfANodeThatIsNotThere) {
  FlowProblem problem;
  EXPECT_DEATH(problem.SetSupply(0, 1), "no node 0");
}

TEST(SolveOutcome, HasANameForEachValue) {
  EXPECT_EQ(std::string_view(SolveOutcomeName(SolveOutcome::kOptimal)),
            "optimal");
  EXPECT_EQ(std::string_view(SolveOutcomeName(SolveOutcome::kInfeasible)),
            "infeasible");
  EXPECT_EQ(std::string_view(SolveOutcomeName(SolveOutcome::kUnbounded)),
            "unbounded");
  EXPECT_EQ(std::string_view(SolveOutcomeName(SolveOutcome::kCostRange)),
            "cost range");
  EXPECT_EQ(std::string_view(SolveOutcomeName(SolveOutcome::kInvalidProblem)),
            "invalid problem");
  EXPECT_EQ(std::string_view(SolveOutcomeName(SolveOutcome::kCancelled)),
            "cancelled");
}

}  // namespace
}  // namespace sluice
