#include "network/aggregates.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace sluice {

void Aggregates::Refresh(const ClusterState& state, std::string_view label) {
  size_t index = 0;
  bool is_same = seen_.size() == state.machines().size();
  for (const auto& [id, machine] : state.machines()) {
    if (!is_same) break;
    is_same = seen_[index++].machine == machine.get();
  }
  if (!is_same) {
    seen_.clear();
    all_.clear();
    by_value_.clear();
    of_machine_.clear();
    for (const auto& [id, machine] : state.machines()) {
      Enter(label, &seen_.emplace_back(Seen{.machine = machine.get()}));
    }
    return;
  }
  for (Seen& seen : seen_) {
    if (seen.revision == seen.machine->revision &&
        seen.is_stale == seen.machine->is_stale) {
      continue;
    }
    if (seen.aggregate != kNone) {
      all_[seen.aggregate].used -= seen.share.used;
      all_[seen.aggregate].capacity -= seen.share.capacity;
      of_machine_.erase(seen.machine->id);
    }
    Enter(label, &seen);
  }
}

void Aggregates::Enter(std::string_view label, Seen* seen) {
  const Machine& machine = *seen->machine;
  *seen = {.machine = &machine,
           .revision = machine.revision,
           .is_stale = machine.is_stale};
  const std::string* value = machine.FindLabel(label);
  if (value == nullptr || !machine.IsUsable()) return;
  const auto [it, is_new] = by_value_.try_emplace(*value, all_.size());
  if (is_new) all_.emplace_back();
  seen->aggregate = it->second;
  seen->share = {.used = machine.used, .capacity = machine.allocatable};
  if (machine.is_measured) seen->share.used -= machine.reclaimed;
  all_[seen->aggregate].used += seen->share.used;
  all_[seen->aggregate].capacity += seen->share.capacity;
  of_machine_.emplace(machine.id, seen->aggregate);
}

std::vector<MachineGroup> Aggregates::Cut(
    std::vector<MachineGroup> groups) const {
  if (empty()) return groups;
  std::vector<MachineGroup> cut;
  for (MachineGroup& group : groups) {
    const size_t first = Of(group.machines.front()->id);
    if (std::ranges::all_of(group.machines, [&](const Machine* machine) {
          return Of(machine->id) == first;
        })) {
      cut.push_back(std::move(group));
      continue;
    }
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
