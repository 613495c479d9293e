// Machines that nothing can tell apart, as one.
//
// What a constraint allows and what a policy charges follows from what a
// machine offers and what is used of it.  Machines that are equal in this are
// one node of the network, which costs no more to draw and to solve for a
// thousand of them than for one (Firmament's equivalence classes, of machines).
//
// Threads: values.  Determinism: groups in the order of their first machines.

#ifndef SLUICE_NETWORK_MACHINE_GROUPS_H_
#define SLUICE_NETWORK_MACHINE_GROUPS_H_

#include <cstdint>
#include <vector>

#include "state/cluster_state.h"

namespace sluice {

struct MachineGroup {
  std::vector<const Machine*> machines;  // Ascending ids; never empty.

  // Stands for all of them.
  const Machine& representative() const { return *machines.front(); }
  int64_t size() const { return std::ssize(machines); }
};

// The usable machines of `state`, valid until it changes.
std::vector<MachineGroup> GroupMachines(const ClusterState& state);

}  // namespace sluice

#endif  // SLUICE_NETWORK_MACHINE_GROUPS_H_
