// How well a machine suits a task, given the other tasks that run in its
// domains.
//
// Threads: values.

#ifndef SLUICE_CONSTRAINTS_PEER_STANDING_H_
#define SLUICE_CONSTRAINTS_PEER_STANDING_H_

#include <cstdint>

namespace sluice {

struct PeerStanding {
  // By how much weight of preferred terms, its own and those of others, it
  // falls short of the best possible, and the maximum of that.
  int64_t missed_weight = 0;
  int64_t missed_weight_max = 0;
  // By how many tasks its domains exceed the emptiest ones of the soft spread
  // constraints.  Each task counts kCrowdingUnit times the natural logarithm of
  // two plus the number of domains.
  int64_t crowding = 0;

  friend bool operator==(const PeerStanding&, const PeerStanding&) = default;
};

inline constexpr int64_t kCrowdingUnit = 1024;

}  // namespace sluice

#endif  // SLUICE_CONSTRAINTS_PEER_STANDING_H_
