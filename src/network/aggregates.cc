#include "network/aggregates.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace sluice {

Aggregates::Aggregates(const ClusterState& state, std::string_view label) {
  absl::flat_hash_map<std::string_view, size_t> by_value;
  for (const auto& [id, machine] : state.machines()) {
    const std::string* value = machine->FindLabel(label);
    if (value == nullptr || !machine->IsUsable()) continue;
    const auto [it, is_new] = by_value.try_emplace(*value, all_.size());
    if (is_new) all_.emplace_back();
    Aggregate& aggregate = all_[it->second];
    aggregate.used += machine->used;
    if (machine->is_measured) aggregate.used -= machine->reclaimed;
    aggregate.capacity += machine->allocatable;
    of_machine_.emplace(id, it->second);
  }
}

std::vector<MachineGroup> Aggregates::Cut(
    std::vector<MachineGroup> groups) const {
  if (empty()) return groups;
  std::vector<MachineGroup> cut;
  for (const MachineGroup& group : groups) {
    std::map<size_t, std::vector<const Machine*>> parts;
    for (const Machine* machine : group.machines) {
      parts[Of(machine->id)].push_back(machine);
    }
    for (auto& [aggregate, machines] : parts) {
      cut.push_back({group.kind, std::move(machines), group.free, group.room});
    }
  }
  std::ranges::sort(cut, {}, [](const MachineGroup& group) {
    return group.machines.front()->id;
  });
  return cut;
}

}  // namespace sluice
