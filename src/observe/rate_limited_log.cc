#include "observe/rate_limited_log.h"

#include <glog/logging.h>

#include <utility>

namespace sluice {

RateLimiter::RateLimiter(int lines_per_second)
    : lines_per_second_(lines_per_second) {
  CHECK_GT(lines_per_second, 0);
}

std::optional<int64_t> RateLimiter::Admit(int64_t now_us) {
  constexpr int64_t kSecondUs = 1'000'000;
  MutexLock lock(mutex_);
  if (!second_start_us_ || now_us - *second_start_us_ >= kSecondUs) {
    second_start_us_ = now_us;
    admitted_ = 0;
  }
  if (admitted_ == lines_per_second_) {
    ++suppressed_;
    return std::nullopt;
  }
  ++admitted_;
  return std::exchange(suppressed_, 0);
}

}  // namespace sluice
