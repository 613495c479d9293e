// Mutex, MutexLock and CondVar: the standard ones, with the attributes that let
// clang check at compile time which lock guards what (ABSL_GUARDED_BY).
//
// Why not absl::Mutex: the absl of the distribution is not built with
// ThreadSanitizer, so its locks are invisible to it and every use of them would
// be reported as a race.  A std::mutex is pthread's, which ThreadSanitizer
// intercepts.
//
// Threads: any.  A Mutex is not recursive.

#ifndef SLUICE_BASE_MUTEX_H_
#define SLUICE_BASE_MUTEX_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "absl/base/thread_annotations.h"

namespace sluice {

class ABSL_LOCKABLE Mutex {
 public:
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

// Holds `mutex` for its own lifetime.
class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex)
      : mutex_(mutex) {
    mutex_.Lock();
  }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_.Unlock(); }

  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// Both waits release `mutex` meanwhile and may wake up spuriously: call them in
// a loop that checks the condition.
class CondVar {
 public:
  void Wait(Mutex& mutex) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }

  // Returns false if `timeout_us` passed first.
  bool WaitFor(Mutex& mutex, int64_t timeout_us)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    const std::cv_status status =
        condition_.wait_for(lock, std::chrono::microseconds(timeout_us));
    lock.release();
    return status == std::cv_status::no_timeout;
  }

  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace sluice

#endif  // SLUICE_BASE_MUTEX_H_
