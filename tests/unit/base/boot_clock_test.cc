#include "base/boot_clock.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>

namespace sluice {
namespace {

// The kernel counts the time of a suspended machine as well.
double Uptime() {
  double uptime_s = -1;
  std::ifstream("/proc/uptime") >> uptime_s;
  return uptime_s;
}

TEST(BootClock, CountsFromTheStartOfTheMachine) {
  const BootClock clock;
  const double before_s = Uptime();
  const double now_s = static_cast<double>(clock.MonotonicUs()) / 1e6;
  const double after_s = Uptime();
  // The kernel writes hundredths of a second.
  EXPECT_GE(now_s, before_s - 0.01);
  EXPECT_LE(now_s, after_s + 0.02);
}

TEST(BootClock, NeverGoesBackAndMoves) {
  const BootClock clock;
  const int64_t start_us = clock.MonotonicUs();
  int64_t last_us = start_us;
  while (last_us < start_us + 1000) {
    const int64_t now_us = clock.MonotonicUs();
    ASSERT_GE(now_us, last_us);
    last_us = now_us;
  }
}

TEST(BootClock, HasTheWallClockOfTheSystem) {
  const int64_t before_ms = SystemClock().NowMs();
  EXPECT_GE(BootClock().NowMs(), before_ms - 1000);
  EXPECT_LE(BootClock().NowMs(), SystemClock().NowMs() + 1000);
}

}  // namespace
}  // namespace sluice
