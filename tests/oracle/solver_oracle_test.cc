// Every registered solver against independent opinions, on random problems.
// A failure prints the seed that repeats it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "flow/validate.h"
#include "oracle/brute_force.h"
#include "oracle/random_problem.h"
#include "oracle/shortest_paths.h"
#include "oracle/witness_cut.h"
#include "sluice/flow/problem.h"
#include "sluice/solver/solver.h"
#include "solver/registry.h"
#include "solver/verify.h"
#include "util/status_matchers.h"
#ifdef SLUICE_HAVE_LEMON
#include "oracle/lemon_problem.h"
#endif

namespace sluice {
namespace {

constexpr RandomShape kTiny = {};
constexpr RandomShape kMedium = {.node_count_max = 30,
                                 .arc_count_max = 150,
                                 .capacity_max = 9,
                                 .segment_count_max = 6};

class SolverOracle : public testing::TestWithParam<SolverEntry> {
 protected:
  FlowSolution Solve(const FlowProblem& problem) {
    return GetParam().make()->Solve(problem);
  }

  // Solves, checks the proof of whatever the outcome is, and returns the
  // optimum, or none for an infeasible problem.
  std::optional<FlowCost> ProvenOptimum(const FlowProblem& problem) {
    const FlowSolution solution = Solve(problem);
    if (solution.outcome == SolveOutcome::kInfeasible) {
      EXPECT_THAT(VerifyWitnessCut(problem, solution.witness_cut), IsOk());
      return std::nullopt;
    }
    EXPECT_EQ(solution.outcome, SolveOutcome::kOptimal) << solution.error;
    EXPECT_THAT(VerifySolution(problem, solution), IsOk());
    return solution.objective;
  }
};

TEST_P(SolverOracle, AgreesWithBruteForceOnTinyProblems) {
  int infeasible_count = 0;
  for (uint64_t seed = 0; seed < 20000 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    RandomShape shape = kTiny;
    shape.segment_count_max = 2;
    shape.capacity_max = 2;
    const FlowProblem problem = MakeRandomProblem(shape, &rng);
    ASSERT_THAT(ValidateProblem(problem), IsOk());
    const std::optional<FlowCost> optimum = BruteForceOptimum(problem);
    ASSERT_EQ(ProvenOptimum(problem), optimum);
    // The other oracle had better agree with this one.
    ASSERT_EQ(ShortestPathsOptimum(problem), optimum);
    if (!optimum.has_value()) ++infeasible_count;
  }
  // The generator draws both kinds, or the comparison is worth little.
  EXPECT_GT(infeasible_count, 2000);
  EXPECT_LT(infeasible_count, 10000);
}

TEST_P(SolverOracle, AgreesWithSuccessiveShortestPaths) {
  for (uint64_t seed = 0; seed < 5000 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const FlowProblem problem = MakeRandomProblem(kMedium, &rng);
    ASSERT_EQ(ProvenOptimum(problem), ShortestPathsOptimum(problem));
  }
}

TEST_P(SolverOracle, AgreesWithSuccessiveShortestPathsOnClusters) {
  for (uint64_t seed = 0; seed < 1000 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const FlowProblem problem =
        MakeRandomCluster(static_cast<int>(rng.Between(1, 8)),
                          static_cast<int>(rng.Between(1, 20)), 30, &rng);
    const std::optional<FlowCost> optimum = ProvenOptimum(problem);
    ASSERT_TRUE(optimum.has_value());
    ASSERT_EQ(optimum, ShortestPathsOptimum(problem));
  }
}

TEST_P(SolverOracle, AgreesWithLemon) {
#ifdef SLUICE_HAVE_LEMON
  for (uint64_t seed = 0; seed < 200 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const FlowProblem problem =
        seed % 2 == 0 ? MakeRandomProblem({.node_count_max = 300,
                                           .arc_count_max = 3000,
                                           .capacity_max = 100,
                                           .segment_count_max = 5},
                                          &rng)
                      : MakeRandomCluster(20, 100, 60, &rng);
    ASSERT_EQ(ProvenOptimum(problem), OptimumByLemon(problem));
  }
#else
  GTEST_SKIP() << "LEMON is not installed; the other oracles remain";
#endif
}

TEST_P(SolverOracle, SolutionsThatAreTamperedWithAreRefused) {
  int potentials_that_matter = 0;
  for (uint64_t seed = 0; seed < 500 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const FlowProblem problem = MakeRandomProblem(kMedium, &rng);
    const FlowSolution solution = Solve(problem);
    if (solution.outcome != SolveOutcome::kOptimal) continue;
    FlowSolution spoiled = solution;
    spoiled.objective += rng.Chance(1, 2) ? 1 : -1;
    EXPECT_FALSE(VerifySolution(problem, spoiled).ok());
    for (ArcIndex i = 0; i < problem.arc_count(); ++i) {
      // A self-loop of no cost may carry anything.
      if (problem.arc(i).tail == problem.arc(i).head) continue;
      spoiled = solution;
      spoiled.flows[static_cast<size_t>(i)] += rng.Chance(1, 2) ? 1 : -1;
      EXPECT_FALSE(VerifySolution(problem, spoiled).ok());
    }
    // A unit of flow that could go either way pins the two potentials.
    for (ArcIndex i = 0; i < problem.arc_count(); ++i) {
      const FlowProblem::Arc& arc = problem.arc(i);
      const FlowUnits flow = solution.flows[static_cast<size_t>(i)];
      if (arc.tail == arc.head || !arc.is_plain() || flow == arc.lower ||
          flow == arc.capacity()) {
        continue;
      }
      ++potentials_that_matter;
      const NodeIndex node = rng.Chance(1, 2) ? arc.tail : arc.head;
      spoiled = solution;
      spoiled.potentials[static_cast<size_t>(node)] +=
          rng.Chance(1, 2) ? 1 : -1;
      EXPECT_FALSE(VerifySolution(problem, spoiled).ok());
    }
  }
  EXPECT_GT(potentials_that_matter, 100);
}

// A copy with costs multiplied, nodes renumbered and nodes of no use added.
FlowProblem Disguise(const FlowProblem& problem, FlowCost factor,
                     const std::vector<NodeIndex>& number_of, int useless) {
  std::vector<FlowUnits> supplies(number_of.size() +
                                  static_cast<size_t>(useless));
  for (NodeIndex node = 0; node < problem.node_count(); ++node) {
    supplies[static_cast<size_t>(number_of[static_cast<size_t>(node)])] =
        problem.supply(node);
  }
  FlowProblem copy;
  for (const FlowUnits supply : supplies) copy.AddNode(supply);
  for (ArcIndex i = 0; i < problem.arc_count(); ++i) {
    std::vector<CostSegment> segments;
    for (const auto& [width, cost] : problem.segments(i)) {
      segments.push_back({width, cost * factor});
    }
    const FlowProblem::Arc& arc = problem.arc(i);
    copy.AddConvexArc(number_of[static_cast<size_t>(arc.tail)],
                      number_of[static_cast<size_t>(arc.head)], segments,
                      arc.lower);
  }
  for (int i = 0; i < useless; ++i) {
    // Some with a way in and none out, the others out of touch.
    if (i % 2 == 0) {
      copy.AddArc(0, static_cast<NodeIndex>(number_of.size()) + i, 5, -1);
    }
  }
  return copy;
}

TEST_P(SolverOracle, DisguisesDoNotChangeTheOptimum) {
  for (uint64_t seed = 0; seed < 500 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const FlowProblem problem = MakeRandomProblem(kMedium, &rng);
    const std::optional<FlowCost> optimum = ProvenOptimum(problem);
    std::vector<NodeIndex> order(static_cast<size_t>(problem.node_count()));
    std::iota(order.begin(), order.end(), 0);
    EXPECT_EQ(ProvenOptimum(Disguise(problem, 1, order, 6)), optimum);
    const FlowCost factor = rng.Between(2, 1000);
    rng.Shuffle(order);
    const std::optional<FlowCost> scaled =
        ProvenOptimum(Disguise(problem, factor, order, 0));
    ASSERT_EQ(scaled.has_value(), optimum.has_value());
    if (optimum.has_value()) {
      EXPECT_EQ(*scaled, *optimum * factor);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SolverOracle,
                         testing::ValuesIn(Solvers().begin(), Solvers().end()),
                         [](const auto& instance) {
                           return std::string(instance.param.name);
                         });

}  // namespace
}  // namespace sluice
