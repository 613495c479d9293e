#include "flow/dimacs_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::ElementsAre;

// Three nodes that balance; arcs 0 and 2 run from node 1 to node 2 (as a file
// counts), arc 1 from node 2 to node 3.
FlowProblem Sample() {
  FlowProblem problem;
  for (const FlowUnits supply : {5, 0, -5}) problem.AddNode(supply);
  problem.AddArc(0, 1, 10, 1);
  problem.AddArc(1, 2, 20, 2, 1);
  problem.AddArc(0, 1, 30, 3);
  return problem;
}

// Applies all groups of `text`.
absl::Status Change(const std::string& text, FlowProblem* problem) {
  const absl::StatusOr<std::vector<DimacsChanges>> groups =
      ReadDimacsChanges(text, problem->node_count());
  if (!groups.ok()) return groups.status();
  DimacsChanger changer(problem);
  for (const DimacsChanges& changes : *groups) {
    RETURN_IF_ERROR(changer.Apply(changes));
  }
  return absl::OkStatus();
}

std::vector<FlowUnits> Supplies(const FlowProblem& problem) {
  std::vector<FlowUnits> supplies;
  for (NodeIndex node = 0; node < problem.node_count(); ++node) {
    supplies.push_back(problem.supply(node));
  }
  return supplies;
}

std::vector<FlowUnits> Capacities(const FlowProblem& problem) {
  std::vector<FlowUnits> capacities;
  for (ArcIndex arc = 0; arc < problem.arc_count(); ++arc) {
    capacities.push_back(problem.arc(arc).capacity());
  }
  return capacities;
}

size_t GroupCount(const std::string& text) {
  const auto groups = ReadDimacsChanges(text, 3);
  EXPECT_THAT(groups, IsOk());
  return groups.ok() ? groups->size() : 0;
}

TEST(ReadDimacsChanges, EndsAGroupAtEachR) {
  EXPECT_EQ(GroupCount(""), 0u);
  EXPECT_EQ(GroupCount("c nothing\n\n"), 0u);
  EXPECT_EQ(GroupCount("s 1 1\nr\nx 1 2 0 1 1\nr\n"), 2u);
  EXPECT_EQ(GroupCount("s 1 1\nr\nx arc 1 2 0 1 1"), 2u);
  EXPECT_EQ(GroupCount("s 1 1\nr\nc the end\n"), 1u);
  EXPECT_EQ(GroupCount("r\nr\n"), 2u);
}

TEST(ReadDimacsChanges, NamesTheLineOfAFault) {
  const std::vector<std::pair<std::string, std::string>> faults = {
      {"q\n", "line 1: 'q' begins no line of changes"},
      {"c all well\nc sluice gain 1 2\n",
       "line 2: 'c sluice' is for problems: a change is of a plain arc"},
      {"r r\n", "line 1: 'r' follows where the line should end"},
      {"c\ns 1\n", "line 2: the supply is missing"},
      {"s 1 2 3\n", "line 1: '3' follows where the line should end"},
      {"s 0 1\n", "line 1: node 0: nodes are counted from 1"},
      {"x node 1 2 0 1 1\n", "line 1: tail 'node' is not a whole number"},
      {"x 1 2 0 1\n", "line 1: the cost is missing"},
      {"x 1 2 0 -1 1\n", "line 1: capacity -1 is negative"},
      {"x 1 2 3 2 1\n", "line 1: lower bound 3 is above the capacity 2"},
      {"s 5 1\n",
       "line 1: node 5 is beyond 4: a file of changes adds a node a line at "
       "most"},
      {"x -1 2 0 1 1\n", "line 1: node -1: nodes are counted from 1"}};
  for (const auto& [text, message] : faults) {
    EXPECT_THAT(ReadDimacsChanges(text, 3),
                StatusIs(absl::StatusCode::kInvalidArgument, message));
  }
}

