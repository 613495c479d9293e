// How many calls gRPC is busy with: from their arrival until their reply has
// been handed to the transport, or they are broken off.
//
// gRPC's own shutdown waits until clients have closed their connections, even
// idle ones.  This count tells when there is nothing left to wait for.
//
// Threads: any.

#ifndef SLUICE_SERVER_OPEN_CALLS_H_
#define SLUICE_SERVER_OPEN_CALLS_H_

#include <cstdint>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "sluice/base/clock.h"

namespace grpc {
class ContextAllocator;
}  // namespace grpc

namespace sluice {

class OpenCalls {
 public:
  // For grpc::ServerBuilder::SetContextAllocator(); what it builds must end
  // before this does.
  std::unique_ptr<grpc::ContextAllocator> MakeCounter();

  // Waits until there is none.  Returns false if `timeout_ms` passed first.
  bool AwaitNone(const Clock& clock, int64_t timeout_ms);

 private:
  class Counter;

  void Add(int64_t count);

  Mutex mutex_;
  CondVar none_;
  int64_t count_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace sluice

#endif  // SLUICE_SERVER_OPEN_CALLS_H_
