#include "server/open_calls.h"

#include <grpcpp/server_context.h>

namespace sluice {

// gRPC asks for a context when a call begins and makes its own if it gets null.
// It says when it is done with either.
class OpenCalls::Counter final : public grpc::ContextAllocator {
 public:
  explicit Counter(OpenCalls& calls) : calls_(calls) {}

  grpc::CallbackServerContext* NewCallbackServerContext() override {
    calls_.Add(1);
    return nullptr;
  }
  void Release(grpc::CallbackServerContext* /*context*/) override {
    calls_.Add(-1);
  }
  // Calls of unknown methods have another kind of context and are refused at
  // once.
  void Release(grpc::GenericCallbackServerContext* /*context*/) override {}

 private:
  OpenCalls& calls_;
};

std::unique_ptr<grpc::ContextAllocator> OpenCalls::MakeCounter() {
  return std::make_unique<Counter>(*this);
}

void OpenCalls::Add(int64_t count) {
  const MutexLock lock(mutex_);
  count_ += count;
  if (count_ == 0) none_.NotifyAll();
}

bool OpenCalls::AwaitNone(const Clock& clock, int64_t timeout_ms) {
  const int64_t deadline_us = clock.MonotonicUs() + timeout_ms * 1000;
  const MutexLock lock(mutex_);
  while (count_ > 0) {
    const int64_t left_us = deadline_us - clock.MonotonicUs();
    if (left_us <= 0) return false;
    none_.WaitFor(mutex_, left_us);
  }
  return true;
}

}  // namespace sluice
