// Pauses between calls to the server.
//
// Threads: any; both functions block the caller.

#ifndef SLUICE_CLI_BASE_REST_H_
#define SLUICE_CLI_BASE_REST_H_

#include <cstdint>

#include "base/mutex.h"
#include "sluice/base/clock.h"

namespace sluice {

// Returns when `clock` has reached `end_us`.
inline void RestUntil(const Clock& clock, int64_t end_us) {
  Mutex mutex;
  CondVar never;
  const MutexLock lock(mutex);
  for (int64_t now_us = clock.MonotonicUs(); now_us < end_us;
       now_us = clock.MonotonicUs()) {
    never.WaitFor(mutex, end_us - now_us);
  }
}

// Returns after `interval_us` of `clock`.
inline void Rest(const Clock& clock, int64_t interval_us) {
  RestUntil(clock, clock.MonotonicUs() + interval_us);
}

}  // namespace sluice

#endif  // SLUICE_CLI_BASE_REST_H_
