// What the domains of one minimum lack (sluice/state/peer_terms.h), and which
// of them a class's tasks should go to first.
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
  // Of the minimum at `index` of the class's rules.  What is passed must
  // outlive this.
  DomainShares(const ClusterState& state, const ClassKey& key, size_t index);

  const DomainMinimum& minimum() const { return minimum_; }
  const Topology& topology() const { return *term_.topology; }
  // Of the tasks that the minimum means, those that run in the domain and were
  // not told to leave.
  int64_t CountIn(DomainIndex domain) const {
    return term_.meant.At(domain) - term_.leaving.At(domain);
  }

  // How many tasks the domains that have usable machines lack.
  int64_t Lacking() const;
  // By domain, of `count` tasks those that should go there first: no more than
  // the domain lacks, and than all its machines have room for together.  Where
  // there are too few, the emptiest domains rise together, like water.
  using RoomOn = absl::FunctionRef<int64_t(const Machine&)>;
  std::vector<int64_t> Of(int64_t count, RoomOn room_on) const;

 private:
  const ClusterState& state_;
  const DomainMinimum& minimum_;
  const CountedTerm& term_;
};

// Which domains have fewer tasks than the class's minimums ask for, to be
// appended to where its task runs or why it waits: "; too few of job web:
// zone=c has 0 of the 2 that it should have".  Empty where all have enough.
std::string MinimumsText(const ClusterState& state, const ClassKey& key);

}  // namespace sluice

#endif  // SLUICE_CONSTRAINTS_DOMAIN_SHARES_H_
