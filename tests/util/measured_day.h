// A synthetic day of a cluster that is asked for more than it has: what tasks
// use follows a curve over the day, from 20 to 60 per cent of what they asked
// for, the same for all but for the hour at which each peaks.
//
// Threads: none.  Determinism: equal options give equal days.

#ifndef SLUICE_TESTS_UTIL_MEASURED_DAY_H_
#define SLUICE_TESTS_UTIL_MEASURED_DAY_H_

#include <cstdint>

#include "state/measured_use.h"

namespace sluice {

struct DayOptions {
  uint64_t seed = 1;
  int64_t machines = 100;  // Of 16 cores and 64 GiB each.
  int64_t hours = 24;
  int64_t sample_minutes = 5;  // A round follows the samples.
  MeasuredUseOptions measured_use = {};
};

struct DayResult {
  double running_mean = 0;     // Tasks, over all rounds after the first hour.
  int64_t samples = 0;         // Of machines, from then on, ...
  int64_t samples_beyond = 0;  // ... and where they use more than they have.
  // The most that requests on a machine came to, of what it offers.
  int64_t requested_percent_max = 0;
  int64_t completed = 0;
};

DayResult RunDay(const DayOptions& options);

}  // namespace sluice

#endif  // SLUICE_TESTS_UTIL_MEASURED_DAY_H_
