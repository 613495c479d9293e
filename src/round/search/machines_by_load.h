// The usable machines of each kind, in ascending order of load cost.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_ROUND_SEARCH_MACHINES_BY_LOAD_H_
#define SLUICE_ROUND_SEARCH_MACHINES_BY_LOAD_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "cost/policy_set.h"
#include "network/eligibility.h"
#include "state/cluster_state.h"

namespace sluice {

class MachinesByLoad {
 public:
  // What is passed must outlive this.  REQUIRES: the eligibility is fresh.
  MachinesByLoad(const ClusterState& state, const PolicySet& policies,
                 const Eligibility& eligibility);

  // By load cost, then id.
  using Machines = absl::btree_set<std::pair<Cost, MachineId>>;
  const Machines& OfKind(size_t kind) const { return of_kind_[kind]; }

  // Call it when the machine's load has changed.
  void Update(const Machine& machine);

 private:
  void Add(const Machine& machine);

  const PolicySet& policies_;
  const Eligibility& eligibility_;
  std::vector<Machines> of_kind_;
  absl::flat_hash_map<MachineId, Cost> cost_;
};

}  // namespace sluice

#endif  // SLUICE_ROUND_SEARCH_MACHINES_BY_LOAD_H_
