// How the threads of a test wait for each other: a gate that holds up whoever
// comes, and a value that one thread sets and another awaits.
//
// Threads: any.

#ifndef SLUICE_TESTS_UNIT_LOOP_GATE_H_
#define SLUICE_TESTS_UNIT_LOOP_GATE_H_

#include <glog/logging.h>

#include <atomic>
#include <optional>
#include <utility>

#include "base/mutex.h"

namespace sluice {

// Open by default.  Whoever comes to a closed gate waits there.
class Gate {
 public:
  void Close() { Set(false); }
  void Open() { Set(true); }

  // Called by what is to wait.  Goes on early if `is_cancelled` turns true.
  void Pass(const std::atomic<bool>* is_cancelled = nullptr) {
    MutexLock lock(mutex_);
    ++arrivals_;
    changed_.NotifyAll();
    while (!is_open_ && (is_cancelled == nullptr || !*is_cancelled)) {
      // Cancelling is an atomic and wakes nobody.
      changed_.WaitFor(mutex_, /*timeout_us=*/1000);
    }
  }

  int arrivals() {
    MutexLock lock(mutex_);
    return arrivals_;
  }
  // Waits until `count` visitors in all have come to the gate.
  void AwaitArrivals(int count) {
    MutexLock lock(mutex_);
    while (arrivals_ < count) changed_.Wait(mutex_);
  }

 private:
  void Set(bool is_open) {
    MutexLock lock(mutex_);
    is_open_ = is_open;
    changed_.NotifyAll();
  }

  Mutex mutex_;
  CondVar changed_;
  bool is_open_ ABSL_GUARDED_BY(mutex_) = true;
  int arrivals_ ABSL_GUARDED_BY(mutex_) = 0;
};

// A value that one thread sets once and another waits for.
template <class T>
class Awaited {
 public:
  void Set(T value) {
    MutexLock lock(mutex_);
    CHECK(!value_.has_value()) << "set twice";
    value_ = std::move(value);
    changed_.NotifyAll();
  }
  T Get() {
    MutexLock lock(mutex_);
    while (!value_.has_value()) changed_.Wait(mutex_);
    return *value_;
  }
  bool is_set() {
    MutexLock lock(mutex_);
    return value_.has_value();
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::optional<T> value_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_TESTS_UNIT_LOOP_GATE_H_
