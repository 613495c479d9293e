// A synthetic day of a cluster that is asked for somewhat more than it has, by
// three kinds of work of which each runs ten times as long as the one before
// and makes up a third of the load.  All tasks ask for the same, so that
// nothing but their run times tells them apart.  After the day what waits is
// served, so that the completion of every task counts.
//
// Time is simulated: a round a minute, as the daemon runs it.
//
// Threads: none.  Determinism: equal options give equal days.

#ifndef SLUICE_TESTS_UTIL_MIXED_DAY_H_
#define SLUICE_TESTS_UTIL_MIXED_DAY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "cost/policy_set.h"

namespace sluice {

struct MixedDayOptions {
  uint64_t seed = 1;
  int64_t machines = 20;  // With room for four tasks each.
  int64_t hours = 24;
  int64_t load_percent = 110;
  std::string policies = kDefaultCostModels;
};

inline constexpr size_t kDayKinds = 3;
// A task runs for four to six fifths of it.
inline constexpr std::array<int64_t, kDayKinds> kDayRunMinutes = {5, 50, 500};

struct MixedDayResult {
  struct Kind {
    int64_t completed = 0;
    // From its submission, in minutes.
    double mean_completion = 0;
    int64_t longest_wait = 0;
  };
  std::array<Kind, kDayKinds> kinds;
  int64_t completed = 0;
  double mean_completion = 0;
};

MixedDayResult RunMixedDay(const MixedDayOptions& options);

}  // namespace sluice

#endif  // SLUICE_TESTS_UTIL_MIXED_DAY_H_
