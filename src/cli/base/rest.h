// A rest between two questions to the server.
//
// Threads: any; keeps the one that calls.

#ifndef SLUICE_CLI_BASE_REST_H_
#define SLUICE_CLI_BASE_REST_H_

#include <cstdint>

#include "base/mutex.h"
#include "sluice/base/clock.h"

namespace sluice {

// Returns after `interval_us` of `clock`.
inline void Rest(const Clock& clock, int64_t interval_us) {
  const int64_t end_us = clock.MonotonicUs() + interval_us;
  Mutex mutex;
  CondVar never;
  MutexLock lock(mutex);
  while (true) {
    const int64_t left_us = end_us - clock.MonotonicUs();
    if (left_us <= 0) return;
    never.WaitFor(mutex, left_us);
  }
}

}  // namespace sluice

#endif  // SLUICE_CLI_BASE_REST_H_
