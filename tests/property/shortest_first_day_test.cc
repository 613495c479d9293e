// What sjf is for: on a day with more work than room the mean completion falls,
// and what runs long is not starved.  A benchmark prints the same days
// (mixed_day_benchmark).

#include <gtest/gtest.h>

#include <string>

#include "util/mixed_day.h"

namespace sluice {
namespace {

TEST(ShortestFirst, HalvesTheMeanCompletionOfADay) {
  for (const uint64_t seed : {1, 2}) {
    SCOPED_TRACE(seed);
    const MixedDayOptions by_age = {.seed = seed};
    MixedDayOptions by_run_time = by_age;
    by_run_time.policies += ",sjf";
    const MixedDayResult age = RunMixedDay(by_age);
    const MixedDayResult run_time = RunMixedDay(by_run_time);
    EXPECT_EQ(run_time.completed, age.completed);
    EXPECT_LE(run_time.mean_completion, 0.5 * age.mean_completion);
    EXPECT_LE(run_time.kinds.front().mean_completion,
              0.5 * age.kinds.front().mean_completion);
    RecordProperty("age_" + std::to_string(seed),
                   std::to_string(age.mean_completion));
    RecordProperty("run_time_" + std::to_string(seed),
                   std::to_string(run_time.mean_completion));
  }
}

}  // namespace
}  // namespace sluice
