#include "core/machines_by_load.h"

namespace sluice {

MachinesByLoad::MachinesByLoad(const ClusterState& state,
                               const PolicySet& policies,
                               const Eligibility& eligibility)
    : policies_(policies),
      eligibility_(eligibility),
      of_kind_(static_cast<size_t>(eligibility.kind_count())) {
  for (const auto& [id, machine] : state.machines()) {
    if (machine->IsUsable()) Add(*machine);
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
