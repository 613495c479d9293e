#include "state/topology.h"

#include <string>
#include <utility>

#include "base/strings.h"
#include "sluice/state/topology_key.h"

namespace sluice {

void Tally::Add(DomainIndex domain, int64_t count) {
  if (domain == kNoDomain || count == 0) return;
  total_ += count;
  const auto it = counts_.try_emplace(domain, 0).first;
  it->second += count;
  if (it->second == 0) counts_.erase(it);
}

DomainIndex Topology::DomainFor(const Machine& machine) {
  std::string value;
  if (key_ == kEachMachine) {
    value = StrCat(machine.id.value);
  } else if (key_ != kWholeCluster) {
    const std::string* label = machine.FindLabel(key_);
    if (label == nullptr) return kNoDomain;
    value = *label;
  }
  const auto it = domains_.find(value);
  if (it != domains_.end()) return it->second;
  DomainIndex domain = domain_end();
  if (free_.empty()) {
    values_.emplace_back();
    machines_.emplace_back();
  } else {
    domain = free_.back();
    free_.pop_back();
  }
  values_[static_cast<size_t>(domain)] = value;
  domains_.emplace(std::move(value), domain);
  return domain;
}

void Topology::Move(MachineId machine, DomainIndex domain) {
  const DomainIndex former = DomainOf(machine);
  if (former == domain) return;
  if (former != kNoDomain) {
    auto& machines = machines_[static_cast<size_t>(former)];
    machines.erase(machine);
    if (machines.size() == 1) --shared_count_;
    if (machines.empty()) {
      domains_.erase(values_[static_cast<size_t>(former)]);
      free_.push_back(former);
    }
    domain_of_.erase(machine);
  }
  if (domain != kNoDomain) {
    auto& machines = machines_[static_cast<size_t>(domain)];
    machines.insert(machine);
    if (machines.size() == 2) ++shared_count_;
    domain_of_[machine] = domain;
  }
}

}  // namespace sluice
