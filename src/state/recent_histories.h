// Recent histories: smoothed means for each key, for a bounded number of keys.
// When there is no room for another key, the least recently used one is
// forgotten.
//
// Threads: none.  Nothing is stored.  Determinism: the same uses in the same
// order give the same histories.

#ifndef SLUICE_STATE_RECENT_HISTORIES_H_
#define SLUICE_STATE_RECENT_HISTORIES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/container/btree_map.h"

namespace sluice {

inline constexpr int64_t kRunsPerMean = 8;

// The mean after the `count`th value.  Up to kRunsPerMean values it is their
// plain mean; each later value moves it by 1/kRunsPerMean of the difference.
inline int64_t SmoothedMean(int64_t mean, int64_t value, int64_t count) {
  return mean + (value - mean) / std::min(count, kRunsPerMean);
}

// A `History` has a `uint64_t last_use`, which the table sets and which rises
// from one use to the next.
template <typename Key, typename History>
class RecentHistories {
 public:
  // `size_max` is at least 1.
  explicit RecentHistories(size_t size_max) : size_max_(size_max) {}

  // Returns the history of the key, or a new one if none is kept, and marks it
  // as used last.  Valid until the next call.
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

  // Null if none is kept.
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
