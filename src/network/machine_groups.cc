#include "network/machine_groups.h"

#include <algorithm>
#include <numeric>
#include <ranges>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"

namespace sluice {
namespace {

// Of what is free.
const Resources& KeptOn(const Machine& machine) {
  static const Resources nothing;
  return machine.KeepsRoom() ? machine.reserved : nothing;
}

bool KeepSame(const Machine& a, const Machine& b) {
  return (!a.KeepsRoom() && !b.KeepsRoom()) || KeptOn(a) == KeptOn(b);
}

// A machine by what constraints and policies look at.
struct Look {
  KindId kind;
  uint32_t part;
  const Machine* machine;

  friend bool operator==(const Look& a, const Look& b) {
    return a.kind == b.kind && a.part == b.part &&
           a.machine->used == b.machine->used &&
           a.machine->allocatable == b.machine->allocatable &&
           a.machine->is_measured == b.machine->is_measured &&
           (!a.machine->is_measured ||
            a.machine->reclaimed == b.machine->reclaimed) &&
           a.machine->capacity == b.machine->capacity &&
           KeepSame(*a.machine, *b.machine) &&
           a.machine->used_host_ports == b.machine->used_host_ports &&
           a.machine->kept_host_ports == b.machine->kept_host_ports;
  }
  template <class H>
  friend H AbslHashValue(H hash, const Look& look) {
    return H::combine(std::move(hash), look.kind, look.part, look.machine->used,
                      look.machine->allocatable);
  }
};

// Those before `size` ascend, and so do those from there on: now all do.
void PutInPlace(size_t size, std::vector<const Machine*>* machines) {
  auto rest = machines->begin() + static_cast<ptrdiff_t>(size);
  const std::vector<const Machine*> joined(rest, machines->end());
  auto to = machines->end();
  for (const Machine* machine : joined | std::views::reverse) {
    const auto place = std::ranges::upper_bound(machines->begin(), rest,
                                                machine->id, {}, &Machine::id);
    to = std::move_backward(place, rest, to);
    *--to = machine;
    rest = place;
  }
}

}  // namespace

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
  // What is to be seen on a machine by itself, class by class.
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
  absl::flat_hash_map<Look, size_t> group_of;
  group_of.reserve(machines.size());
  for (const Machine* machine : machines) {
    if (!machine->IsUsable()) continue;
    const KindId kind = eligibility.KindOf(*machine);
    const auto [it, is_new] = group_of.try_emplace(
        Look{kind, parts.PartOf(machine->id), machine}, groups.size());
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

const std::vector<MachineGroup>& MachineGrouping::Fresh(
    const ClusterState& state, const Eligibility& eligibility) {
  std::vector<uint32_t> changed;
  uint32_t index = 0;
  bool is_same = seen_.size() == state.machines().size();
  for (const auto& [id, machine] : state.machines()) {
    if (!is_same) break;
    const Seen& seen = seen_[index];
    is_same = seen.machine == machine.get();
    if (is_same && (seen.revision != machine->revision ||
                    seen.is_stale != machine->is_stale ||
                    seen.kind != eligibility.KindOf(*machine))) {
      changed.push_back(index);
    }
    ++index;
  }
  // With so many it is no more work to begin anew.
  if (!is_same || changed.size() > seen_.size() / 4) {
    Rebuild(state, eligibility);
  } else if (!changed.empty()) {
    Update(changed, eligibility);
  }
  return groups_;
}

void MachineGrouping::Rebuild(const ClusterState& state,
                              const Eligibility& eligibility) {
  seen_.clear();
  groups_.clear();
  leaders_.clear();
  by_hash_.clear();
  for (const auto& [id, machine] : state.machines()) {
    seen_.push_back({.machine = machine.get()});
    LookAt(&seen_.back(), eligibility);
  }
  std::vector<uint32_t> all(seen_.size());
  std::iota(all.begin(), all.end(), 0);
  EnterAll(all);
}

void MachineGrouping::Update(std::span<const uint32_t> changed,
                             const Eligibility& eligibility) {
  // First all leave, so that who is still in a group is as it was.
  LeaveAll(changed);
  for (const uint32_t index : changed) LookAt(&seen_[index], eligibility);
  EnterAll(changed);
  PutInOrder();
}

void MachineGrouping::LookAt(Seen* seen, const Eligibility& eligibility) {
  seen->revision = seen->machine->revision;
  seen->is_stale = seen->machine->is_stale;
  seen->kind = eligibility.KindOf(*seen->machine);
}

void MachineGrouping::LeaveAll(std::span<const uint32_t> indices) {
  std::vector<uint32_t> leaving;
  for (const uint32_t index : indices) {
    if (seen_[index].group != kNone) leaving.push_back(index);
  }
  std::ranges::stable_sort(
      leaving, {}, [this](uint32_t index) { return seen_[index].group; });
  for (auto first = leaving.begin(); first != leaving.end();) {
    const uint32_t group = seen_[*first].group;
    const auto last = std::find_if(
        first, leaving.end(),
        [this, group](uint32_t index) { return seen_[index].group != group; });
    Leave(group, {first, last});
    first = last;
  }
}

void MachineGrouping::Leave(uint32_t group, std::span<const uint32_t> indices) {
  auto& machines = groups_[group].machines;
  // What stays between two that leave moves to the front at once.
  auto end = machines.begin();
  auto rest = machines.begin();
  for (const uint32_t index : indices) {
    const auto place = std::ranges::lower_bound(
        rest, machines.end(), seen_[index].machine->id, {}, &Machine::id);
    end = end == rest ? place : std::move(rest, place, end);
    rest = place + 1;
  }
  machines.erase(std::move(rest, machines.end(), end), machines.end());

  const uint32_t leader = leaders_[group];
  if (!std::ranges::binary_search(indices, leader)) return;
  const uint64_t hash = seen_[leader].hash;
  const auto same = by_hash_.find(hash);
  const auto place = std::ranges::find(same->second, leader);
  if (machines.empty()) {
    same->second.erase(place);
    if (same->second.empty()) by_hash_.erase(same);
    return;
  }
  const auto next =
      std::ranges::lower_bound(seen_, machines.front()->id, {},
                               [](const Seen& one) { return one.machine->id; });
  leaders_[group] = static_cast<uint32_t>(next - seen_.begin());
  next->hash = hash;
  *place = leaders_[group];
}

void MachineGrouping::EnterAll(std::span<const uint32_t> indices) {
  // Groups that others joined, and how many machines they had before.
  std::vector<std::pair<uint32_t, size_t>> joined;
  std::vector<bool> is_joined(groups_.size());
  for (const uint32_t index : indices) {
    Seen& seen = seen_[index];
    const uint32_t former = std::exchange(seen.group, kNone);
    if (!seen.machine->IsUsable()) continue;
    seen.group = FindGroup(index, former);
    is_joined.resize(groups_.size());
    auto& machines = groups_[seen.group].machines;
    if (!machines.empty() && machines.back()->id > seen.machine->id &&
        !is_joined[seen.group]) {
      is_joined[seen.group] = true;
      joined.emplace_back(seen.group, machines.size());
    }
    machines.push_back(seen.machine);
  }
  for (const auto& [group, size] : joined) {
    PutInPlace(size, &groups_[group].machines);
  }
}

uint32_t MachineGrouping::FindGroup(uint32_t index, uint32_t former) {
  Seen& seen = seen_[index];
  const Look look{seen.kind, 0, seen.machine};
  seen.hash = absl::HashOf(look);  // It only finds: nothing follows from it.
  auto& same = by_hash_[seen.hash];
  for (const uint32_t leader : same) {
    if (Look{seen_[leader].kind, 0, seen_[leader].machine} == look) {
      return seen_[leader].group;
    }
  }
  // It keeps the place of the group that all left.
  if (former == kNone || !groups_[former].machines.empty()) {
    former = static_cast<uint32_t>(groups_.size());
    groups_.emplace_back();
    leaders_.emplace_back();
  }
  groups_[former] = {seen.kind, {}, seen.machine->Free()};
  leaders_[former] = index;
  same.push_back(index);
  return former;
}

void MachineGrouping::PutInOrder() {
  const auto first_of = [this](uint32_t group) {
    return groups_[group].machines.front()->id;
  };
  std::vector<uint32_t> order;
  for (uint32_t group = 0; group < groups_.size(); ++group) {
    if (!groups_[group].machines.empty()) order.push_back(group);
  }
  if (order.size() == groups_.size() &&
      std::ranges::is_sorted(order, {}, first_of)) {
    return;
  }
  std::ranges::sort(order, {}, first_of);
  std::vector<MachineGroup> groups;
  std::vector<uint32_t> leaders;
  std::vector<uint32_t> place_of(groups_.size(), kNone);
  for (const uint32_t group : order) {
    place_of[group] = static_cast<uint32_t>(groups.size());
    groups.push_back(std::move(groups_[group]));
    leaders.push_back(leaders_[group]);
  }
  groups_ = std::move(groups);
  leaders_ = std::move(leaders);
  for (Seen& seen : seen_) {
    if (seen.group != kNone) seen.group = place_of[seen.group];
  }
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
