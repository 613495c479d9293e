// Eligibility that is brought up to date when it is asked for.
//
// Commands may change machines and rules between two steps of a round.  Whoever
// needs eligibility asks here, and never has to know what happened since.
//
// Threads: none; confined to its owner.

#ifndef SLUICE_NETWORK_FRESH_ELIGIBILITY_H_
#define SLUICE_NETWORK_FRESH_ELIGIBILITY_H_

#include <cstdint>
#include <optional>

#include "network/eligibility.h"
#include "state/cluster_state.h"

namespace sluice {

class FreshEligibility {
 public:
  // Both must outlive it.
  FreshEligibility(ClusterState* state, Eligibility* eligibility)
      : state_(*state), eligibility_(*eligibility) {}

  // As the state is now.  The reference is good for as long as no command
  // comes, even if tasks are placed meanwhile.
  Eligibility& Now() {
    if (version_ != state_.version()) {
      eligibility_.Refresh(&state_);
      version_ = state_.version();
    }
    return eligibility_;
  }

 private:
  ClusterState& state_;
  Eligibility& eligibility_;
  std::optional<uint64_t> version_;  // Of the state when it was refreshed.
};

}  // namespace sluice

#endif  // SLUICE_NETWORK_FRESH_ELIGIBILITY_H_
