#include "sluice/flow/problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pointee;

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
  EXPECT_EQ(problem.arc(1).capacity(), 2);
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
  EXPECT_EQ(problem.arc(0).capacity(), 5);
  EXPECT_EQ(problem.arc(1).capacity(), 0);
  EXPECT_EQ(problem.arc(2).capacity(), 6);
  EXPECT_THAT(problem.segments(0), ElementsAre(first[0], first[1]));
  EXPECT_THAT(problem.segments(1), ElementsAre(CostSegment{}));
  EXPECT_THAT(problem.segments(2),
              ElementsAre(second[0], second[1], second[2]));
  EXPECT_EQ(problem.segment_count(), 6);
}

TEST(FlowProblem, MarksAnArcWhoseWidthsOverflow) {
  FlowProblem problem;
  const FlowUnits most = std::numeric_limits<FlowUnits>::max();
  const CostSegment segments[] = {{most, 0}, {1, 0}};
  problem.AddConvexArc(0, 0, segments);
  EXPECT_EQ(problem.arc(0).capacity(), -1);
}

TEST(FlowProblem, ReplacesTheCostAndBoundsOfAnArc) {
  FlowProblem problem;
  problem.AddArc(0, 0, 5, 7);
  const CostSegment ladder[] = {{2, 1}, {3, 4}};
  problem.SetConvexArc(0, ladder, 2);
  EXPECT_EQ(problem.arc(0).lower, 2);
  EXPECT_EQ(problem.arc(0).capacity(), 5);
  EXPECT_THAT(problem.segments(0), ElementsAre(ladder[0], ladder[1]));
  problem.SetArc(0, 9, -1);
  EXPECT_EQ(problem.arc(0).lower, 0);
  EXPECT_THAT(problem.segments(0), ElementsAre(CostSegment{9, -1}));
}

TEST(FlowProblem, ClosesARemovedArcAndDealsItsIndexAgain) {
  FlowProblem problem;
  problem.AddNode(0);
  problem.AddNode(0);
  problem.AddArc(0, 1, 5, 7);
  problem.AddArc(1, 0, 5, 7, 3);
  problem.SetGain(1, {1, 2});
  problem.SetAllOrNone(1, true);
  problem.RemoveArc(1);
  EXPECT_TRUE(problem.arc(1).is_removed());
  EXPECT_EQ(problem.arc(1).lower, 0);
  EXPECT_EQ(problem.arc(1).capacity(), 0);
  EXPECT_THAT(problem.segments(1), IsEmpty());
  EXPECT_EQ(problem.segment_count(), 1);
  EXPECT_EQ(problem.AddArc(0, 0, 1, 1), 1);
  EXPECT_EQ(problem.gain(1), FlowGain());
  EXPECT_FALSE(problem.is_all_or_none(1));
  EXPECT_EQ(problem.arc_count(), 2);
}

TEST(FlowProblem, DealsTheIndexOfARemovedNodeAgain) {
  FlowProblem problem;
  problem.AddNode(1);
  problem.AddNode(2);
  const ArcIndex arc = problem.AddArc(0, 1, 1, 1);
  problem.RemoveArc(arc);
  problem.RemoveNode(0);
  EXPECT_EQ(problem.supply(0), 0);
  EXPECT_EQ(problem.AddNode(9), 0);
  EXPECT_EQ(problem.supply(0), 9);
  EXPECT_EQ(problem.AddNode(0), 2);
}

TEST(FlowProblem, NamesNodesUntilTheyAreRemoved) {
  FlowProblem problem;
  for (int i = 0; i < 3; ++i) problem.AddNode(0);
  EXPECT_EQ(problem.name(1), 0U);
  problem.SetName(1, 17);
  EXPECT_EQ(problem.name(0), 0U);
  EXPECT_EQ(problem.name(1), 17U);
  EXPECT_EQ(problem.name(2), 0U);
  problem.RemoveNode(1);
  EXPECT_EQ(problem.AddNode(0), 1);
  EXPECT_EQ(problem.name(1), 0U);
}