TEST(ReadDimacsChanges, BoundsTheNodesAProblemMayGrowTo) {
  EXPECT_THAT(ReadDimacsChanges("s 50000001 1\n", 50'000'000),
              StatusIs(absl::StatusCode::kOutOfRange,
                       "line 1: node 50000001 is beyond the limit of "
                       "50000000"));
}

TEST(DimacsChanger, SetsBoundsAndCostOfAnArc) {
  FlowProblem problem = Sample();
  EXPECT_THAT(Change("x arc 2 3 4 21 -7\n", &problem), IsOk());
  EXPECT_EQ(problem.arc_count(), 3);
  EXPECT_EQ(problem.arc(1).lower, 4);
  EXPECT_EQ(problem.arc(1).whole, (CostSegment{21, -7}));
}

TEST(DimacsChanger, OfASingleArcTheLastLineHolds) {
  FlowProblem problem = Sample();
  EXPECT_THAT(Change("x 2 3 0 7 1\nx 2 3 0 8 1\nx 2 3 0 9 1\n", &problem),
              IsOk());
  EXPECT_THAT(Capacities(problem), ElementsAre(10, 9, 30));
}

TEST(DimacsChanger, SetsParallelArcsInTurn) {
  FlowProblem problem = Sample();
  EXPECT_THAT(Change("x 1 2 0 7 1\nx 2 3 0 0 1\nx 1 2 0 8 1\n", &problem),
              IsOk());
  EXPECT_THAT(Capacities(problem), ElementsAre(7, 0, 8));
  EXPECT_THAT(Change("x 1 2 0 1 1\nx 1 2 0 2 1\nx 1 2 0 3 1\n", &problem),
              IsOk());
  EXPECT_THAT(Capacities(problem), ElementsAre(3, 0, 2));
}

TEST(DimacsChanger, BeginsAtTheFirstParallelArcInEachGroup) {
  FlowProblem problem = Sample();
  EXPECT_THAT(Change("x 1 2 0 7 1\nr\nx 1 2 0 8 1\n", &problem), IsOk());
  EXPECT_THAT(Capacities(problem), ElementsAre(8, 20, 30));
}

TEST(DimacsChanger, AddsAnArcThatIsNewAndSetsItFromThenOn) {
  FlowProblem problem = Sample();
  EXPECT_THAT(Change("x 3 1 2 7 5\n", &problem), IsOk());
  ASSERT_EQ(problem.arc_count(), 4);
  EXPECT_EQ(problem.arc(3).tail, 2);
  EXPECT_EQ(problem.arc(3).head, 0);
  EXPECT_EQ(problem.arc(3).lower, 2);
  EXPECT_THAT(Change("x 1 3 0 1 5\nx 1 3 0 2 5\nr\nx 1 3 0 3 5\n", &problem),
              IsOk());
  EXPECT_THAT(Capacities(problem), ElementsAre(10, 20, 30, 7, 3));
}

TEST(DimacsChanger, MakesAConvexArcPlainAndLeavesItsKind) {
  FlowProblem problem = Sample();
  const std::vector<CostSegment> ladder = {{1, 1}, {1, 2}};
  problem.SetConvexArc(1, ladder);
  problem.SetGain(1, {1, 2});
  problem.SetAllOrNone(1, true);
  EXPECT_THAT(Change("x 2 3 0 9 4\n", &problem), IsOk());
  EXPECT_THAT(problem.segments(1), ElementsAre(CostSegment{9, 4}));
  EXPECT_EQ(problem.gain(1), (FlowGain{1, 2}));
  EXPECT_TRUE(problem.is_all_or_none(1));
}

TEST(DimacsChanger, AddsNodesBeyondTheLast) {
  FlowProblem problem = Sample();
  EXPECT_THAT(Change("x 4 5 0 1 1\ns 4 2\ns 3 -2\n", &problem), IsOk());
  EXPECT_THAT(Supplies(problem), ElementsAre(5, 0, -7, 2, 0));
  EXPECT_THAT(Change("s 7 0\nr\nc\n", &problem), IsOk());
  EXPECT_EQ(problem.node_count(), 7);
}

