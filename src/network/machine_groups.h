// Combines machines that nothing can tell apart.
//
// What a constraint allows and what a policy charges depends on what a machine
// offers, what is used of it and its kind (constraints/machine_kinds.h).  For
// classes with rules between tasks, it also depends on the machine's domains
// and what runs there (constraints/class_peers.h).  Machines that are equal in
// all this are one node of the network.  A thousand of them cost no more to
// draw and to solve than one (Firmament's equivalence classes, of machines).
//
// Threads: values.  Determinism: groups in the order of their first machines.

#ifndef SLUICE_NETWORK_MACHINE_GROUPS_H_
#define SLUICE_NETWORK_MACHINE_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "constraints/class_peers.h"
#include "network/eligibility.h"
#include "state/cluster_state.h"

namespace sluice {

inline constexpr size_t kNoAggregate = ~size_t{0};
inline constexpr uint32_t kNoGroup = ~uint32_t{0};

struct MachineGroup {
  KindId kind = kNoKind;
  std::vector<const Machine*> machines;  // Ascending ids; never empty.
  Resources free;                        // Per machine.
  // How many tasks of each class of a pass are to share each machine; these fit
  // together.  Empty: as many as fit.
  std::vector<int64_t> room = {};

  // Stands for all of them.
  const Machine& representative() const { return *machines.front(); }
  int64_t size() const { return std::ssize(machines); }
};

// Tells machines apart by the tasks that run near them, as far as this matters
// to some classes.
class MachineParts {
 public:
  // All machines are one part.
  MachineParts() = default;
  // With `tells_domains`, also tells apart equal machines in different domains,
  // even if each machine is a domain.
  MachineParts(const ClusterState& state,
               std::span<const ClassPeers* const> classes, bool tells_domains);
  // Parts that the caller has determined.
  explicit MachineParts(absl::flat_hash_map<MachineId, uint32_t> part_of)
      : part_of_(std::move(part_of)) {}

  // Told apart by either of the two.
  MachineParts(const MachineParts& a, const MachineParts& b);

  uint32_t PartOf(MachineId machine) const {
    const auto it = part_of_.find(machine);
    return it == part_of_.end() ? 0 : it->second;
  }

 private:
  absl::flat_hash_map<MachineId, uint32_t> part_of_;
};

// The usable machines of `state`, valid until it changes.
// REQUIRES: `eligibility` has seen all changes of the state.
std::vector<MachineGroup> GroupMachines(const ClusterState& state,
                                        const Eligibility& eligibility,
                                        const MachineParts& parts = {});

// The usable ones of these.  REQUIRES: ascending ids.
std::vector<MachineGroup> GroupMachines(
    std::span<const Machine* const> machines, const Eligibility& eligibility,
    const MachineParts& parts = {});

// One group for each of these machines (CostModel::TellsMachinesApart).
std::vector<MachineGroup> PartGroups(std::span<const MachineGroup> groups);

// How many tasks of the class fit on one machine with `free`, at most `limit`.
int64_t TimesIn(const Resources& free, const ClassKey& task_class,
                int64_t limit);

}  // namespace sluice

#endif  // SLUICE_NETWORK_MACHINE_GROUPS_H_
