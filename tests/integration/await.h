// Waits for what nobody tells.

#ifndef SLUICE_TESTS_INTEGRATION_AWAIT_H_
#define SLUICE_TESTS_INTEGRATION_AWAIT_H_

#include <cstdint>
#include <functional>

#include "base/mutex.h"
#include "sluice/base/clock.h"

namespace sluice {

// Asks `holds` at once and then after each pause, for a minute, which is far
// longer than it should take.  Returns what it said last.
inline bool Await(const std::function<bool()>& holds, int64_t pause_ms = 100) {
  const SystemClock clock;
  const int64_t end_us = clock.MonotonicUs() + 60'000'000;
  Mutex mutex;
  CondVar never;
  while (!holds()) {
    if (clock.MonotonicUs() > end_us) return false;
    const MutexLock lock(mutex);
    never.WaitFor(mutex, pause_ms * 1000);
  }
  return true;
}

}  // namespace sluice

#endif  // SLUICE_TESTS_INTEGRATION_AWAIT_H_
