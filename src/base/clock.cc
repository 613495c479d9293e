#include "sluice/base/clock.h"

#include <chrono>

namespace sluice {
namespace {

template <class Unit, class SomeClock>
int64_t SinceItsEpoch() {
  const auto elapsed = SomeClock::now().time_since_epoch();
  return std::chrono::duration_cast<Unit>(elapsed).count();
}

}  // namespace

int64_t SystemClock::NowMs() const {
  return SinceItsEpoch<std::chrono::milliseconds, std::chrono::system_clock>();
}

int64_t SystemClock::MonotonicUs() const {
  return SinceItsEpoch<std::chrono::microseconds, std::chrono::steady_clock>();
}

}  // namespace sluice
