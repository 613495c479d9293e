// The passes that a round draws for minimums, on random clusters, against
// LEMON: the same optimum, and infeasible where LEMON finds them so.

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/rng.h"
#include "base/strings.h"
#include "flow/dimacs.h"
#include "sluice/flow/problem.h"
#include "util/cluster_builder.h"
#include "util/peer_builder.h"
#include "util/rules_builder.h"
#include "util/test_scheduler.h"
#ifdef SLUICE_HAVE_LEMON
#include "oracle/lemon_problem.h"
#endif

namespace sluice {
namespace {

#ifdef SLUICE_HAVE_LEMON
// Zones of unequal machines that partly hold others, and jobs that want to be
// in all of them, by zone or machine.
void FillAtRandom(Rng* rng, TestScheduler* cluster) {
  const int64_t zones = rng->Between(2, 4);
  const int64_t machines = rng->Between(zones, 12);
  for (int64_t m = 0; m < machines; ++m) {
    cluster->Apply(
        Added(StrCat("m", m), {.cpu = 1000 * rng->Between(1, 8),
                               .labels = {{"zone", StrCat("z", m % zones)}}}));
  }
  uint64_t uid = 1;
  for (int64_t app = rng->Between(1, 4); app > 0; --app) {
    const std::string name = StrCat("app", app);
    PlacementRules rules;
    rules.minimums = {{{App(name), rng->Chance(1, 4) ? "" : "zone"},
                       static_cast<int32_t>(rng->Between(1, 3))}};
    if (rng->Chance(1, 3)) {
      rules.preferred = {{100, {.labels = {LabelIn("zone", {"z0"})}}}};
    }
    if (rng->Chance(1, 4)) rules.anti_affinity = {{App(name), ""}};
    for (int64_t i = rng->Between(1, 9); i > 0; --i) {
      cluster->Apply(Submitted(
          uid++,
          {.cpu = 1000, .job = name, .labels = {{"app", name}}, .rules = rules},
          {}));
    }
  }
}

bool HasLowerBounds(const FlowProblem& problem) {
  for (ArcIndex arc = 0; arc < problem.arc_count(); ++arc) {
    if (problem.arc(arc).lower > 0) return true;
  }
  return false;
}

TEST(MinimumsOracle, AgreesWithLemon) {
  int bounded = 0;
  int infeasible = 0;
  for (uint64_t seed = 0; seed < 300 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    TestScheduler cluster;
    FillAtRandom(&rng, &cluster);
    cluster.scheduler().StartRound(/*now_ms=*/1);
    const std::optional<FlowProblem> problem = cluster.NextProblem();
    if (!problem.has_value() || !HasLowerBounds(*problem)) continue;
    ++bounded;
    const FlowSolution solution = cluster.SolveFlow(*problem);
    const std::optional<int64_t> optimum = OptimumByLemon(*problem);
    // What `sluicectl network --format=plain_dimacs` prints.
    const auto text = WritePlainDimacs(*problem);
    ASSERT_TRUE(text.ok()) << text.status();
    EXPECT_EQ(SolveDimacsWithLemon(*text).objective, optimum);
    if (!optimum.has_value()) {
      ++infeasible;
      EXPECT_EQ(solution.outcome, SolveOutcome::kInfeasible);
      continue;
    }
    ASSERT_EQ(solution.outcome, SolveOutcome::kOptimal);
    EXPECT_EQ(solution.objective, *optimum);
  }
  EXPECT_GT(bounded, 200);
  EXPECT_GT(infeasible, 10);
}
#else
TEST(MinimumsOracle, AgreesWithLemon) {
  GTEST_SKIP() << "LEMON is not installed";
}
#endif

}  // namespace
}  // namespace sluice
