#include "base/boot_clock.h"

#include <glog/logging.h>

#include <ctime>

namespace sluice {

int64_t BootClock::NowMs() const { return SystemClock().NowMs(); }

int64_t BootClock::MonotonicUs() const {
  timespec time = {};
  PCHECK(clock_gettime(CLOCK_BOOTTIME, &time) == 0);
  return time.tv_sec * int64_t{1'000'000} + time.tv_nsec / 1000;
}

}  // namespace sluice
