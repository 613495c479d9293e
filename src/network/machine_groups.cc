#include "network/machine_groups.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"

namespace sluice {
namespace {

// A machine by what constraints and policies look at.
struct Look {
  KindId kind;
  const Machine* machine;

  friend bool operator==(const Look& a, const Look& b) {
    return a.kind == b.kind && a.machine->used == b.machine->used &&
           a.machine->allocatable == b.machine->allocatable &&
           a.machine->capacity == b.machine->capacity &&
           a.machine->used_host_ports == b.machine->used_host_ports;
  }
  template <class H>
  friend H AbslHashValue(H hash, const Look& look) {
    return H::combine(std::move(hash), look.kind, look.machine->used,
                      look.machine->allocatable);
  }
};

}  // namespace

std::vector<MachineGroup> GroupMachines(const ClusterState& state,
                                        const Eligibility& eligibility) {
  std::vector<MachineGroup> groups;
  absl::flat_hash_map<Look, size_t> group_of;
  for (const auto& [id, machine] : state.machines()) {
    if (!machine->IsUsable()) continue;
    const KindId kind = eligibility.KindOf(*machine);
    const auto [it, is_new] =
        group_of.try_emplace(Look{kind, machine.get()}, groups.size());
    if (is_new) groups.emplace_back().kind = kind;
    groups[it->second].machines.push_back(machine.get());
  }
  return groups;
}

int64_t TimesIn(const Resources& free, const ClassKey& task_class,
                int64_t limit) {
  // A second task would want the same ports.
  if (!task_class.rules->host_ports.empty()) {
    limit = std::min<int64_t>(limit, 1);
  }
  return task_class.request.TimesIn(free, limit);
}

}  // namespace sluice
