// Connections on which a client has called nothing but Check and Schedule. Such
// a client may have just begun, and know nothing (docs/decisions/0022).
//
// Bounded: of more than kCountMax connections that called Check, an arbitrary
// one is forgotten.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_CLIENTS_NEWCOMERS_H_
#define SLUICE_CLIENTS_NEWCOMERS_H_

#include <cstddef>

#include "absl/container/btree_map.h"
#include "clients/schedule_call.h"

namespace sluice {

class Newcomers {
 public:
  static constexpr size_t kCountMax = 1024;

  enum class Standing {
    kOther,     // No newcomer.
    kFirst,     // A newcomer that calls Schedule for the first time.
    kRepeated,  // A newcomer that called it before.
  };

  // Nobody is a newcomer on a connection without an id.
  void NoteCheck(ConnectionId connection);
  Standing NoteSchedule(ConnectionId connection);
  // Something else was called.  Nobody is a newcomer there from now on, however
  // often Check is called.
  void NoteOther(ConnectionId connection);

 private:
  // Of those that called Check, what the next Schedule call says.
  absl::btree_map<ConnectionId, Standing> standings_;
};

}  // namespace sluice

#endif  // SLUICE_CLIENTS_NEWCOMERS_H_
