#include "network/machine_grouping.h"

#include <algorithm>
#include <numeric>
#include <ranges>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"

namespace sluice {
namespace {

// Merges two ascending runs, before and from `size`, into one.
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

void MachineGrouping::Refresh(const ClusterState& state,
                              const Eligibility& eligibility) {
  relabelings_ = eligibility.relabelings();
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
  // With this many changes, starting anew is no more work.
  if (!is_same || changed.size() > seen_.size() / 4) {
    Rebuild(state, eligibility);
  } else if (!changed.empty()) {
    Update(eligibility, changed);
  }
}

void MachineGrouping::Rebuild(const ClusterState& state,
                              const Eligibility& eligibility) {
  seen_.clear();
  for (const auto& [id, machine] : state.machines()) {
    seen_.push_back({machine.get(), machine->revision,
                     eligibility.KindOf(*machine), machine->is_stale});
  }
  group_at_.assign(seen_.size(), kNoGroup);
  hashes_.assign(seen_.size(), 0);
  groups_.clear();
  leaders_.clear();
  by_hash_.clear();
  std::vector<uint32_t> all(seen_.size());
  std::iota(all.begin(), all.end(), 0);
  EnterAll(all);
  have_all_changed_ = true;
}

void MachineGrouping::RefreshAggregates(const ClusterState& state) {
  if (label_.empty()) return;
  const auto repeated = std::ranges::unique(changed_);
  changed_.erase(repeated.begin(), repeated.end());
  const std::vector<uint32_t> changed = std::exchange(changed_, {});
  const bool keep_labels =
      std::exchange(relabelings_in_aggregates_, relabelings_) == relabelings_;
  if (!std::exchange(have_all_changed_, false)) {
    if (changed.empty()) return;
    if (!aggregates_.empty() && aggregates_.Update(changed, keep_labels)) {
      aggregates_.UpdateParts(group_at_, &parts_);
      return;
    }
  }
  aggregates_ = Aggregates(state, label_);
  parts_.clear();
  if (!aggregates_.empty()) parts_ = aggregates_.PartsBy(group_at_);
}

void MachineGrouping::Update(const Eligibility& eligibility,
                             std::span<const uint32_t> changed) {
  for (const uint32_t index : changed) {
    Seen& seen = seen_[index];
    seen = {seen.machine, seen.machine->revision,
            eligibility.KindOf(*seen.machine), seen.machine->is_stale};
  }
  // All leave first, so machines that remain in a group are unchanged.
  LeaveAll(changed);
  EnterAll(changed);
  PutInOrder();
  if (!label_.empty()) {
    const auto more =
        changed_.insert(changed_.end(), changed.begin(), changed.end());
    std::ranges::inplace_merge(changed_, more);
  }
}

MachineLook MachineGrouping::LookOf(uint32_t index) const {
  const Seen& seen = seen_[index];
  return {seen.kind, 0, seen.machine};
}

void MachineGrouping::LeaveAll(std::span<const uint32_t> indices) {
  std::vector<uint32_t> leaving;
  for (const uint32_t index : indices) {
    if (group_at_[index] != kNoGroup) leaving.push_back(index);
  }
  std::ranges::stable_sort(leaving, {},
                           [this](uint32_t index) { return group_at_[index]; });
  for (auto first = leaving.begin(); first != leaving.end();) {
    const uint32_t group = group_at_[*first];
    const auto last = std::find_if(
        first, leaving.end(),
        [this, group](uint32_t index) { return group_at_[index] != group; });
    Leave(group, {first, last});
    first = last;
  }
}

void MachineGrouping::Leave(uint32_t group, std::span<const uint32_t> indices) {
  auto& machines = groups_[group].machines;
  // Moves the machines between two leaving ones forward at once.
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
  const uint64_t hash = hashes_[leader];
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
  hashes_[leaders_[group]] = hash;
  *place = leaders_[group];
}

void MachineGrouping::EnterAll(std::span<const uint32_t> indices) {
  // Groups that others joined, and how many machines they had before.
  std::vector<std::pair<uint32_t, size_t>> joined;
  std::vector<bool> is_joined(groups_.size());
  for (const uint32_t index : indices) {
    const Machine* machine = seen_[index].machine;
    uint32_t& group = group_at_[index];
    const uint32_t former = std::exchange(group, kNoGroup);
    if (!machine->IsUsable()) continue;
    group = FindGroup(index, former);
    is_joined.resize(groups_.size());
    auto& machines = groups_[group].machines;
    if (!machines.empty() && machines.back()->id > machine->id &&
        !is_joined[group]) {
      is_joined[group] = true;
      joined.emplace_back(group, machines.size());
    }
    machines.push_back(machine);
  }
  for (const auto& [group, size] : joined) {
    PutInPlace(size, &groups_[group].machines);
  }
}

uint32_t MachineGrouping::FindGroup(uint32_t index, uint32_t former) {
  const MachineLook look = LookOf(index);
  const uint64_t hash = absl::HashOf(look);  // Only to find it.
  hashes_[index] = hash;
  auto& same = by_hash_[hash];
  for (const uint32_t leader : same) {
    if (LookOf(leader) == look) return group_at_[leader];
  }
  // It takes the place of the group that all left.
  if (former == kNoGroup || !groups_[former].machines.empty()) {
    former = static_cast<uint32_t>(groups_.size());
    groups_.emplace_back();
    leaders_.emplace_back();
  }
  groups_[former] = {
      .kind = look.kind,
      .machines = {},
      .free = look.machine->Free(),
  };
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
  std::vector<uint32_t> place_of(groups_.size(), kNoGroup);
  for (const uint32_t group : order) {
    place_of[group] = static_cast<uint32_t>(groups.size());
    groups.push_back(std::move(groups_[group]));
    leaders.push_back(leaders_[group]);
  }
  groups_ = std::move(groups);
  leaders_ = std::move(leaders);
  for (uint32_t& group : group_at_) {
    if (group != kNoGroup) group = place_of[group];
  }
}

}  // namespace sluice
