#include "solver/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "util/status_matchers.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

constexpr auto kWrong = absl::StatusCode::kFailedPrecondition;
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

// Three units from node 0 to node 1: over a ladder of 1, 3, 5, 5 and a plain
// arc of cost 4.  The optimum puts two on the ladder and one on the plain arc.
FlowProblem Problem() {
  FlowProblem problem;
  problem.AddNode(3);
  problem.AddNode(-3);
  const CostSegment ladder[] = {{1, 1}, {1, 3}, {2, 5}};
  problem.AddConvexArc(0, 1, ladder);
  problem.AddArc(0, 1, 2, 4);
  return problem;
}

FlowSolution Optimum() {
  FlowSolution solution;
  solution.outcome = SolveOutcome::kOptimal;
  solution.flows = {2, 1};
  solution.potentials = {0, 4};
  solution.objective = 8;
  return solution;
}

TEST(VerifySolution, AcceptsTheOptimum) {
  EXPECT_THAT(VerifySolution(Problem(), Optimum()), IsOk());
}

TEST(VerifySolution, RefusesAnotherOutcome) {
  FlowSolution solution = Optimum();
  solution.outcome = SolveOutcome::kCancelled;
  EXPECT_THAT(VerifySolution(Problem(), solution),
              StatusIs(kInvalid, HasSubstr("cancelled")));
}

TEST(VerifySolution, RefusesTheWrongSizes) {
  FlowSolution solution = Optimum();
  solution.flows.pop_back();
  EXPECT_THAT(VerifySolution(Problem(), solution),
              StatusIs(kInvalid, HasSubstr("1 flows and 2 potentials")));
  solution = Optimum();
  solution.potentials.push_back(0);
  EXPECT_THAT(VerifySolution(Problem(), solution),
              StatusIs(kInvalid, HasSubstr("2 flows and 3 potentials")));
}

TEST(VerifySolution, NamesTheArcWhoseFlowIsOutOfBounds) {
  FlowSolution solution = Optimum();
  solution.flows = {2, 3};
  EXPECT_THAT(VerifySolution(Problem(), solution),
              StatusIs(kWrong, HasSubstr("arc 1: flow 3 is outside [0, 2]")));
  solution.flows = {-1, 1};
  EXPECT_THAT(VerifySolution(Problem(), solution),
              StatusIs(kWrong, HasSubstr("arc 0: flow -1")));
}

TEST(VerifySolution, NamesTheArcThatShouldCarryMore) {
  FlowSolution solution = Optimum();
  solution.potentials = {0, 6};
  EXPECT_THAT(VerifySolution(Problem(), solution),
              StatusIs(kWrong, HasSubstr("arc 0: one unit more than 2")));
}

TEST(VerifySolution, NamesTheArcThatShouldCarryLess) {
  FlowSolution solution = Optimum();
  solution.flows = {3, 0};
  solution.objective = 9;
  EXPECT_THAT(VerifySolution(Problem(), solution),
              StatusIs(kWrong, HasSubstr("arc 0: one unit less than 3")));
}

TEST(VerifySolution, AllowsADearUnitThatTheLowerBoundAsksFor) {
  FlowProblem problem;
  problem.AddNode(3);
  problem.AddNode(-3);
  problem.AddArc(0, 1, 3, 1);
  problem.AddArc(0, 1, 3, 9, 1);
  FlowSolution solution = Optimum();
  solution.flows = {2, 1};
  solution.potentials = {0, 1};
  solution.objective = 11;
  EXPECT_THAT(VerifySolution(problem, solution), IsOk());
}

TEST(VerifySolution, NamesTheNodeThatLosesFlow) {
  FlowSolution solution = Optimum();
  solution.flows = {2, 0};
  solution.objective = 4;
  EXPECT_THAT(VerifySolution(Problem(), solution),
              StatusIs(kWrong, HasSubstr("node 0: the flow out")));
}

TEST(VerifySolution, RecomputesTheObjective) {
  FlowSolution solution = Optimum();
  solution.objective = 7;
  EXPECT_THAT(VerifySolution(Problem(), solution),
              StatusIs(kWrong, HasSubstr("do not cost the objective 7")));
}

TEST(VerifySolution, DoesNotOverflowOnPotentialsFarApart) {
  FlowSolution solution = Optimum();
  solution.potentials = {std::numeric_limits<FlowCost>::min(),
                         std::numeric_limits<FlowCost>::max()};
  EXPECT_THAT(VerifySolution(Problem(), solution),
              StatusIs(kWrong, HasSubstr("arc 0: one unit more")));
}

}  // namespace
}  // namespace sluice
