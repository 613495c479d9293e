#include "sluice/state/job_counts.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>

#include "base/rng.h"

namespace sluice {
namespace {

TEST(JobCountsTest, HasNoneAtFirst) {
  const JobCounts counts;
  EXPECT_EQ(counts.Of({1}), 0);
  EXPECT_EQ(counts.size(), 0);
}

TEST(JobCountsTest, ForgetsJobsThatHaveNoneLeft) {
  JobCounts counts;
  counts.Add({7}, 2);
  counts.Add({3}, 1);
  counts.Add({7}, -2);
  EXPECT_EQ(counts.Of({7}), 0);
  EXPECT_EQ(counts.Of({3}), 1);
  EXPECT_EQ(counts.size(), 1);
}

TEST(JobCountsTest, CountsAsAMapDoes) {
  Rng rng(1);
  JobCounts counts;
  std::map<uint32_t, int64_t> expected;
  for (int step = 0; step < 2000; ++step) {
    const auto job = static_cast<uint32_t>(rng.Below(20));
    const int32_t change = expected[job] > 0 && rng.Chance(1, 2) ? -1 : 1;
    expected[job] += change;
    counts.Add({job}, change);
    for (const auto& [id, count] : expected) {
      ASSERT_EQ(counts.Of({id}), count) << "job " << id << ", step " << step;
    }
  }
}

TEST(JobCountsDeathTest, NeverCountsFewerThanNone) {
  JobCounts counts;
  counts.Add({1}, 1);
  EXPECT_DEATH(counts.Add({1}, -2), "job 1");
}

}  // namespace
}  // namespace sluice
