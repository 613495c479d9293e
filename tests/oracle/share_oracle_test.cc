// The flows with gains that rounds solve where there are many classes, against
// GLPK as linear programs; and what rounds say is proved, against what they
// leave.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "base/rng.h"
#include "base/strings.h"
#include "util/cluster_builder.h"
#include "util/rules_builder.h"
#include "util/test_scheduler.h"
#ifdef SLUICE_HAVE_GLPK
#include "oracle/glpk_reference.h"
#endif

namespace sluice {
namespace {

#ifdef SLUICE_HAVE_GLPK
// A hundred classes of any size ask for more than there is; some prefer some
// machines.
void FillAtRandom(Rng* rng, TestScheduler* cluster) {
  const int64_t machines = rng->Between(5, 30);
  int64_t room = 0;
  for (int64_t m = 0; m < machines; ++m) {
    const int64_t cpu = 4000 * rng->Between(1, 4);
    room += cpu;
    cluster->Apply(Added(StrCat("m", m),
                         {.cpu = cpu,
                          .memory = 4000 * rng->Between(1, 4),
                          .labels = {{"zone", StrCat("z", rng->Below(4))}}}));
  }
  uint64_t uid = 1;
  for (int c = 0; c < 100; ++c) {
    PlacementRules rules;
    if (rng->Chance(1, 3)) {
      const std::string zone = StrCat("z", rng->Below(4));
      rules.preferred = {{static_cast<int32_t>(rng->Between(1, 100)),
                          {.labels = {LabelIn("zone", {zone})}}}};
    }
    const int64_t most = std::max<int64_t>(room / 30, 400);
    const TaskOptions options = {
        .cpu = rng->Between(100, most),
        .memory = rng->Between(100, most),
        .priority = static_cast<uint32_t>(rng->Below(2)),
        .job = StrCat("job", c),
        .rules = rules};
    for (int64_t i = rng->Between(1, 3); i > 0; --i) {
      cluster->Apply(Submitted(uid++, options));
    }
  }
}

TEST(ShareOracle, AgreesWithGlpk) {
  int flows = 0;
  int raised = 0;
  for (uint64_t seed = 0; seed < 25 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    TestScheduler cluster({.network_arcs_max = 1'000'000});
    FillAtRandom(&rng, &cluster);
    cluster.Round(/*now_ms=*/1);
    const RoundStats& stats = cluster.scheduler().round_stats();
    for (const NetworkLog::Pass& pass :
         cluster.scheduler().network_log().passes()) {
      if (!pass.with_gains.has_value()) continue;
      ++flows;
      EXPECT_FALSE(pass.problem.gains().empty());
      ASSERT_EQ(pass.with_gains->outcome, SolveOutcome::kOptimal);
      const GlpkResult result = SolveWithGlpk(pass.problem);
      ASSERT_TRUE(result.is_conclusive);
      ASSERT_TRUE(result.objective.has_value());
      EXPECT_NEAR(pass.with_gains->objective, *result.objective,
                  1e-6 * (1 + std::abs(*result.objective)));
      raised += pass.with_gains->objective > 0 ? 1 : 0;
    }
    EXPECT_TRUE(stats.bound.waiting.IsNowhereAbove(stats.cost.waiting));
  }
  EXPECT_GT(flows, 40);
  EXPECT_GT(raised, 20);
}
#else
TEST(ShareOracle, AgreesWithGlpk) { GTEST_SKIP() << "GLPK is not installed"; }
#endif

}  // namespace
}  // namespace sluice
