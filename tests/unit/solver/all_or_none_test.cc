#include "solver/all_or_none.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "solver/registry.h"
#include "solver/verify.h"
#include "solver/verify_generalized.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Supply 4 to be had over all-or-none arcs of capacities 3, 2 and 2, the last
// two dearer a unit, or one at a time at 100: the gangs of a job, say.
FlowProblem Gangs() {
  FlowProblem problem;
  problem.AddNode(4);
  problem.AddNode(-4);
  problem.SetAllOrNone(problem.AddArc(0, 1, 3, 1), true);
  problem.SetAllOrNone(problem.AddArc(0, 1, 2, 5), true);
  problem.SetAllOrNone(problem.AddArc(0, 1, 2, 5), true);
  problem.AddArc(0, 1, 4, 100);
  return problem;
}

class AllOrNoneTest : public testing::TestWithParam<SolverEntry> {
 protected:
  AllOrNoneResult<FlowSolution> Solve(const FlowProblem& problem,
                                      const AllOrNoneLimits& limits = {}) {
    const std::unique_ptr<Solver> solver = GetParam().make();
    AllOrNoneResult<FlowSolution> result =
        SolveAllOrNone(problem, *solver, limits);
    if (result.has_flow()) {
      EXPECT_THAT(VerifySolution(FixAllOrNone(problem, result.solution.flows),
                                 result.solution),
                  IsOk());
      EXPECT_LE(result.bound, result.solution.objective);
    }
    return result;
  }
};

TEST_P(AllOrNoneTest, TakesTheChoiceThatIsCheapestAsAWhole) {
  // The relaxation would take the cheap three and one of a dear two.
  const auto result = Solve(Gangs());
  EXPECT_EQ(result.outcome, SolveOutcome::kOptimal);
  EXPECT_THAT(result.solution.flows, ElementsAre(0, 2, 2, 0));
  EXPECT_EQ(result.solution.objective, 20);
  EXPECT_EQ(result.bound, 20);
  EXPECT_EQ(result.gap(), 0);
  EXPECT_GT(result.node_count, 1);
  EXPECT_GT(result.work.arc_scans, 0);
  EXPECT_THAT(result.error, IsEmpty());
}

TEST_P(AllOrNoneTest, NeedsNoSearchWhereNothingIsMarked) {
  FlowProblem problem = Gangs();
  for (const ArcIndex arc : {0, 1, 2}) problem.SetAllOrNone(arc, false);
  const auto result = Solve(problem);
  EXPECT_EQ(result.solution.objective, 3 + 5);
  EXPECT_EQ(result.node_count, 1);
}

TEST_P(AllOrNoneTest, FillsWhatMustCarrySomething) {
  FlowProblem problem = Gangs();
  problem.SetArc(0, 3, 1, 1);
  EXPECT_THAT(Solve(problem).solution.flows, ElementsAre(3, 0, 0, 1));
}

TEST_P(AllOrNoneTest, TakesConvexAndClosedArcsWhole) {
  FlowProblem problem;
  problem.AddNode(3);
  problem.AddNode(-3);
  const CostSegment ladder[] = {{1, 1}, {2, 10}};
  problem.SetAllOrNone(problem.AddConvexArc(0, 1, ladder), true);
  problem.SetAllOrNone(problem.AddArc(0, 1, 0, -9), true);
  problem.AddArc(0, 1, 3, 6);
  // One over the ladder and two beside it would cost 13.
  EXPECT_EQ(Solve(problem).solution.objective, 18);
  problem.SetArc(2, 3, 8);
  EXPECT_EQ(Solve(problem).solution.objective, 21);
}

TEST_P(AllOrNoneTest, PassesOnTheProofThatTheRelaxationIsInfeasible) {
  FlowProblem problem = Gangs();
  problem.SetSupply(0, 40);
  problem.SetSupply(1, -40);
  const auto result = Solve(problem);
  EXPECT_EQ(result.outcome, SolveOutcome::kInfeasible);
  EXPECT_EQ(result.node_count, 1);
  EXPECT_THAT(result.solution.witness_cut, ElementsAre(0));
  EXPECT_THAT(result.error, HasSubstr("exceeds"));
}

TEST_P(AllOrNoneTest, FindsThatNoChoiceHasAFlow) {
  FlowProblem problem = Gangs();
  problem.SetArc(3, 0, 100);
  problem.SetSupply(0, 6);
  problem.SetSupply(1, -6);
  const auto result = Solve(problem);
  EXPECT_EQ(result.outcome, SolveOutcome::kInfeasible);
  EXPECT_EQ(result.solution.outcome, SolveOutcome::kInfeasible);
  EXPECT_THAT(result.solution.witness_cut, IsEmpty());
  EXPECT_THAT(result.error, HasSubstr("no choice of the 3"));
}

