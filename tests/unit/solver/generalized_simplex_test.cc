#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "flow/validate.h"
#include "sluice/flow/problem.h"
#include "sluice/solver/generalized.h"
#include "solver/verify_generalized.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using ::testing::DoubleEq;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

FlowProblem WithSupplies(const std::vector<FlowUnits>& supplies) {
  FlowProblem problem;
  for (const FlowUnits supply : supplies) problem.AddNode(supply);
  return problem;
}

ArcIndex AddGainArc(NodeIndex tail, NodeIndex head, FlowUnits capacity,
                    FlowCost cost, FlowGain gain, FlowProblem* problem) {
  const ArcIndex arc = problem->AddArc(tail, head, capacity, cost);
  problem->SetGain(arc, gain);
  return arc;
}

// Solves, checks the proof of the optimum and returns the flows.
std::vector<double> OptimalFlows(const FlowProblem& problem) {
  const GeneralizedSolution solution = GeneralizedSolver().Solve(problem);
  EXPECT_EQ(solution.outcome, SolveOutcome::kOptimal) << solution.error;
  EXPECT_THAT(VerifyGeneralized(problem, solution), IsOk());
  EXPECT_THAT(solution.error, IsEmpty());
  return solution.flows;
}

void ExpectProvenInfeasible(const FlowProblem& problem) {
  const GeneralizedSolution solution = GeneralizedSolver().Solve(problem);
  EXPECT_EQ(solution.outcome, SolveOutcome::kInfeasible);
  EXPECT_THAT(VerifyGeneralizedInfeasible(problem, solution), IsOk());
  EXPECT_THAT(solution.error, HasSubstr("no way to balance"));
  EXPECT_THAT(solution.flows, IsEmpty());
}

TEST(GeneralizedSimplex, SolvesNothing) {
  EXPECT_THAT(OptimalFlows(FlowProblem()), IsEmpty());
  EXPECT_THAT(OptimalFlows(WithSupplies({0, 0})), IsEmpty());
}

TEST(GeneralizedSimplex, DeliversWhatTheGainMakesOfTheFlow) {
  FlowProblem problem = WithSupplies({3, -4});
  AddGainArc(0, 1, 5, 1, {4, 3}, &problem);
  EXPECT_THAT(OptimalFlows(problem), ElementsAre(DoubleEq(3)));
}

TEST(GeneralizedSimplex, WeighsGainsAgainstCosts) {
  // A unit at node 1 costs 6 over the first arc and 5 over the second; what
  // the source keeps is swallowed.
  FlowProblem problem = WithSupplies({9, -4});
  AddGainArc(0, 1, 9, 12, {2, 1}, &problem);
  AddGainArc(0, 1, 9, 15, {3, 1}, &problem);
  AddGainArc(0, 0, 99, 0, {1, 2}, &problem);
  EXPECT_THAT(OptimalFlows(problem),
              ElementsAre(0, DoubleEq(4. / 3), DoubleNear(46. / 3, 1e-12)));
}

TEST(GeneralizedSimplex, LetsASelfLoopSwallowWhatItDoesNotReturn) {
  FlowProblem problem = WithSupplies({3});
  AddGainArc(0, 0, 10, 1, {1, 2}, &problem);
  EXPECT_THAT(OptimalFlows(problem), ElementsAre(DoubleEq(6)));
  // Six would have to flow.
  problem.SetArc(0, 5, 1);
  ExpectProvenInfeasible(problem);
}

TEST(GeneralizedSimplex, LetsASelfLoopBringWhatIsMissing) {
  FlowProblem problem = WithSupplies({-3});
  AddGainArc(0, 0, 10, 1, {3, 2}, &problem);
  EXPECT_THAT(OptimalFlows(problem), ElementsAre(DoubleEq(6)));
  problem.SetSupply(0, 3);
  ExpectProvenInfeasible(problem);
}

TEST(GeneralizedSimplex, GrowsFlowAroundACycle) {
  // Each turn around 0 -> 1 -> 0 makes 3/2 of it, and 1 -> 2 is wanted.
  FlowProblem problem = WithSupplies({0, 0, -3});
  AddGainArc(0, 1, 100, 1, {3, 2}, &problem);
  problem.AddArc(1, 0, 100, 1);
  problem.AddArc(1, 2, 100, 1);
  EXPECT_THAT(OptimalFlows(problem),
              ElementsAre(DoubleEq(6), DoubleEq(6), DoubleEq(3)));
}

TEST(GeneralizedSimplex, FillsCheapSegmentsFirst) {
  // Half of what the ladder carries is wanted, and the way around costs 5.
  FlowProblem problem = WithSupplies({5, -2});
  const CostSegment ladder[] = {{1, 1}, {1, 4}, {2, 9}};
  problem.SetGain(problem.AddConvexArc(0, 1, ladder), {1, 2});
  AddGainArc(0, 1, 9, 5, {1, 2}, &problem);
  AddGainArc(0, 0, 9, 0, {1, 2}, &problem);
  EXPECT_THAT(OptimalFlows(problem),
              ElementsAre(DoubleEq(2), DoubleEq(2), DoubleEq(2)));
}

