// How long tasks of a kind of work ran, so that policies can tell what is
// short; how fast they ran on which machines (state/speed_histories.h); and how
// they used the cache (state/cache_histories.h).
//
// Tasks with the same stated program (TaskDescriptor.binary) are of one kind.
// Tasks without one are of one kind if they have the same namespace and ask for
// the same (docs/decisions/0033-class-histories.md).
//
// The mean is smoothed.  When there is no room for another kind, the one whose
// last completion is the oldest is forgotten (state/recent_histories.h).
//
// Threads: confined to the core thread.  Units: milliseconds.  Nothing is
// stored.  Determinism: the same runs in the same order give the same
// histories.

#ifndef SLUICE_STATE_CLASS_HISTORIES_H_
#define SLUICE_STATE_CLASS_HISTORIES_H_

#include <cstddef>
#include <cstdint>

#include "absl/container/btree_map.h"
#include "sluice/base/ids.h"
#include "state/cache_histories.h"
#include "state/recent_histories.h"
#include "state/speed_histories.h"

namespace sluice {

struct TaskSpec;

WorkKindId WorkKindOf(const TaskSpec& spec);

class ClassHistories {
 public:
  // Some 100 bytes each.
  static constexpr size_t kKindsMax = 4096;
  // A year; longer times are ignored.
  static constexpr int64_t kRunMsMax = int64_t{366} * 24 * 3600 * 1000;

  struct History {
    int64_t mean_ms = 0;  // At least 1.
    int64_t completions = 0;
    uint64_t last_use = 0;  // Rises from one completion to the next.
  };

  // `kinds_max` is at least 1.
  explicit ClassHistories(size_t kinds_max = kKindsMax) : kinds_(kinds_max) {}

  // A task of this kind completed.  No-op if the time is negative, as after a
  // clock was set back, or longer than kRunMsMax.
  void Note(WorkKindId kind, int64_t run_ms);

  // Null if none of the kind completed, or its history was forgotten.
  const History* Find(WorkKindId kind) const { return kinds_.Find(kind); }
  const absl::btree_map<WorkKindId, History>& kinds() const {
    return kinds_.all();
  }

  SpeedHistories& speeds() { return speeds_; }
  const SpeedHistories& speeds() const { return speeds_; }
  CacheHistories& cache() { return cache_; }
  const CacheHistories& cache() const { return cache_; }

 private:
  RecentHistories<WorkKindId, History> kinds_;
  SpeedHistories speeds_;
  CacheHistories cache_;
};

}  // namespace sluice

#endif  // SLUICE_STATE_CLASS_HISTORIES_H_
