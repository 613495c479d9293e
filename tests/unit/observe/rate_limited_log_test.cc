#include "observe/rate_limited_log.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

namespace sluice {
namespace {

constexpr int64_t kSecondUs = 1'000'000;

TEST(RateLimiter, AdmitsTheFirstLinesOfASecond) {
  RateLimiter limiter(2);
  EXPECT_EQ(limiter.Admit(0), 0);
  EXPECT_EQ(limiter.Admit(10), 0);
  EXPECT_EQ(limiter.Admit(20), std::nullopt);
  EXPECT_EQ(limiter.Admit(kSecondUs - 1), std::nullopt);
}

TEST(RateLimiter, ReportsWhatItSuppressedOnce) {
  RateLimiter limiter(1);
  EXPECT_EQ(limiter.Admit(0), 0);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(limiter.Admit(i), std::nullopt);
  EXPECT_EQ(limiter.Admit(kSecondUs), 5);
  EXPECT_EQ(limiter.Admit(2 * kSecondUs), 0);
}

TEST(RateLimiter, StartsItsSecondWithALineAndNotWithTheEpoch) {
  RateLimiter limiter(1);
  EXPECT_EQ(limiter.Admit(kSecondUs - 1), 0);
  EXPECT_EQ(limiter.Admit(kSecondUs), std::nullopt);
  EXPECT_EQ(limiter.Admit(2 * kSecondUs - 1), 1);
}

TEST(RateLimiter, TakesTimesOfOtherThreadsThatAreALittleOlder) {
  RateLimiter limiter(1);
  EXPECT_EQ(limiter.Admit(5 * kSecondUs), 0);
  EXPECT_EQ(limiter.Admit(5 * kSecondUs - 10), std::nullopt);
}

TEST(RateLimiter, LosesNoCountBetweenThreads) {
  RateLimiter limiter(10);
  std::atomic<int> admitted = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 1000; ++k) {
        if (limiter.Admit(k)) ++admitted;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(admitted, 10);
  EXPECT_EQ(limiter.Admit(2 * kSecondUs), 3990);
}

TEST(RateLimiterDeathTest, RefusesARateOfZero) {
  EXPECT_DEATH(RateLimiter(0), "lines_per_second");
}

}  // namespace
}  // namespace sluice
