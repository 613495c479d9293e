// The way into the core thread: many producers, one consumer, in order.
//
// The bound holds for producers that can be refused.  Others may exceed it: a
// call of the contract must never fail, and what the program tells itself must
// never be lost.  Their number is bounded elsewhere, by the streams that the
// transport admits (server/server.cc).
//
// Threads: thread-safe; only one thread at a time calls TakeBatch().

#ifndef SLUICE_LOOP_MAILBOX_H_
#define SLUICE_LOOP_MAILBOX_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace sluice {

template <class T>
class Mailbox {
 public:
  explicit Mailbox(size_t item_count_max) : item_count_max_(item_count_max) {}

  // Adds `item`, even beyond the bound.  Returns false once closed: the item
  // is dropped.
  bool Push(T item) { return Add(std::move(item), /*is_bounded=*/false); }

  // Adds `item` unless that exceeds the bound.  Returns false if it is dropped.
  bool TryPush(T item) { return Add(std::move(item), /*is_bounded=*/true); }

  // Replaces `batch` by the oldest items, at most `item_count_max` of them.
  // Waits up to `timeout_us` for the first one; the batch is empty if none
  // came.  Returns false once the mailbox is closed and nothing is left.
  bool TakeBatch(size_t item_count_max, int64_t timeout_us,
                 std::vector<T>* batch) {
    batch->clear();
    MutexLock lock(mutex_);
    bool may_wait = true;
    while (items_.empty() && !is_closed_ && may_wait) {
      may_wait = not_empty_.WaitFor(mutex_, timeout_us);
    }
    const auto end = items_.begin() + static_cast<ptrdiff_t>(std::min(
                                          items_.size(), item_count_max));
    batch->insert(batch->end(), std::make_move_iterator(items_.begin()),
                  std::make_move_iterator(end));
    items_.erase(items_.begin(), end);
    return !batch->empty() || !is_closed_;
  }

  // Rejects items from now on.  Those inside can still be taken out.
  void Close() {
    {
      MutexLock lock(mutex_);
      is_closed_ = true;
    }
    not_empty_.NotifyAll();
  }

  size_t size() const {
    MutexLock lock(mutex_);
    return items_.size();
  }

 private:
  bool Add(T item, bool is_bounded) {
    {
      MutexLock lock(mutex_);
      if (is_closed_) return false;
      if (is_bounded && items_.size() >= item_count_max_) return false;
      items_.push_back(std::move(item));
    }
    not_empty_.NotifyOne();
    return true;
  }

  const size_t item_count_max_;

  mutable Mutex mutex_;
  CondVar not_empty_;
  std::deque<T> items_ ABSL_GUARDED_BY(mutex_);
  bool is_closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace sluice

#endif  // SLUICE_LOOP_MAILBOX_H_
