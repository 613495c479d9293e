#include "network/machine_groups.h"

#include "absl/container/flat_hash_map.h"

namespace sluice {
namespace {

// A machine by what constraints and policies look at.
struct Kind {
  const Machine* machine;

  friend bool operator==(const Kind& a, const Kind& b) {
    return a.machine->used == b.machine->used &&
           a.machine->allocatable == b.machine->allocatable &&
           a.machine->capacity == b.machine->capacity;
  }
  template <class H>
  friend H AbslHashValue(H hash, const Kind& kind) {
    return H::combine(std::move(hash), kind.machine->used,
                      kind.machine->allocatable);
  }
};

}  // namespace

std::vector<MachineGroup> GroupMachines(const ClusterState& state) {
  std::vector<MachineGroup> groups;
  absl::flat_hash_map<Kind, size_t> group_of;
  for (const auto& [id, machine] : state.machines()) {
    if (!machine->IsUsable()) continue;
    const auto [it, is_new] =
        group_of.try_emplace(Kind{machine.get()}, groups.size());
    if (is_new) groups.emplace_back();
    groups[it->second].machines.push_back(machine.get());
  }
  return groups;
}

}  // namespace sluice
