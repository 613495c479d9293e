// Branch and bound against all choices of the all-or-none arcs and against
// GLPK, on random problems.  A failure prints the seed that repeats it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "oracle/random_gains.h"
#include "oracle/random_problem.h"
#include "oracle/shortest_paths.h"
#include "sluice/flow/problem.h"
#include "sluice/solver/generalized.h"
#include "solver/all_or_none.h"
#include "solver/registry.h"
#include "solver/verify.h"
#include "solver/verify_generalized.h"
#include "util/status_matchers.h"
#ifdef SLUICE_HAVE_GLPK
#include "oracle/glpk_reference.h"
#endif

namespace sluice {
namespace {

constexpr RandomShape kSmall = {.node_count_max = 6,
                                .arc_count_max = 12,
                                .capacity_max = 4,
                                .segment_count_max = 2};
#ifdef SLUICE_HAVE_GLPK
constexpr RandomShape kMedium = {.node_count_max = 20,
                                 .arc_count_max = 100,
                                 .capacity_max = 9,
                                 .segment_count_max = 3};
#endif

// Of all choices, by number, the optimum of the best; the relaxation of each is
// for `optimum_of` to solve.
template <class Optimum>
auto BestOfAllChoices(const FlowProblem& problem, Optimum optimum_of) {
  const std::vector<ArcIndex> arcs(problem.all_or_none().begin(),
                                   problem.all_or_none().end());
  decltype(optimum_of(problem)) best;
  for (uint32_t choice = 0; choice >> arcs.size() == 0; ++choice) {
    FlowProblem fixed = problem;
    bool is_possible = true;
    for (size_t i = 0; i < arcs.size(); ++i) {
      fixed.SetAllOrNone(arcs[i], false);
      if ((choice >> i & 1) != 0) {
        fixed.SetConvexArc(arcs[i], problem.segments(arcs[i]),
                           problem.arc(arcs[i]).capacity());
      } else {
        is_possible = is_possible && problem.arc(arcs[i]).lower == 0;
        fixed.SetConvexArc(arcs[i], {});
      }
    }
    if (!is_possible) continue;
    const auto optimum = optimum_of(fixed);
    if (optimum.has_value() && (!best.has_value() || *optimum < *best)) {
      best = optimum;
    }
  }
  return best;
}

// Checks what every result promises, and returns the optimum, if there is one.
std::optional<FlowCost> PureOptimum(const FlowProblem& problem,
                                    const SolverEntry& entry) {
  const std::unique_ptr<Solver> solver = entry.make();
  const auto result = SolveAllOrNone(problem, *solver);
  if (result.outcome == SolveOutcome::kInfeasible) {
    EXPECT_FALSE(result.has_flow());
    return std::nullopt;
  }
  EXPECT_EQ(result.outcome, SolveOutcome::kOptimal) << result.error;
  EXPECT_THAT(VerifySolution(FixAllOrNone(problem, result.solution.flows),
                             result.solution),
              IsOk());
  EXPECT_EQ(result.bound, result.solution.objective);
  return result.solution.objective;
}

std::optional<double> GeneralizedOptimum(const FlowProblem& problem) {
  GeneralizedSolver solver;
  const auto result = SolveAllOrNone(problem, solver);
  if (result.outcome == SolveOutcome::kInfeasible) {
    EXPECT_FALSE(result.has_flow());
    return std::nullopt;
  }
  EXPECT_EQ(result.outcome, SolveOutcome::kOptimal) << result.error;
  EXPECT_THAT(VerifyGeneralized(FixAllOrNone(problem, result.solution.flows),
                                result.solution),
              IsOk());
  EXPECT_LE(result.bound, result.solution.objective);
  EXPECT_LE(result.gap(), 1e-8 * (1 + std::abs(result.solution.objective)));
  return result.solution.objective;
}

void ExpectAbout(std::optional<double> optimum, std::optional<double> expected,
                 double tolerance) {
  ASSERT_EQ(optimum.has_value(), expected.has_value());
  if (optimum.has_value()) {
    EXPECT_NEAR(*optimum, *expected, tolerance * (1 + std::abs(*expected)));
  }
}

class AllOrNoneOracle : public testing::TestWithParam<SolverEntry> {};

TEST_P(AllOrNoneOracle, FindsTheBestOfAllChoices) {
  int infeasible_count = 0;
  for (uint64_t seed = 0; seed < 2000 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    FlowProblem problem = MakeRandomProblem(kSmall, &rng);
    MarkAllOrNone(6, &rng, &problem);
    const std::optional<FlowCost> best =
        BestOfAllChoices(problem, ShortestPathsOptimum);
    EXPECT_EQ(PureOptimum(problem, GetParam()), best);
    if (!best.has_value()) ++infeasible_count;
  }
  EXPECT_GT(infeasible_count, 200);
  EXPECT_LT(infeasible_count, 1500);
}

TEST_P(AllOrNoneOracle, StaysBetweenBoundAndFlowOnABudget) {
  int with_gap_count = 0;
  for (uint64_t seed = 0; seed < 2000 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    FlowProblem problem = MakeRandomProblem(kSmall, &rng);
    MarkAllOrNone(6, &rng, &problem);
    const std::unique_ptr<Solver> solver = GetParam().make();
    const auto result =
        SolveAllOrNone(problem, *solver, {.nodes_max = rng.Between(1, 6)});
    if (!result.has_flow()) continue;
    const std::optional<FlowCost> best =
        BestOfAllChoices(problem, ShortestPathsOptimum);
    ASSERT_TRUE(best.has_value());
    EXPECT_LE(result.bound, *best);
    EXPECT_GE(result.solution.objective, *best);
    if (result.gap() > 0) ++with_gap_count;
  }
  EXPECT_GT(with_gap_count, 10);
}

TEST_P(AllOrNoneOracle, AgreesWithGlpk) {
#ifdef SLUICE_HAVE_GLPK
  for (uint64_t seed = 0; seed < 300 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    FlowProblem problem = MakeRandomProblem(kMedium, &rng);
    MarkAllOrNone(10, &rng, &problem);
    const GlpkResult glpk = SolveAllOrNoneWithGlpk(problem);
    ASSERT_TRUE(glpk.is_conclusive);
    ExpectAbout(PureOptimum(problem, GetParam()), glpk.objective, 1e-7);
  }
#else
  GTEST_SKIP() << "GLPK is not installed; the other oracles remain";
#endif
}

INSTANTIATE_TEST_SUITE_P(All, AllOrNoneOracle,
                         testing::ValuesIn(Solvers().begin(), Solvers().end()),
                         [](const auto& instance) {
                           return std::string(instance.param.name);
                         });

TEST(AllOrNoneGainsOracle, FindsTheBestOfAllChoices) {
  const auto optimum_of = [](const FlowProblem& problem) {
    const GeneralizedSolution solution = GeneralizedSolver().Solve(problem);
    const bool is_optimal = solution.outcome == SolveOutcome::kOptimal;
    return is_optimal ? std::optional(solution.objective) : std::nullopt;
  };
  for (uint64_t seed = 0; seed < 2000 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    FlowProblem problem = MakeRandomGains(kSmall, &rng);
    MarkAllOrNone(6, &rng, &problem);
    ExpectAbout(GeneralizedOptimum(problem),
                BestOfAllChoices(problem, optimum_of), 1e-8);
  }
}

TEST(AllOrNoneGainsOracle, AgreesWithGlpk) {
#ifdef SLUICE_HAVE_GLPK
  for (uint64_t seed = 0; seed < 1000 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    FlowProblem problem =
        MakeRandomGains(seed % 4 == 0 ? kMedium : kSmall, &rng);
    MarkAllOrNone(8, &rng, &problem);
    const GlpkResult glpk = SolveAllOrNoneWithGlpk(problem);
    ASSERT_TRUE(glpk.is_conclusive);
    ExpectAbout(GeneralizedOptimum(problem), glpk.objective, 1e-7);
  }
#else
  GTEST_SKIP() << "GLPK is not installed; the other oracles remain";
#endif
}

}  // namespace
}  // namespace sluice
