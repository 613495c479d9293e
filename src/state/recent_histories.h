// What was learned lately: a history of smoothed means for each key, for as
// many keys as there is room for.  Of more the one is forgotten that was used
// the longest ago.
//
// Threads: none.  Nothing of it is stored.  Determinism: the same uses in the
// same order leave the same.

#ifndef SLUICE_STATE_RECENT_HISTORIES_H_
#define SLUICE_STATE_RECENT_HISTORIES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/container/btree_map.h"

namespace sluice {

inline constexpr int64_t kRunsPerMean = 8;

// The mean with the `count`th value in it: that of all values while there are
// fewer than kRunsPerMean, and from then on each new one moves it by that part
// of the difference.
inline int64_t SmoothedMean(int64_t mean, int64_t value, int64_t count) {
  return mean + (value - mean) / std::min(count, kRunsPerMean);
}

// A `History` has a `uint64_t last_use`, which is the table's and rises from
// one use to the next.
template <typename Key, typename History>
class RecentHistories {
 public:
  // `size_max` is at least 1.
  explicit RecentHistories(size_t size_max) : size_max_(size_max) {}

  // The history of the key, a new one where none is kept, which is now the one
  // used last.  Valid until the next call.
  History& Use(const Key& key) {
    const auto it = histories_.find(key);
    if (it != histories_.end()) {
      by_use_.erase(it->second.last_use);
    } else if (histories_.size() == size_max_) {
      const auto oldest = by_use_.begin();
      histories_.erase(oldest->second);
      by_use_.erase(oldest);
    }
    by_use_.emplace(++uses_, key);
    History& history = histories_[key];
    history.last_use = uses_;
    return history;
  }

  // Null where none is kept.
  const History* Find(const Key& key) const {
    const auto it = histories_.find(key);
    return it == histories_.end() ? nullptr : &it->second;
  }
  const absl::btree_map<Key, History>& all() const { return histories_; }
  uint64_t uses() const { return uses_; }

 private:
  const size_t size_max_;
  absl::btree_map<Key, History> histories_;
  absl::btree_map<uint64_t, Key> by_use_;
  uint64_t uses_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_STATE_RECENT_HISTORIES_H_
