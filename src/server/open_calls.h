// The number of calls that gRPC is busy with.  A call counts from its arrival
// until its reply has been handed to the transport, or until it is broken off.
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
  // For grpc::ServerBuilder::SetContextAllocator(); this object must outlive
  // the server that is built.
  std::unique_ptr<grpc::ContextAllocator> MakeCounter();

  // Waits until no call is open.  Returns false if `timeout_ms` passed first.
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
