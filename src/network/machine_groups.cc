#include "network/machine_groups.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "network/machine_look.h"

namespace sluice {

MachineParts::MachineParts(const ClusterState& state,
                           std::span<const ClassPeers* const> classes,
                           bool tells_domains) {
  std::vector<const Topology*> topologies;
  for (const ClassPeers* peers : classes) {
    for (const Topology* topology : peers->Topologies()) {
      if (std::ranges::find(topologies, topology) == topologies.end()) {
        topologies.push_back(topology);
      }
    }
  }
  if (topologies.empty()) return;
  // What can be seen on each machine, class by class.
  absl::flat_hash_map<MachineId, std::vector<int64_t>> seen;
  for (size_t i = 0; i < classes.size(); ++i) {
    classes[i]->VisitMachines(
        [&](MachineId machine, size_t what, int64_t number) {
          std::vector<int64_t>& numbers = seen[machine];
          numbers.push_back(static_cast<int64_t>(i));
          numbers.push_back(static_cast<int64_t>(what));
          numbers.push_back(number);
        });
  }
  absl::flat_hash_map<std::vector<int64_t>, uint32_t> parts;
  std::vector<int64_t> look;
  for (const auto& [id, machine] : state.machines()) {
    look.clear();
    for (const Topology* topology : topologies) {
      const DomainIndex domain = topology->DomainOf(id);
      look.push_back(topology->is_by_machine() && !tells_domains
                         ? domain == kNoDomain
                         : domain);
    }
    if (const auto it = seen.find(id); it != seen.end()) {
      look.insert(look.end(), it->second.begin(), it->second.end());
    }
    const auto part = static_cast<uint32_t>(parts.size());
    part_of_[id] = parts.try_emplace(look, part).first->second;
  }
}

MachineParts::MachineParts(const MachineParts& a, const MachineParts& b) {
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, uint32_t> parts = {
      {{0, 0}, 0}};
  const auto enter = [&](MachineId machine) {
    const auto part = static_cast<uint32_t>(parts.size());
    part_of_[machine] =
        parts.try_emplace({a.PartOf(machine), b.PartOf(machine)}, part)
            .first->second;
  };
  for (const auto& [machine, part] : a.part_of_) enter(machine);
  for (const auto& [machine, part] : b.part_of_) enter(machine);
}

std::vector<MachineGroup> GroupMachines(const ClusterState& state,
                                        const Eligibility& eligibility,
                                        const MachineParts& parts) {
  std::vector<const Machine*> machines;
  machines.reserve(state.machines().size());
  for (const auto& [id, machine] : state.machines()) {
    machines.push_back(machine.get());
  }
  return GroupMachines(machines, eligibility, parts);
}

std::vector<MachineGroup> GroupMachines(
    std::span<const Machine* const> machines, const Eligibility& eligibility,
    const MachineParts& parts) {
  std::vector<MachineGroup> groups;
  absl::flat_hash_map<MachineLook, size_t> group_of;
  group_of.reserve(machines.size());
  for (const Machine* machine : machines) {
    if (!machine->IsUsable()) continue;
    const KindId kind = eligibility.KindOf(*machine);
    const auto [it, is_new] = group_of.try_emplace(
        MachineLook{kind, parts.PartOf(machine->id), machine}, groups.size());
    if (is_new) groups.push_back({kind, {}, machine->Free()});
    groups[it->second].machines.push_back(machine);
  }
  return groups;
}

std::vector<MachineGroup> PartGroups(std::span<const MachineGroup> groups) {
  std::vector<MachineGroup> parted;
  for (const MachineGroup& group : groups) {
    for (const Machine* machine : group.machines) {
      parted.push_back({group.kind, {machine}, group.free, group.room});
    }
  }
  std::ranges::sort(parted, {}, [](const MachineGroup& group) {
    return group.representative().id;
  });
  return parted;
}

int64_t TimesIn(const Resources& free, const ClassKey& task_class,
                int64_t limit) {
  if (task_class.rules->ComeOneByOne()) {
    limit = std::min<int64_t>(limit, 1);
  }
  return task_class.request.TimesIn(free, limit);
}

}  // namespace sluice