TEST(GeneralizedSimplex, MeetsLowerBoundsInsideASegment) {
  FlowProblem problem = WithSupplies({5, -3});
  const CostSegment dear[] = {{2, 5}, {4, 50}};
  problem.SetGain(problem.AddConvexArc(0, 1, dear, 3), {1, 2});
  problem.AddArc(0, 1, 9, 1);
  AddGainArc(0, 0, 9, 0, {1, 2}, &problem);
  const GeneralizedSolution solution = GeneralizedSolver().Solve(problem);
  EXPECT_THAT(VerifyGeneralized(problem, solution), IsOk());
  EXPECT_THAT(solution.flows,
              ElementsAre(DoubleEq(3), DoubleEq(1.5), DoubleEq(1)));
  EXPECT_THAT(solution.objective, DoubleEq(2 * 5 + 50 + 1.5));
}

TEST(GeneralizedSimplex, ProvesThatLowerBoundsTakeTooMuch) {
  FlowProblem problem = WithSupplies({4, -3});
  AddGainArc(0, 1, 9, 0, {1, 2}, &problem);
  problem.SetArc(0, 9, 0, 3);
  problem.AddArc(0, 1, 9, 1);
  ExpectProvenInfeasible(problem);
}

TEST(GeneralizedSimplex, TakesParallelClosedAndBalancedLoops) {
  FlowProblem problem = WithSupplies({4, -2});
  AddGainArc(0, 1, 2, 3, {1, 2}, &problem);
  AddGainArc(0, 1, 9, 3, {1, 2}, &problem);
  AddGainArc(0, 1, 0, -9, {5, 1}, &problem);
  problem.AddConvexArc(0, 1, {});
  problem.AddArc(1, 1, 7, -1);  // Changes nothing but the objective.
  const GeneralizedSolution solution = GeneralizedSolver().Solve(problem);
  EXPECT_THAT(VerifyGeneralized(problem, solution), IsOk());
  EXPECT_THAT(solution.objective, DoubleEq(12 - 7));
}

TEST(GeneralizedSimplex, ProvesThatSupplyIsStranded) {
  FlowProblem problem = WithSupplies({1, 0, 0});
  AddGainArc(1, 2, 5, 0, {1, 2}, &problem);
  ExpectProvenInfeasible(problem);
}

TEST(GeneralizedSimplex, ProvesThatWholeSuppliesCannotMatch) {
  // Three units arrive as two, and nothing may be left over.
  FlowProblem problem = WithSupplies({4, -2});
  AddGainArc(0, 1, 9, 1, {2, 3}, &problem);
  ExpectProvenInfeasible(problem);
}

struct BadInput {
  const char* name;
  FlowProblem problem;
  SolveOutcome outcome;
  const char* error;
};

std::vector<BadInput> BadInputs() {
  std::vector<BadInput> inputs;
  const auto add = [&inputs](const char* name, SolveOutcome outcome,
                             const char* error) -> FlowProblem* {
    inputs.push_back({name, WithSupplies({0, 0}), outcome, error});
    inputs.back().problem.SetGain(inputs.back().problem.AddArc(0, 1, 4, 1),
                                  {1, 2});
    return &inputs.back().problem;
  };
  constexpr SolveOutcome kInvalid = SolveOutcome::kInvalidProblem;
  add("no gain", kInvalid, "arc 0: gain 0/1")->SetGain(0, {0, 1});
  add("negative", kInvalid, "arc 0: gain -1/2")->SetGain(0, {-1, 2});
  add("by zero", kInvalid, "arc 0: gain 1/0")->SetGain(0, {1, 0});
  add("bounds", kInvalid, "arc 0: lower bound 5")->SetArc(0, 4, 1, 5);
  add("no node", kInvalid, "arc 1: no node 2")->AddArc(0, 2, 1, 1);
  add("all or none", kInvalid, "arc 0: ")->SetAllOrNone(0, true);
  FlowProblem* unbalanced = add("no gains at all", kInvalid, "add up to 1");
  unbalanced->SetGain(0, {1, 1});
  unbalanced->SetSupply(0, 1);
  constexpr SolveOutcome kRange = SolveOutcome::kCostRange;
  add("flow", kRange, "add up to")->SetArc(0, kGeneralizedFlowMax + 1, 1);
  add("cost", kRange, "arc 0: cost")->SetArc(0, 1, kGeneralizedCostMax + 1);
  return inputs;
}

