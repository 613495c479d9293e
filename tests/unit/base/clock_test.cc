#include "sluice/base/clock.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <ctime>

#include "util/fake_clock.h"

namespace sluice {
namespace {

TEST(SystemClock, TellsTheTimeOfTheOperatingSystemInMilliseconds) {
  const SystemClock clock;
  const int64_t before_s = std::time(nullptr);
  const int64_t now_ms = clock.NowMs();
  const int64_t after_s = std::time(nullptr);
  // time() may lag by one tick of the kernel.
  EXPECT_GE(now_ms, before_s * 1000);
  EXPECT_LE(now_ms, (after_s + 2) * 1000);
}

TEST(SystemClock, CountsMicrosecondsThatNeverGoBack) {
  const SystemClock clock;
  const int64_t start_us = clock.MonotonicUs();
  int64_t last_us = start_us;
  // Ends once the clock has moved; if it stands still, the test runs into its
  // time limit.
  while (last_us < start_us + 1000) {
    const int64_t now_us = clock.MonotonicUs();
    ASSERT_GE(now_us, last_us);
    last_us = now_us;
  }
}

TEST(FakeClock, MovesOnlyWhenTold) {
  FakeClock clock(5000);
  EXPECT_EQ(clock.NowMs(), 5000);
  EXPECT_EQ(clock.MonotonicUs(), 0);
  clock.AdvanceMs(2);
  clock.AdvanceUs(1500);
  EXPECT_EQ(clock.NowMs(), 5003);
  EXPECT_EQ(clock.MonotonicUs(), 3500);
}

}  // namespace
}  // namespace sluice
