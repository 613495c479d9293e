// Decides whether this daemon answers, or leaves that to the one that leads.
//
// A follower answers the scheduling service, feeds and the inspector with
// UNAVAILABLE.  The message says who leads.  So does the detail for programs: a
// sluice.v1.NotLeading in a google.rpc.Status, where gRPC's clients look for it
// (sluice/v1/errors.proto).
//
// Threads: any.

#ifndef SLUICE_RPC_GATE_H_
#define SLUICE_RPC_GATE_H_

#include <grpcpp/support/status.h>

#include <atomic>
#include <string>

#include "base/mutex.h"

namespace sluice {

class Gate {
 public:
  // Calls are answered from now on.
  void Open() { is_open_ = true; }
  bool is_open() const { return is_open_; }

  // Where calls are answered while the gate is closed; empty: not known.
  void SetLeader(std::string address);

  // The status of calls while the gate is closed.
  grpc::Status Refusal() const;

 private:
  std::atomic<bool> is_open_ = false;
  mutable Mutex mutex_;
  std::string leader_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_RPC_GATE_H_
