#include "solver/dual_bound.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "oracle/random_gains.h"
#include "sluice/flow/problem.h"
#include "sluice/solver/generalized.h"

namespace sluice {
namespace {

// Three units go to the sink for 5 each, or at most two of them for 1.
FlowProblem TwoWays() {
  FlowProblem problem;
  const NodeIndex from = problem.AddNode(3);
  const NodeIndex sink = problem.AddNode(-3);
  problem.AddArc(from, sink, 2, 1);
  problem.AddArc(from, sink, 3, 5);
  return problem;
}

TEST(DualBound, IsTheOptimumAtItsPrices) {
  const std::vector<double> prices = {-5, 0};
  EXPECT_EQ(DualBound(TwoWays(), prices), 2 * 1 + 1 * 5);
}

TEST(DualBound, HoldsAtAnyPrices) {
  for (const double price : {-1e6, -7.3, -5.5, -4.0, 0.0, 3.0, 1e6}) {
    const std::vector<double> prices = {price, 0};
    const std::optional<FlowCost> bound = DualBound(TwoWays(), prices);
    ASSERT_TRUE(bound.has_value());
    EXPECT_LE(*bound, 7) << price;
  }
}

TEST(DualBound, RoundsUpWhatMustBeWhole) {
  const std::vector<double> prices = {-4.6, 0};
  // 3 x 4.6 - 2 x 3.6 = 6.6
  EXPECT_EQ(DualBound(TwoWays(), prices), 7);
}

TEST(DualBound, IsNoneWherePricesAreNone) {
  for (const double price : {std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity(), 1e300}) {
    const std::vector<double> prices = {price, 0};
    EXPECT_EQ(DualBound(TwoWays(), prices), std::nullopt);
  }
}

TEST(DualBound, IsNextToTheOptimumOfFlowsWithGains) {
  int solved = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const FlowProblem problem = MakeRandomGains({.node_count_max = 12,
                                                 .arc_count_max = 20,
                                                 .capacity_max = 9,
                                                 .segment_count_max = 1},
                                                &rng);
    const GeneralizedSolution solution = GeneralizedSolver().Solve(problem);
    if (solution.outcome != SolveOutcome::kOptimal) continue;
    ++solved;
    const double optimum = solution.objective;
    const double slack = 1e-6 * (1 + std::abs(optimum));
    const std::optional<FlowCost> bound =
        DualBound(problem, solution.potentials);
    ASSERT_TRUE(bound.has_value());
    EXPECT_LE(static_cast<double>(*bound), std::ceil(optimum + slack));
    EXPECT_GE(static_cast<double>(*bound), optimum - slack);
    std::vector<double> prices = solution.potentials;
    for (double& price : prices) {
      price += static_cast<double>(rng.Between(-1000, 1000)) / 100;
    }
    EXPECT_LE(static_cast<double>(*DualBound(problem, prices)),
              std::ceil(optimum + slack));
  }
  EXPECT_GT(solved, 200);
}

}  // namespace
}  // namespace sluice