TEST(FlowProblem, TakesAGainOfOneForNone) {
  FlowProblem problem;
  problem.AddArc(0, 0, 5, 7);
  problem.SetGain(0, {1, 3});
  EXPECT_EQ(problem.gains().size(), 1u);
  problem.SetGain(0, {3, 3});
  EXPECT_EQ(problem.gains().size(), 0u);
  EXPECT_EQ(problem.gain(0), FlowGain());
}

TEST(FlowProblem, GivesUpSegmentsThatNoArcUses) {
  FlowProblem problem;
  for (int i = 0; i < 100; ++i) {
    problem.AddConvexArc(0, 0, std::vector<CostSegment>{{1, i}, {2, i + 1}});
  }
  for (int round = 0; round < 1000; ++round) {
    problem.SetConvexArc(round % 10,
                         std::vector<CostSegment>{{1, round}, {3, round + 1}});
  }
  for (int i = 0; i < 10; ++i) {
    EXPECT_THAT(problem.segments(i),
                ElementsAre(CostSegment{1, 990 + i}, CostSegment{3, 991 + i}));
  }
  for (int i = 10; i < 100; ++i) {
    EXPECT_THAT(problem.segments(i),
                ElementsAre(CostSegment{1, i}, CostSegment{2, i + 1}));
  }
  EXPECT_EQ(problem.segment_count(), 200);
}

TEST(FlowProblem, LogsWhatChangedSinceTheLogBegan) {
  using Kind = FlowChange::Kind;
  FlowProblem problem;
  problem.AddNode(0);
  EXPECT_EQ(problem.log(), nullptr);
  problem.StartLog();
  problem.AddNode(1);
  problem.SetSupply(0, -1);
  problem.AddArc(0, 1, 1, 1);
  problem.SetArc(0, 2, 1);
  problem.RemoveArc(0);
  EXPECT_THAT(problem.log(),
              Pointee(ElementsAre(
                  FlowChange{Kind::kNode, 1}, FlowChange{Kind::kNode, 0},
                  FlowChange{Kind::kArc, 0}, FlowChange{Kind::kArc, 0},
                  FlowChange{Kind::kArc, 0})));
  problem.StartLog();
  EXPECT_THAT(problem.log(), Pointee(IsEmpty()));
}

TEST(FlowProblem, GivesUpALogThatIsLongerThanTheProblem) {
  FlowProblem problem;
  problem.AddNode(0);
  problem.StartLog();
  for (int i = 0; i < 2000; ++i) problem.SetSupply(0, 0);
  EXPECT_EQ(problem.log(), nullptr);
}

TEST(FlowProblemDeathTest, RefusesToRemoveANodeThatArcsTouch) {
  FlowProblem problem;
  problem.AddNode(0);
  problem.AddNode(0);
  problem.AddArc(0, 1, 1, 1);
  EXPECT_DEATH(problem.RemoveNode(1), "arcs still touch node 1");
}

TEST(FlowProblemDeathTest, RefusesAnArcThatIsNotThere) {
  FlowProblem problem;
  EXPECT_DEATH(problem.SetArc(0, 1, 1), "no arc 0");
  EXPECT_DEATH(problem.RemoveArc(0), "no arc 0");
  problem.AddArc(0, 0, 1, 1);
  problem.RemoveArc(0);
  EXPECT_DEATH(problem.SetGain(0, {1, 2}), "no arc 0");
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
  EXPECT_EQ(std::string_view(SolveOutcomeName(SolveOutcome::kBudgetSpent)),
            "budget spent");
  EXPECT_EQ(std::string_view(SolveOutcomeName(SolveOutcome::kCancelled)),
            "cancelled");
}

}  // namespace
}  // namespace sluice
