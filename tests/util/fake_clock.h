// A clock that stands still until the test moves it.
//
// Threads: any.

#ifndef SLUICE_TESTS_UTIL_FAKE_CLOCK_H_
#define SLUICE_TESTS_UTIL_FAKE_CLOCK_H_

#include <atomic>
#include <cstdint>

#include "sluice/base/clock.h"

namespace sluice {

class FakeClock final : public Clock {
 public:
  // Starts at a time that nobody takes for zero or for today.
  explicit FakeClock(int64_t now_ms = 1'000'000'000'000) : start_ms_(now_ms) {}

  // Both clocks follow the one count of elapsed time, so that a reader on
  // another thread sees each of them advance without ever going back.
  int64_t NowMs() const override {
    return start_ms_ + elapsed_us_.load() / 1000;
  }
  int64_t MonotonicUs() const override { return elapsed_us_.load(); }

  void AdvanceMs(int64_t ms) { elapsed_us_ += ms * 1000; }
  void AdvanceUs(int64_t us) { elapsed_us_ += us; }

 private:
  const int64_t start_ms_;
  std::atomic<int64_t> elapsed_us_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_UTIL_FAKE_CLOCK_H_