TEST(GeneralizedSimplex, RefusesWhatMakesNoSense) {
  for (const BadInput& input : BadInputs()) {
    SCOPED_TRACE(input.name);
    const GeneralizedSolution solution =
        GeneralizedSolver().Solve(input.problem);
    EXPECT_EQ(solution.outcome, input.outcome);
    EXPECT_THAT(solution.error, HasSubstr(input.error));
    EXPECT_THAT(solution.flows, IsEmpty());
  }
}

TEST(GeneralizedSimplex, IsExactOverAChainOfGains) {
  // What doubles fifty times over halves fifty times over.
  FlowProblem problem = WithSupplies({1});
  for (int i = 0; i < 100; ++i) {
    problem.AddNode(i == 99 ? -1 : 0);
    AddGainArc(i, i + 1, int64_t{1} << 46, 1,
               i % 50 < 25 ? FlowGain{2, 1} : FlowGain{1, 2}, &problem);
  }
  EXPECT_THAT(OptimalFlows(problem).back(), DoubleEq(2));
}

TEST(GeneralizedSimplex, NeverBreaksItsPromiseForCyclesNextToBalance) {
  // Around the cycle a unit gains one part in 10^k.
  for (int32_t parts = 10; parts < 1000000000; parts *= 10) {
    SCOPED_TRACE(parts);
    FlowProblem problem = WithSupplies({0, 0, -1});
    AddGainArc(0, 1, int64_t{1} << 40, 0, {parts + 1, parts}, &problem);
    problem.AddArc(1, 0, int64_t{1} << 40, 0);
    problem.AddArc(1, 2, 1, 0);
    const GeneralizedSolution solution = GeneralizedSolver().Solve(problem);
    if (solution.outcome == SolveOutcome::kCostRange) {
      EXPECT_GT(parts, 1000000);
      EXPECT_THAT(solution.error, HasSubstr("64-bit"));
      continue;
    }
    EXPECT_THAT(VerifyGeneralized(problem, solution), IsOk());
  }
}

// A random problem with no less than `arc_count` arcs to look at.
FlowProblem Large(int arc_count) {
  Rng rng(1);
  FlowProblem problem = WithSupplies(std::vector<FlowUnits>(100));
  for (int i = 0; i < arc_count; ++i) {
    const auto tail = static_cast<NodeIndex>(rng.Below(100));
    const auto head = static_cast<NodeIndex>(rng.Below(100));
    AddGainArc(tail, head, 9, rng.Between(-9, 9), {1, 2}, &problem);
  }
  return problem;
}

TEST(GeneralizedSimplex, StopsWhenItsBudgetIsSpent) {
  const FlowProblem problem = Large(2000);
  const GeneralizedSolution whole = GeneralizedSolver().Solve(problem);
  EXPECT_EQ(whole.outcome, SolveOutcome::kOptimal);
  EXPECT_GT(whole.work.pivots, 100);
  EXPECT_GT(whole.work.arc_scans, 10000);
  const GeneralizedSolution part =
      GeneralizedSolver().Solve(problem, {.work_max = 5000});
  EXPECT_EQ(part.outcome, SolveOutcome::kBudgetSpent);
  EXPECT_EQ(part.error, "budget spent");
  EXPECT_THAT(part.flows, IsEmpty());
  EXPECT_LT(part.work.arc_scans, whole.work.arc_scans);
}

TEST(GeneralizedSimplex, StopsWhenItIsCancelled) {
  const std::atomic<bool> cancelled = true;
  const GeneralizedSolution solution =
      GeneralizedSolver().Solve(Large(2000), {.cancelled = &cancelled});
  EXPECT_EQ(solution.outcome, SolveOutcome::kCancelled);
  EXPECT_EQ(solution.work.pivots, 0);
}

TEST(GeneralizedSimplex, RepeatsItselfExactly) {
  const FlowProblem problem = Large(500);
  const GeneralizedSolution once = GeneralizedSolver().Solve(problem);
  const GeneralizedSolution again = GeneralizedSolver().Solve(problem);
  EXPECT_EQ(once.flows, again.flows);
  EXPECT_EQ(once.potentials, again.potentials);
  EXPECT_EQ(once.work.arc_scans, again.work.arc_scans);
}

TEST(GeneralizedSimplex, EndsWhereAllPivotsAreDegenerate) {
  // An assignment of 40 to 40 at equal costs, each node with a loop that has
  // nothing to do.
  FlowProblem problem;
  for (int i = 0; i < 80; ++i) problem.AddNode(i < 40 ? 1 : -1);
  for (NodeIndex i = 0; i < 40; ++i) {
    for (NodeIndex k = 40; k < 80; ++k) problem.AddArc(i, k, 1, (i * k) % 3);
    AddGainArc(i, i, 1, 1, {1, 2}, &problem);
  }
  for (const double flow : OptimalFlows(problem)) {
    EXPECT_TRUE(flow == 0 || flow == 1) << flow;
  }
}

}  // namespace
}  // namespace sluice
