// A client that goes on while daemons come and go, and finds out whether what
// it was told holds.
//
// Threads: Run() has one; the rest by any.

#ifndef SLUICE_TESTS_INTEGRATION_LASTING_CLIENT_H_
#define SLUICE_TESTS_INTEGRATION_LASTING_CLIENT_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace sluice {

class LastingClient {
 public:
  virtual ~LastingClient() = default;

  // Goes on until Stop(), or until something is wrong.
  virtual void Run() = 0;
  void Stop() { is_stopped_ = true; }

  // Machines that were acknowledged, and those that may be known.
  int64_t machines_acknowledged() const { return machines_acknowledged_; }
  int64_t machines_asked() const { return machines_asked_; }

  // Grows with each answer to it.
  int64_t progress() const { return progress_; }

  bool has_failed() const { return has_failed_; }
  // What was wrong.
  std::vector<std::string> errors() const {
    const MutexLock lock(mutex_);
    return errors_;
  }

  // What it has done, for people.  After Run().
  virtual std::string Summary() const = 0;

 protected:
  void Fail(std::string error) {
    const MutexLock lock(mutex_);
    errors_.push_back(std::move(error));
    has_failed_ = true;
  }
  // So that it does not ask all the time.
  void Pause(int64_t time_us) {
    const MutexLock lock(mutex_);
    pause_.WaitFor(mutex_, time_us);
  }
  bool is_stopped() const { return is_stopped_; }

  std::atomic<int64_t> machines_asked_ = 0;
  std::atomic<int64_t> machines_acknowledged_ = 0;
  std::atomic<int64_t> progress_ = 0;

 private:
  std::atomic<bool> is_stopped_ = false;
  std::atomic<bool> has_failed_ = false;
  mutable Mutex mutex_;
  CondVar pause_;  // Never notified.
  std::vector<std::string> errors_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_TESTS_INTEGRATION_LASTING_CLIENT_H_
