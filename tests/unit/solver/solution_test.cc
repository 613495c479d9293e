#include "solver/solution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flow/validate.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;

TEST(RefuseUnlessPure, LetsAPureProblemPass) {
  FlowProblem problem;
  problem.AddNode(0);
  EXPECT_EQ(RefuseUnlessPure(problem).has_value(), false);
}

TEST(RefuseUnlessPure, TellsWhatIsInvalidFromWhatIsTooLarge) {
  FlowProblem problem;
  problem.AddNode(1);
  EXPECT_EQ(RefuseUnlessPure(problem)->outcome, SolveOutcome::kInvalidProblem);
  problem.SetSupply(0, kFlowTotalMax + 1);
  EXPECT_EQ(RefuseUnlessPure(problem)->outcome, SolveOutcome::kCostRange);
}

TEST(RefuseUnlessPure, NamesTheArcWithAGain) {
  FlowProblem problem;
  problem.AddNode(0);
  problem.AddArc(0, 0, 1, 1);
  const ArcIndex arc = problem.AddArc(0, 0, 1, 1);
  problem.SetGain(arc, {1, 2});
  EXPECT_THAT(RefuseUnlessPure(problem)->error, HasSubstr("arc 1: "));
}

TEST(RefuseUnlessPure, NamesTheArcThatIsAllOrNone) {
  FlowProblem problem;
  problem.AddNode(0);
  problem.SetAllOrNone(problem.AddArc(0, 0, 1, 1), true);
  EXPECT_THAT(RefuseUnlessPure(problem)->error, HasSubstr("all-or-none"));
}

TEST(Objective, ChargesTheCheapestSegmentsFirst) {
  FlowProblem problem;
  problem.AddNode(0);
  const CostSegment ladder[] = {{2, 1}, {3, 10}};
  problem.AddConvexArc(0, 0, ladder);
  problem.AddArc(0, 0, 5, -4);
  EXPECT_THAT(Objective(problem, {3, 2}), Optional(1 + 1 + 10 - 8));
}

TEST(Objective, HasNoneBeyond64Bits) {
  FlowProblem problem;
  problem.AddNode(0);
  problem.AddArc(0, 0, kFlowTotalMax, int64_t{1} << 40);
  EXPECT_EQ(Objective(problem, {kFlowTotalMax}), std::nullopt);
}

TEST(ReachableNodes, GoesBackOnlyAboveLowerBounds) {
  FlowProblem problem;
  for (int i = 0; i < 5; ++i) problem.AddNode(0);
  problem.AddArc(2, 3, 2, 1);     // Full.
  problem.AddArc(2, 1, 3, 1);     // Has room.
  problem.AddArc(4, 1, 2, 1);     // Can give a unit back.
  problem.AddArc(0, 1, 2, 1, 1);  // Is at its bound.
  EXPECT_THAT(ReachableNodes(problem, {2, 0, 1, 1}, 2), ElementsAre(1, 2, 4));
}

}  // namespace
}  // namespace sluice