// All-or-none arcs of even capacities only: no choice of them makes up the odd
// supply, and which comes nearest at what cost takes a search.
FlowProblem Knapsack() {
  FlowProblem problem;
  problem.AddNode(21);
  problem.AddNode(-21);
  for (int i = 0; i < 10; ++i) {
    const int width = 2 * (1 + i % 3);
    problem.SetAllOrNone(problem.AddArc(0, 1, width, 10 + (i * 7) % 5), true);
  }
  problem.AddArc(0, 1, 21, 1000);
  return problem;
}

TEST_P(AllOrNoneTest, KeepsTheBestFlowWhenItsNodesAreSpent) {
  const auto whole = Solve(Knapsack());
  ASSERT_EQ(whole.outcome, SolveOutcome::kOptimal);
  ASSERT_GT(whole.node_count, 30);
  const auto part = Solve(Knapsack(), {.nodes_max = 30});
  EXPECT_EQ(part.outcome, SolveOutcome::kBudgetSpent);
  EXPECT_EQ(part.error, "budget spent");
  EXPECT_EQ(part.node_count, 30);
  ASSERT_TRUE(part.has_flow());
  EXPECT_LE(part.bound, whole.solution.objective);
  EXPECT_GE(part.solution.objective, whole.solution.objective);
  EXPECT_GT(part.gap(), 0);
}

TEST_P(AllOrNoneTest, SpendsItsWorkOverAllRelaxations) {
  const auto whole = Solve(Knapsack());
  const auto part =
      Solve(Knapsack(), {.solve = {.work_max = whole.work.arc_scans / 2}});
  EXPECT_EQ(part.outcome, SolveOutcome::kBudgetSpent);
  EXPECT_LT(part.node_count, whole.node_count);
}

TEST_P(AllOrNoneTest, KeepsTheBestFlowWhenTheWorkOfTheSearchIsSpent) {
  const auto whole = Solve(Knapsack(), {.search_work_max = 0});
  ASSERT_EQ(whole.outcome, SolveOutcome::kOptimal);
  const AllOrNoneLimits limits = {.search_work_max = whole.work.arc_scans / 2};
  const auto part = Solve(Knapsack(), limits);
  EXPECT_EQ(part.outcome, SolveOutcome::kBudgetSpent);
  EXPECT_LT(part.node_count, whole.node_count);
  ASSERT_TRUE(part.has_flow());
  // It stands for the optimum, as a round has no use for less.
  const FlowSolution best =
      SolveWithAllOrNone(Knapsack(), *GetParam().make(), limits);
  EXPECT_EQ(best.outcome, SolveOutcome::kOptimal);
  EXPECT_EQ(best.objective, part.solution.objective);
  EXPECT_THAT(VerifyWithAllOrNone(Knapsack(), best), IsOk());
}

TEST_P(AllOrNoneTest, ClosesAllArcsWhenTheWorkIsSpentBeforeAFlow) {
  const AllOrNoneLimits limits = {.search_work_max = 1};
  const auto part = Solve(Gangs(), limits);
  EXPECT_EQ(part.node_count, 1) << "the first is always solved";
  EXPECT_FALSE(part.has_flow());
  const FlowSolution closed =
      SolveWithAllOrNone(Gangs(), *GetParam().make(), limits);
  EXPECT_EQ(closed.outcome, SolveOutcome::kOptimal);
  EXPECT_THAT(closed.flows, ElementsAre(0, 0, 0, 4));
  EXPECT_THAT(VerifyWithAllOrNone(Gangs(), closed), IsOk());
}

TEST_P(AllOrNoneTest, SaysThatItIsSpentWhereArcsCannotBeClosed) {
  FlowProblem problem = Gangs();
  problem.SetArc(3, 0, 100);
  EXPECT_EQ(
      SolveWithAllOrNone(problem, *GetParam().make(), {.search_work_max = 1})
          .outcome,
      SolveOutcome::kBudgetSpent);
}

TEST_P(AllOrNoneTest, StopsWhenItIsCancelled) {
  const std::atomic<bool> cancelled = true;
  const auto result = Solve(Gangs(), {.solve = {.cancelled = &cancelled}});
  EXPECT_EQ(result.outcome, SolveOutcome::kCancelled);
  EXPECT_EQ(result.solution.outcome, SolveOutcome::kCancelled);
}

TEST_P(AllOrNoneTest, IsVerifiedWithEachArcAtAnEnd) {
  FlowSolution solution = Solve(Gangs()).solution;
  EXPECT_THAT(VerifyWithAllOrNone(Gangs(), solution), IsOk());
  solution.flows[1] = 1;
  EXPECT_THAT(VerifyWithAllOrNone(Gangs(), solution).message(),
              HasSubstr("neither nothing nor all"));
}

// A solver's fault that must end one round, not the process.
TEST_P(AllOrNoneTest, IsNotVerifiedWithoutAFlowForEachArc) {
  FlowSolution solution = Solve(Gangs()).solution;
  solution.flows.pop_back();
  EXPECT_THAT(VerifyWithAllOrNone(Gangs(), solution).message(),
              HasSubstr("3 flows"));
  solution.flows.clear();
  EXPECT_THAT(VerifyWithAllOrNone(Gangs(), solution).message(),
              HasSubstr("0 flows"));
}

