// Keeps a flood of bad input from becoming a flood of log lines.
//
//   if (const auto suppressed = limiter.Admit(clock.MonotonicUs())) {
//     LOG(WARNING) << "malformed label " << text << " (" << *suppressed
//                  << " such lines suppressed)";
//   }
//
// Threads: any.
// Time: only what the caller passes in.

#ifndef SLUICE_OBSERVE_RATE_LIMITED_LOG_H_
#define SLUICE_OBSERVE_RATE_LIMITED_LOG_H_

#include <cstdint>
#include <optional>

#include "base/mutex.h"

namespace sluice {

class RateLimiter {
 public:
  // Admits at most `lines_per_second` in a second; each starts with a line.
  // REQUIRES: lines_per_second > 0.
  explicit RateLimiter(int lines_per_second);

  // Says whether a line may be written at `now_us`, a monotonic time.  If so,
  // returns how many lines were suppressed since the last admitted one, for the
  // line to mention; otherwise counts the line and returns nothing.
  std::optional<int64_t> Admit(int64_t now_us);

 private:
  const int lines_per_second_;

  Mutex mutex_;
  std::optional<int64_t> second_start_us_ ABSL_GUARDED_BY(mutex_);
  int admitted_ ABSL_GUARDED_BY(mutex_) = 0;  // In this second.
  int64_t suppressed_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace sluice

#endif  // SLUICE_OBSERVE_RATE_LIMITED_LOG_H_
