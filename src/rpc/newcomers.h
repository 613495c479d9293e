// Connections on which a client has called nothing but Check and Schedule. Such
// a client may have just begun, and know nothing (docs/decisions/0022).
//
// Bounded: of more than kCountMax connections that called Check, an arbitrary
// one is forgotten.
//
// Threads: any.

#ifndef SLUICE_RPC_NEWCOMERS_H_
#define SLUICE_RPC_NEWCOMERS_H_

#include <atomic>
#include <cstddef>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "base/mutex.h"

namespace sluice {

class Newcomers {
 public:
  static constexpr size_t kCountMax = 1024;

  enum class Standing {
    kOther,     // No newcomer.
    kFirst,     // A newcomer that calls Schedule for the first time.
    kRepeated,  // A newcomer that called it before.
  };

  // `peer` is the other end as gRPC names it, "ipv4:10.0.0.1:37036".  If all
  // have the same name, as on a Unix socket, nobody is a newcomer.
  void NoteCheck(const std::string& peer);
  Standing NoteSchedule(const std::string& peer);
  // It has called something else.  It is no newcomer from now on, however often
  // it calls Check.
  void NoteOther(const std::string& peer);

 private:
  // Of those that called Check, what the next Schedule call says.
  using Standings = absl::flat_hash_map<std::string, Standing>;

  // Spares most daemons the lock: nobody has called Check.
  std::atomic<bool> is_empty_ = true;
  Mutex mutex_;
  Standings peers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_RPC_NEWCOMERS_H_
