// The deltas that one client was told and that are not known to have arrived:
// the reply in flight of the contract, or what a feed has not confirmed.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_CLIENTS_DELIVERIES_H_
#define SLUICE_CLIENTS_DELIVERIES_H_

#include <cstddef>
#include <cstdint>
#include <deque>

#include "state/cluster_state.h"

namespace sluice {

class Deliveries {
 public:
  // `state` must outlive it.
  explicit Deliveries(ClusterState* state) : state_(*state) {}

  // A delta is told.  REQUIRES: it came after those that are open.
  void Begin(uint64_t sequence);
  // All up to this one have arrived.
  void Confirm(uint64_t up_to);
  // None of those that are open has arrived: they are to be told again.
  void TakeBack();

  size_t open_count() const { return open_.size(); }
  // Of those that are open, how many the client has yet to carry out; the
  // others were revoked.
  int64_t CountStanding(FeedId feed) const;

 private:
  ClusterState& state_;
  std::deque<uint64_t> open_;  // Their sequences, ascending.
};

}  // namespace sluice

#endif  // SLUICE_CLIENTS_DELIVERIES_H_
