// Connections on which a client has only asked so far whether there is a
// scheduler.  A client that calls Schedule next has just begun and knows
// nothing (docs/decisions/0022).
//
// Bounded: beyond kCountMax, an arbitrary one no longer counts as a newcomer.
//
// Threads: any.

#ifndef SLUICE_RPC_NEWCOMERS_H_
#define SLUICE_RPC_NEWCOMERS_H_

#include <atomic>
#include <cstddef>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "base/mutex.h"

namespace sluice {

class Newcomers {
 public:
  static constexpr size_t kCountMax = 1024;

  // `peer` is the other end as gRPC names it, "ipv4:10.0.0.1:37036".  If all
  // have the same name, as on a Unix socket, nobody is a newcomer.
  void Add(const std::string& peer);
  // It has called something else.  Returns true if it was a newcomer.
  bool Remove(const std::string& peer);
  // Takes no lock, since nearly every call asks.
  bool empty() const { return is_empty_; }

 private:
  std::atomic<bool> is_empty_ = true;
  Mutex mutex_;
  absl::flat_hash_set<std::string> peers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_RPC_NEWCOMERS_H_
