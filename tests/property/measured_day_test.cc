// What placement by measured use promises, on a synthetic day: more runs, and
// neither bound is exceeded.  The same day on 1,000 machines is a benchmark.

#include "util/measured_day.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

constexpr MeasuredUseOptions kOn = {.is_on = true, .stale_ms = 900'000};

TEST(MeasuredDay, RunsMoreAndExceedsNeitherBound) {
  for (const uint64_t seed : {1, 2}) {
    SCOPED_TRACE(seed);
    const DayOptions by_requests = {.seed = seed, .machines = 12};
    DayOptions by_use = by_requests;
    by_use.measured_use = kOn;
    const DayResult requests = RunDay(by_requests);
    const DayResult use = RunDay(by_use);
    EXPECT_EQ(requests.requested_percent_max, 100);
    EXPECT_GE(use.running_mean, 1.3 * requests.running_mean);
    EXPECT_LE(use.requested_percent_max, kOn.overcommit_percent);
    EXPECT_EQ(use.samples_beyond, 0);
  }
}

TEST(MeasuredDay, KeepsToUseWhereRequestsMayGoFurther) {
  // At night five times as much would fit as at noon.
  const DayResult use = RunDay({.machines = 10,
                                .measured_use = {.is_on = true,
                                                 .floor_percent = 60,
                                                 .overcommit_percent = 1000,
                                                 .stale_ms = 900'000}});
  EXPECT_GT(use.requested_percent_max, 150);
  EXPECT_EQ(use.samples_beyond, 0) << "the floor is what they use at most";
}

}  // namespace
}  // namespace sluice
