// How kinds of work use the last-level cache.  This tells what tasks do to
// their neighbors if they do not state it
// (docs/decisions/0035-learned-kinds.md).
//
// A history holds smoothed means of references and misses.  When there is no
// room for another kind, the least recently updated one is forgotten
// (state/recent_histories.h).
//
// Threads: confined to the core thread.  Units: per 1,000,000 instructions.
// Nothing is stored.  Determinism: the same reports in the same order give the
// same histories.

#ifndef SLUICE_STATE_CACHE_HISTORIES_H_
#define SLUICE_STATE_CACHE_HISTORIES_H_

#include <cstddef>
#include <cstdint>

#include "sluice/base/ids.h"
#include "sluice/state/task_kind.h"
#include "sluice/state/usage.h"
#include "state/recent_histories.h"

namespace sluice {

class CacheHistories {
 public:
  // Some 100 bytes each.
  static constexpr size_t kKindsMax = 4096;
  // Larger counts are capped at this.
  static constexpr int64_t kCountMax = 1'000'000'000'000;

  struct History {
    CacheUse mean;
    int64_t reports = 0;
    uint64_t last_use = 0;  // Rises from one report to the next.
  };

  // `kinds_max` is at least 1.
  explicit CacheHistories(size_t kinds_max = kKindsMax) : kinds_(kinds_max) {}

  // A task of this kind of work completed.  No-op for counts that are negative,
  // and for more misses than references.
  void Note(WorkKindId kind, const CacheUse& use);

  // Null if nothing was reported for the kind, or its history was forgotten.
  const History* Find(WorkKindId kind) const { return kinds_.Find(kind); }
  // What its tasks are to their neighbors; a sheep if too little is known.
  TaskKind TaskKindOf(WorkKindId kind, const KindScheme& scheme) const;

 private:
  RecentHistories<WorkKindId, History> kinds_;
};

}  // namespace sluice

#endif  // SLUICE_STATE_CACHE_HISTORIES_H_
