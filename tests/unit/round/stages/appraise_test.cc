// How good a round says that it is where there are too many classes for the
// relaxation of a packing.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "base/strings.h"
#include "util/cluster_builder.h"
#include "util/rules_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

// Two tasks of each class may run in one of two zones only, where no two
// machines are alike, and there is room for less than half of them.
void Fill(int classes, TestScheduler* cluster) {
  for (int m = 0; m < 10; ++m) {
    for (const char* zone : {"a", "b"}) {
      cluster->Apply(Added(StrCat(zone, m), {.cpu = 20 * classes + 137 * m,
                                             .labels = {{"zone", zone}}}));
    }
  }
  for (int c = 0; c < classes; ++c) {
    for (int i = 0; i < 2; ++i) {
      cluster->Apply(
          Submitted(static_cast<uint64_t>(2 * c + i + 1),
                    {.cpu = 250 + 7 * c,
                     .job = StrCat("job", c),
                     .rules = {.selectors = {LabelIn("zone", {"a"})}}}));
    }
  }
}

bool HasGains(const TestScheduler& cluster) {
  return std::ranges::any_of(
      cluster.scheduler().network_log().passes(),
      [](const NetworkLog::Pass& pass) { return pass.with_gains.has_value(); });
}

// So little that the relaxation proves next to nothing.
constexpr RoundOptions kLittle = {.improve_budget = 50'000,
                                  .network_arcs_max = 100'000};

TEST(Appraise, ProvesByGainsWhatManyClassesLeaveWaiting) {
  TestScheduler cluster(kLittle);
  Fill(100, &cluster);
  cluster.Round(/*now_ms=*/1);
  EXPECT_TRUE(HasGains(cluster));
  const RoundStats& stats = cluster.scheduler().round_stats();
  EXPECT_GT(stats.pending, 60);
  EXPECT_TRUE(stats.bound.waiting.IsNowhereAbove(stats.cost.waiting));
  EXPECT_GE(static_cast<double>(stats.bound.waiting.Sum()),
            0.95 * static_cast<double>(stats.cost.waiting.Sum()));
}

TEST(Appraise, NeedsNoGainsForFewClasses) {
  TestScheduler cluster(kLittle);
  Fill(60, &cluster);
  cluster.Round(/*now_ms=*/1);
  EXPECT_FALSE(HasGains(cluster));
}

TEST(Appraise, ProvesNothingWithoutABudget) {
  RoundOptions options = kLittle;
  options.improve_budget = 0;
  TestScheduler cluster(options);
  Fill(100, &cluster);
  cluster.Round(/*now_ms=*/1);
  EXPECT_FALSE(HasGains(cluster));
}

}  // namespace
}  // namespace sluice
