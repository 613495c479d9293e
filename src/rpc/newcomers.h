// Connections on which a client has asked whether there is a scheduler, and
// nothing else yet: who schedules next has just begun, and knows of nothing
// (docs/decisions/0022).
//
// Bounded: of more than so many, some are not told from those that are known.
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

  // `peer` is the other end as gRPC names it, "ipv4:10.0.0.1:37036"; where all
  // have one name, as on a Unix socket, nobody is a newcomer.
  void Add(const std::string& peer);
  // It has called something else.  Returns whether it was one.
  bool Remove(const std::string& peer);
  // Without a lock: nearly every call asks.
  bool empty() const { return is_empty_; }

 private:
  std::atomic<bool> is_empty_ = true;
  Mutex mutex_;
  absl::flat_hash_set<std::string> peers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_RPC_NEWCOMERS_H_
