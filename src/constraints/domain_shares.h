// How many tasks the domains of one minimum lack (sluice/state/peer_terms.h),
// and where a class's tasks should go first.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_CONSTRAINTS_DOMAIN_SHARES_H_
#define SLUICE_CONSTRAINTS_DOMAIN_SHARES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "sluice/state/machine.h"
#include "sluice/state/task.h"
#include "state/cluster_state.h"
#include "state/peer_table.h"
#include "state/topology.h"

namespace sluice {

class DomainShares {
 public:
  // For the minimum at `index` of the class's rules.  What is passed must
  // outlive this.
  DomainShares(const ClusterState& state, const ClassKey& key, size_t index);

  const DomainMinimum& minimum() const { return minimum_; }
  const Topology& topology() const { return *term_.topology; }
  // How many of the tasks that the minimum selects run in the domain and were
  // not told to leave.
  int64_t CountIn(DomainIndex domain) const {
    return term_.meant.At(domain) - term_.leaving.At(domain);
  }

  // How many tasks the domains with usable machines lack.
  int64_t Lacking() const;
  // By domain: how many of `count` tasks should go there first.  That is at
  // most what the domain lacks, and what its machines have room for together.
  // If there are too few tasks, the emptiest domains are filled to a common
  // level, like water.
  using RoomOn = absl::FunctionRef<int64_t(const Machine&)>;
  std::vector<int64_t> Of(int64_t count, RoomOn room_on) const;

 private:
  const ClusterState& state_;
  const DomainMinimum& minimum_;
  const CountedTerm& term_;
};

// The domains with fewer tasks than the class's minimums ask for, to be
// appended to where its task runs or why it waits: "; too few of job web:
// zone=c has 0 of the 2 that it should have".  Empty if all have enough.
std::string MinimumsText(const ClusterState& state, const ClassKey& key);

}  // namespace sluice

#endif  // SLUICE_CONSTRAINTS_DOMAIN_SHARES_H_
