#include "round/search/machines_by_load.h"

#include <algorithm>

namespace sluice {

MachinesByLoad::MachinesByLoad(const ClusterState& state,
                               const PolicySet& policies,
                               const Eligibility& eligibility)
    : policies_(policies),
      eligibility_(eligibility),
      of_kind_(static_cast<size_t>(eligibility.kind_count())) {
  // Sorted first: a set is built fastest from sorted input.
  std::vector<std::vector<std::pair<Cost, MachineId>>> of_kind(of_kind_.size());
  cost_.reserve(state.machines().size());
  for (const auto& [id, machine] : state.machines()) {
    if (!machine->IsUsable()) continue;
    const Cost cost = policies.LoadCost(*machine, machine->used);
    cost_[id] = cost;
    of_kind[static_cast<size_t>(eligibility.KindOf(*machine))].emplace_back(
        cost, id);
  }
  for (size_t kind = 0; kind < of_kind.size(); ++kind) {
    std::ranges::sort(of_kind[kind]);
    of_kind_[kind].insert(of_kind[kind].begin(), of_kind[kind].end());
  }
}

void MachinesByLoad::Update(const Machine& machine) {
  const auto it = cost_.find(machine.id);
  if (it == cost_.end()) return;
  of_kind_[static_cast<size_t>(eligibility_.KindOf(machine))].erase(
      {it->second, machine.id});
  Add(machine);
}

void MachinesByLoad::Add(const Machine& machine) {
  const Cost cost = policies_.LoadCost(machine, machine.used);
  cost_[machine.id] = cost;
  of_kind_[static_cast<size_t>(eligibility_.KindOf(machine))].insert(
      {cost, machine.id});
}

}  // namespace sluice