TEST_P(AllOrNoneTest, RefusesWhatTheSolverRefuses) {
  FlowProblem problem = Gangs();
  problem.SetGain(1, {1, 2});
  const auto result = Solve(problem);
  EXPECT_EQ(result.outcome, SolveOutcome::kInvalidProblem);
  EXPECT_THAT(result.error, HasSubstr("arc 1"));
}

TEST_P(AllOrNoneTest, RefusesBoundsThatContradictEachOther) {
  FlowProblem problem = Gangs();
  problem.SetArc(1, 2, 5, 3);
  const auto result = Solve(problem);
  EXPECT_EQ(result.outcome, SolveOutcome::kInvalidProblem);
  EXPECT_THAT(result.error, HasSubstr("arc 1: lower bound 3"));
}

INSTANTIATE_TEST_SUITE_P(All, AllOrNoneTest,
                         testing::ValuesIn(Solvers().begin(), Solvers().end()),
                         [](const auto& instance) {
                           return std::string(instance.param.name);
                         });

// The "and" construct: of two tasks both are placed or none.  Each sends its
// unit to the gate over an arc of gain 1/2, or waits; only both fill the arc
// from the gate, which makes two units of its one on the way to the machine.
class AndConstructTest : public testing::Test {
 protected:
  enum Arc : ArcIndex { kJoin0, kJoin1, kWait0, kWait1, kGate, kRun };

  AndConstructTest() {
    constexpr NodeIndex kGateNode = 2;
    constexpr NodeIndex kMachine = 3;
    constexpr NodeIndex kSink = 4;
    for (const FlowUnits supply : {1, 1, 0, 0, -2}) problem_.AddNode(supply);
    for (const NodeIndex task : {0, 1}) {
      problem_.SetGain(problem_.AddArc(task, kGateNode, 1, 0), {1, 2});
    }
    for (const NodeIndex task : {0, 1}) problem_.AddArc(task, kSink, 1, 100);
    problem_.SetGain(problem_.AddArc(kGateNode, kMachine, 1, 0), {2, 1});
    problem_.AddArc(kMachine, kSink, 2, 10);
  }

  void SetRoomOnMachine(FlowUnits slots) { problem_.SetArc(kRun, slots, 10); }

  std::vector<double> AllOrNoneFlows() {
    GeneralizedSolver solver;
    problem_.SetAllOrNone(kGate, true);
    const auto result = SolveAllOrNone(problem_, solver);
    EXPECT_EQ(result.outcome, SolveOutcome::kOptimal) << result.error;
    EXPECT_THAT(VerifyGeneralized(FixAllOrNone(problem_, result.solution.flows),
                                  result.solution),
                IsOk());
    EXPECT_THAT(result.gap(), DoubleEq(0));
    return result.solution.flows;
  }

  FlowProblem problem_;
};

TEST_F(AndConstructTest, PlacesBothWhereThereIsRoom) {
  SetRoomOnMachine(2);
  EXPECT_THAT(AllOrNoneFlows(), ElementsAre(1, 1, 0, 0, 1, 2));
}

TEST_F(AndConstructTest, GainsAlonePlaceHalfOfTheGang) {
  SetRoomOnMachine(1);
  const GeneralizedSolution relaxed = GeneralizedSolver().Solve(problem_);
  EXPECT_THAT(relaxed.flows[kGate], DoubleEq(0.5));
  EXPECT_THAT(relaxed.flows[kRun], DoubleEq(1));
}

TEST_F(AndConstructTest, AllOrNoneLeavesBothWaiting) {
  SetRoomOnMachine(1);
  EXPECT_THAT(AllOrNoneFlows(), ElementsAre(0, 0, 1, 1, 0, 0));
}

TEST_F(AndConstructTest, ReportsWhenNeitherIsPossible) {
  SetRoomOnMachine(1);
  problem_.SetArc(kWait0, 0, 100);
  problem_.SetAllOrNone(kGate, true);
  GeneralizedSolver solver;
  const auto result = SolveAllOrNone(problem_, solver);
  EXPECT_EQ(result.outcome, SolveOutcome::kInfeasible);
  EXPECT_THAT(result.solution.potentials, IsEmpty());
  EXPECT_THAT(result.error, HasSubstr("the 1 all-or-none arcs"));
}

TEST_F(AndConstructTest, PassesOnTheProofThatTheRelaxationIsInfeasible) {
  SetRoomOnMachine(0);
  problem_.SetArc(kWait0, 0, 100);
  problem_.SetAllOrNone(kGate, true);
  GeneralizedSolver solver;
  const auto result = SolveAllOrNone(problem_, solver);
  EXPECT_EQ(result.node_count, 1);
  problem_.SetAllOrNone(kGate, false);
  EXPECT_THAT(VerifyGeneralizedInfeasible(problem_, result.solution), IsOk());
}

}  // namespace
}  // namespace sluice
