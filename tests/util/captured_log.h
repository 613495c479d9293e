// What is logged while it lives.
//
// Threads: any.

#ifndef SLUICE_TESTS_UTIL_CAPTURED_LOG_H_
#define SLUICE_TESTS_UTIL_CAPTURED_LOG_H_

#include <glog/logging.h>

#include <cstddef>
#include <string>
#include <vector>

#include "base/mutex.h"

namespace sluice {

class CapturedLog final : public google::LogSink {
 public:
  CapturedLog() { google::AddLogSink(this); }
  ~CapturedLog() override { google::RemoveLogSink(this); }
  CapturedLog(const CapturedLog&) = delete;
  CapturedLog& operator=(const CapturedLog&) = delete;

  std::vector<std::string> lines() const {
    const MutexLock lock(mutex_);
    return lines_;
  }

  void send(google::LogSeverity /*severity*/, const char* /*path*/,
            const char* /*file*/, int /*line*/,
            const google::LogMessageTime& /*time*/, const char* message,
            size_t size) override {
    const MutexLock lock(mutex_);
    lines_.emplace_back(message, size);
  }

 private:
  mutable Mutex mutex_;
  std::vector<std::string> lines_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_TESTS_UTIL_CAPTURED_LOG_H_