TEST(DimacsChanger, AddsToSupplies) {
  FlowProblem problem = Sample();
  EXPECT_THAT(Change("s 1 2\ns 1 1\ns 2 -3\n", &problem), IsOk());
  EXPECT_THAT(Supplies(problem), ElementsAre(8, -3, -5));
}

TEST(DimacsChanger, TakesNewSuppliesWhereOnlyTheseBalance) {
  FlowProblem problem = Sample();
  EXPECT_THAT(Change("s 1 7\ns 2 9\ns 2 -2\n", &problem), IsOk());
  EXPECT_THAT(Supplies(problem), ElementsAre(7, -2, -5));
  // Group by group: the first is of changes, the second of supplies.
  EXPECT_THAT(Change("s 1 1\ns 3 -1\nr\ns 1 10\ns 3 -8\n", &problem), IsOk());
  EXPECT_THAT(Supplies(problem), ElementsAre(10, -2, -8));
}

TEST(DimacsChanger, TakesChangesWhereBothReadingsBalance) {
  FlowProblem problem = Sample();
  EXPECT_THAT(Change("s 1 5\ns 3 -5\n", &problem), IsOk());
  EXPECT_THAT(Supplies(problem), ElementsAre(10, 0, -10));
}

TEST(DimacsChanger, TakesChangesWhereNeitherReadingBalances) {
  FlowProblem problem = Sample();
  EXPECT_THAT(Change("s 1 1\n", &problem), IsOk());
  EXPECT_THAT(Supplies(problem), ElementsAre(6, 0, -5));
  // Out of balance as it is now, the next group may mend it.
  EXPECT_THAT(Change("s 3 -1\n", &problem), IsOk());
  EXPECT_THAT(Supplies(problem), ElementsAre(6, 0, -6));
}

TEST(DimacsChanger, KnowsTheBalanceThatAGroupLeft) {
  FlowProblem problem = Sample();
  EXPECT_THAT(Change("s 1 1\nr\ns 1 5\n", &problem), IsOk());
  EXPECT_THAT(Supplies(problem), ElementsAre(5, 0, -5));
}

TEST(DimacsChanger, TakesChangesWhereSuppliesNeedNotBalance) {
  FlowProblem problem = Sample();
  problem.SetGain(0, {1, 2});
  EXPECT_THAT(Change("s 1 7\ns 2 -2\n", &problem), IsOk());
  EXPECT_THAT(Supplies(problem), ElementsAre(12, -2, -5));
}

TEST(DimacsChanger, ChangesNothingWhereASupplyLeaves64Bits) {
  FlowProblem problem = Sample();
  EXPECT_THAT(Change("s 2 3\ns 1 9223372036854775807\n", &problem),
              StatusIs(absl::StatusCode::kOutOfRange,
                       "line 2: the supply of node 1 does not fit 64 bits"));
  EXPECT_THAT(Supplies(problem), ElementsAre(5, 0, -5));
  // What passes 64 bits on the way and returns is no error.
  EXPECT_THAT(
      Change("s 1 9223372036854775807\ns 1 -9223372036854775807\n", &problem),
      IsOk());
  EXPECT_THAT(Supplies(problem), ElementsAre(5, 0, -5));
}

TEST(DimacsChanger, LogsWhatItChanged) {
  FlowProblem problem = Sample();
  problem.StartLog();
  EXPECT_THAT(Change("x 2 3 0 9 4\ns 1 1\ns 3 -1\n", &problem), IsOk());
  ASSERT_NE(problem.log(), nullptr);
  EXPECT_THAT(*problem.log(),
              ElementsAre(FlowChange{FlowChange::Kind::kNode, 0},
                          FlowChange{FlowChange::Kind::kNode, 2},
                          FlowChange{FlowChange::Kind::kArc, 1}));
}

}  // namespace
}  // namespace sluice
