// The generalized network simplex method against GLPK, against the pure solvers
// and against itself, on random problems.  A failure prints the seed that
// repeats it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "flow/validate.h"
#include "oracle/random_gains.h"
#include "oracle/random_problem.h"
#include "sluice/flow/problem.h"
#include "sluice/solver/generalized.h"
#include "sluice/solver/solver.h"
#include "solver/registry.h"
#include "solver/verify.h"
#include "solver/verify_generalized.h"
#include "util/status_matchers.h"
#ifdef SLUICE_HAVE_GLPK
#include "oracle/glpk_reference.h"
#endif

namespace sluice {
namespace {

constexpr RandomShape kTiny = {.capacity_max = 3, .segment_count_max = 2};
constexpr RandomShape kSmall = {.node_count_max = 12,
                                .arc_count_max = 20,
                                .capacity_max = 9,
                                .segment_count_max = 3};
constexpr RandomShape kMedium = {.node_count_max = 40,
                                 .arc_count_max = 200,
                                 .capacity_max = 20,
                                 .segment_count_max = 5};

// Two optima found in doubles.
MATCHER_P(IsAbout, expected, "") {
  return std::abs(arg - expected) <= 1e-7 * (1 + std::abs(expected));
}

// Solves, checks the proof of whatever the outcome is, and returns the optimum,
// or none for an infeasible problem.
std::optional<double> ProvenOptimum(const FlowProblem& problem) {
  const GeneralizedSolution solution = GeneralizedSolver().Solve(problem);
  if (solution.outcome == SolveOutcome::kInfeasible) {
    EXPECT_THAT(VerifyGeneralizedInfeasible(problem, solution), IsOk());
    return std::nullopt;
  }
  EXPECT_EQ(solution.outcome, SolveOutcome::kOptimal) << solution.error;
  EXPECT_THAT(VerifyGeneralized(problem, solution), IsOk());
  return solution.objective;
}

void ExpectSame(std::optional<double> optimum, std::optional<double> expected) {
  ASSERT_EQ(optimum.has_value(), expected.has_value());
  if (optimum.has_value()) {
    EXPECT_THAT(*optimum, IsAbout(*expected));
  }
}

#ifdef SLUICE_HAVE_GLPK

// Returns how many of the problems are infeasible.
int CompareWithGlpk(const RandomShape& shape, uint64_t seed_count) {
  int infeasible_count = 0;
  for (uint64_t seed = 0; seed < seed_count; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const FlowProblem problem = MakeRandomGains(shape, &rng);
    EXPECT_THAT(ValidateProblem(problem), IsOk());
    const GlpkResult glpk = SolveWithGlpk(problem);
    EXPECT_TRUE(glpk.is_conclusive);
    ExpectSame(ProvenOptimum(problem), glpk.objective);
    if (!glpk.objective.has_value()) ++infeasible_count;
    if (testing::Test::HasFailure()) break;
  }
  return infeasible_count;
}

TEST(GeneralizedOracle, AgreesWithGlpkOnTinyProblems) {
  // The generator draws both kinds, or the comparison is worth little.
  const int infeasible_count = CompareWithGlpk(kTiny, 10000);
  EXPECT_GT(infeasible_count, 1000);
  EXPECT_LT(infeasible_count, 5000);
}

TEST(GeneralizedOracle, AgreesWithGlpkOnSmallProblems) {
  EXPECT_GT(CompareWithGlpk(kSmall, 5000), 500);
}

TEST(GeneralizedOracle, AgreesWithGlpkOnMediumProblems) {
  EXPECT_GT(CompareWithGlpk(kMedium, 300), 30);
}

TEST(GeneralizedOracle, AgreesWithGlpkOnLargeProblems) {
  CompareWithGlpk({.node_count_max = 150,
                   .arc_count_max = 1500,
                   .capacity_max = 100,
                   .segment_count_max = 3},
                  30);
}

#else

TEST(GeneralizedOracle, AgreesWithGlpk) {
  GTEST_SKIP() << "GLPK is not installed; the other oracles remain";
}

#endif

// On a network without gains a basis is a forest, and all its numbers are
// whole: rounding removes rounding alone.
TEST(GeneralizedOracle, IsExactWithoutGains) {
  for (uint64_t seed = 0; seed < 1000 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const FlowProblem problem = MakeRandomProblem(kMedium, &rng);
    const FlowSolution pure = MakeSolver("cost_scaling")->Solve(problem);
    const GeneralizedSolution real = GeneralizedSolver().Solve(problem);
    ASSERT_EQ(real.outcome, pure.outcome) << real.error;
    if (real.outcome != SolveOutcome::kOptimal) {
      EXPECT_THAT(VerifyGeneralizedInfeasible(problem, real), IsOk());
      continue;
    }
    FlowSolution rounded;
    rounded.outcome = SolveOutcome::kOptimal;
    for (const double flow : real.flows) {
      rounded.flows.push_back(std::llround(flow));
    }
    for (const double potential : real.potentials) {
      rounded.potentials.push_back(std::llround(potential));
    }
    rounded.objective = pure.objective;
    EXPECT_THAT(VerifySolution(problem, rounded), IsOk());
  }
}

// A copy with costs multiplied, nodes renumbered, all flow in other units, and
// nodes of no use added.
FlowProblem Disguise(const FlowProblem& problem, FlowCost cost_factor,
                     FlowUnits flow_factor,
                     const std::vector<NodeIndex>& number_of) {
  FlowProblem copy;
  for (size_t i = 0; i < number_of.size() + 2; ++i) copy.AddNode(0);
  for (NodeIndex node = 0; node < problem.node_count(); ++node) {
    copy.SetSupply(number_of[static_cast<size_t>(node)],
                   problem.supply(node) * flow_factor);
  }
  // One with a way in and none out, the other out of touch.
  const auto useless = static_cast<NodeIndex>(number_of.size());
  copy.SetGain(copy.AddArc(0, useless, 5, -1), {7, 3});
  for (ArcIndex i = 0; i < problem.arc_count(); ++i) {
    std::vector<CostSegment> segments;
    for (const auto& [width, cost] : problem.segments(i)) {
      segments.push_back({width * flow_factor, cost * cost_factor});
    }
    const FlowProblem::Arc& arc = problem.arc(i);
    const ArcIndex same =
        copy.AddConvexArc(number_of[static_cast<size_t>(arc.tail)],
                          number_of[static_cast<size_t>(arc.head)], segments,
                          arc.lower * flow_factor);
    copy.SetGain(same, problem.gain(i));
  }
  return copy;
}

TEST(GeneralizedOracle, DisguisesDoNotChangeTheOptimum) {
  for (uint64_t seed = 0; seed < 1000 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const FlowProblem problem = MakeRandomGains(kMedium, &rng);
    std::vector<NodeIndex> order(static_cast<size_t>(problem.node_count()));
    std::iota(order.begin(), order.end(), 0);
    rng.Shuffle(order);
    const FlowCost cost_factor = rng.Between(1, 1000);
    const FlowUnits flow_factor = rng.Between(1, 1000);
    std::optional<double> expected = ProvenOptimum(problem);
    if (expected.has_value()) {
      *expected *= static_cast<double>(cost_factor * flow_factor);
    }
    ExpectSame(
        ProvenOptimum(Disguise(problem, cost_factor, flow_factor, order)),
        expected);
  }
}

TEST(GeneralizedOracle, SolutionsThatAreTamperedWithAreRefused) {
  int potentials_that_matter = 0;
  for (uint64_t seed = 0; seed < 500 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const FlowProblem problem = MakeRandomGains(kMedium, &rng);
    const GeneralizedSolution solution = GeneralizedSolver().Solve(problem);
    if (solution.outcome != SolveOutcome::kOptimal) continue;
    const auto tamper = [&rng](double* value) {
      *value += 1e-4 * (1 + std::abs(*value)) * (rng.Chance(1, 2) ? 1 : -1);
    };
    GeneralizedSolution spoiled = solution;
    tamper(&spoiled.objective);
    EXPECT_FALSE(VerifyGeneralized(problem, spoiled).ok());
    for (ArcIndex i = 0; i < problem.arc_count(); ++i) {
      const FlowProblem::Arc& arc = problem.arc(i);
      // A balanced self-loop of no cost may carry anything.
      if (arc.tail == arc.head && problem.gain(i) == FlowGain()) continue;
      spoiled = solution;
      tamper(&spoiled.flows[static_cast<size_t>(i)]);
      EXPECT_FALSE(VerifyGeneralized(problem, spoiled).ok());
      // A flow that could go either way pins the potentials at its ends.
      const double flow = solution.flows[static_cast<size_t>(i)];
      if (arc.tail == arc.head || !arc.is_plain() ||
          flow <= static_cast<double>(arc.lower) + 1e-3 ||
          flow >= static_cast<double>(arc.capacity()) - 1e-3) {
        continue;
      }
      ++potentials_that_matter;
      const NodeIndex node = rng.Chance(1, 2) ? arc.tail : arc.head;
      spoiled = solution;
      double& potential = spoiled.potentials[static_cast<size_t>(node)];
      potential += static_cast<double>(std::abs(arc.whole.cost) + 1) *
                   (rng.Chance(1, 2) ? 1 : -1);
      EXPECT_FALSE(VerifyGeneralized(problem, spoiled).ok());
    }
  }
  EXPECT_GT(potentials_that_matter, 500);
}

// Room for whatever a proof says cannot be balanced takes the proof away.
TEST(GeneralizedOracle, ProofsOfInfeasibilityDoNotProveTooMuch) {
  int proof_count = 0;
  for (uint64_t seed = 0; seed < 2000 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    FlowProblem problem = MakeRandomGains(kSmall, &rng);
    const GeneralizedSolution solution = GeneralizedSolver().Solve(problem);
    if (solution.outcome != SolveOutcome::kInfeasible) continue;
    ++proof_count;
    for (NodeIndex node = 0; node < problem.node_count(); ++node) {
      problem.SetGain(problem.AddArc(node, node, 1000000, 0), {1, 2});
      problem.SetGain(problem.AddArc(node, node, 1000000, 0), {2, 1});
    }
    EXPECT_FALSE(VerifyGeneralizedInfeasible(problem, solution).ok());
    EXPECT_TRUE(ProvenOptimum(problem).has_value());
  }
  EXPECT_GT(proof_count, 200);
}

}  // namespace
}  // namespace sluice
