#include "network/machine_grouping.h"

#include <algorithm>
#include <numeric>
#include <ranges>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"

namespace sluice {
namespace {

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

void MachineGrouping::Refresh(const ClusterState& state,
                              const Eligibility& eligibility) {
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
    Update(state, eligibility, changed);
  }
}

void MachineGrouping::Rebuild(const ClusterState& state,
                              const Eligibility& eligibility) {
  seen_.clear();
  for (const auto& [id, machine] : state.machines()) {
    seen_.push_back({machine.get(), machine->revision,
                     eligibility.KindOf(*machine), machine->is_stale});
  }
  wholes_.Rebuild(seen_);
  if (!label_.empty()) RebuildParts(state);
}

void MachineGrouping::RebuildParts(const ClusterState& state) {
  aggregates_ = Aggregates(state, label_);
  if (aggregates_.empty()) return;
  parts_.RebuildAsParts(seen_, aggregates_, wholes_);
}

void MachineGrouping::Update(const ClusterState& state,
                             const Eligibility& eligibility,
                             std::span<const uint32_t> changed) {
  for (const uint32_t index : changed) {
    Seen& seen = seen_[index];
    seen = {seen.machine, seen.machine->revision,
            eligibility.KindOf(*seen.machine), seen.machine->is_stale};
  }
  wholes_.Update(seen_, nullptr, changed);
  if (label_.empty()) return;
  if (aggregates_.empty() || !aggregates_.Update(changed)) {
    RebuildParts(state);
    return;
  }
  parts_.Update(seen_, &aggregates_, changed);
  parts_.NoteWholes(wholes_);
}

MachineLook MachineGrouping::Partition::LookOf(const View& view,
                                               uint32_t index) {
  const Seen& seen = view.seen[index];
  const size_t aggregate = view.aggregates == nullptr
                               ? kNoAggregate
                               : view.aggregates->AtPlace(index);
  return {seen.kind, aggregate, seen.machine};
}

void MachineGrouping::Partition::Clear(size_t size) {
  places_.assign(size, {});
  groups_.clear();
  leaders_.clear();
  by_hash_.clear();
}

void MachineGrouping::Partition::Rebuild(std::span<const Seen> seen) {
  Clear(seen.size());
  std::vector<uint32_t> all(seen.size());
  std::iota(all.begin(), all.end(), 0);
  EnterAll({seen, nullptr}, all);
}

void MachineGrouping::Partition::RebuildAsParts(std::span<const Seen> seen,
                                                const Aggregates& aggregates,
                                                const Partition& wholes) {
  Clear(seen.size());
  // It takes less than to look at each machine once more.
  absl::flat_hash_map<std::pair<uint32_t, size_t>, uint32_t> part_of;
  for (uint32_t index = 0; index < seen.size(); ++index) {
    const uint32_t whole = wholes.places_[index].group;
    if (whole == kNone) continue;
    const size_t aggregate = aggregates.AtPlace(index);
    const auto [it, is_new] = part_of.try_emplace(
        {whole, aggregate}, static_cast<uint32_t>(groups_.size()));
    places_[index].group = it->second;
    if (is_new) {
      const MachineGroup& of_whole = wholes.groups_[whole];
      groups_.push_back({.kind = of_whole.kind,
                         .machines = {},
                         .free = of_whole.free,
                         .aggregate = aggregate,
                         .whole = whole});
      leaders_.push_back(index);
      const uint64_t hash = absl::HashOf(LookOf({seen, &aggregates}, index));
      places_[index].hash = hash;
      by_hash_[hash].push_back(index);
    }
    groups_[it->second].machines.push_back(seen[index].machine);
  }
}

void MachineGrouping::Partition::Update(std::span<const Seen> seen,
                                        const Aggregates* aggregates,
                                        std::span<const uint32_t> changed) {
  // First all leave, so that who is still in a group is as it was.
  LeaveAll({seen, aggregates}, changed);
  EnterAll({seen, aggregates}, changed);
  PutInOrder();
}

void MachineGrouping::Partition::NoteWholes(const Partition& wholes) {
  for (size_t group = 0; group < groups_.size(); ++group) {
    groups_[group].whole = wholes.places_[leaders_[group]].group;
  }
}

void MachineGrouping::Partition::LeaveAll(const View& view,
                                          std::span<const uint32_t> indices) {
  std::vector<uint32_t> leaving;
  for (const uint32_t index : indices) {
    if (places_[index].group != kNone) leaving.push_back(index);
  }
  std::ranges::stable_sort(
      leaving, {}, [this](uint32_t index) { return places_[index].group; });
  for (auto first = leaving.begin(); first != leaving.end();) {
    const uint32_t group = places_[*first].group;
    const auto last =
        std::find_if(first, leaving.end(), [this, group](uint32_t index) {
          return places_[index].group != group;
        });
    Leave(view, group, {first, last});
    first = last;
  }
}

void MachineGrouping::Partition::Leave(const View& view, uint32_t group,
                                       std::span<const uint32_t> indices) {
  auto& machines = groups_[group].machines;
  // What stays between two that leave moves to the front at once.
  auto end = machines.begin();
  auto rest = machines.begin();
  for (const uint32_t index : indices) {
    const auto place = std::ranges::lower_bound(
        rest, machines.end(), view.seen[index].machine->id, {}, &Machine::id);
    end = end == rest ? place : std::move(rest, place, end);
    rest = place + 1;
  }
  machines.erase(std::move(rest, machines.end(), end), machines.end());

  const uint32_t leader = leaders_[group];
  if (!std::ranges::binary_search(indices, leader)) return;
  const uint64_t hash = places_[leader].hash;
  const auto same = by_hash_.find(hash);
  const auto place = std::ranges::find(same->second, leader);
  if (machines.empty()) {
    same->second.erase(place);
    if (same->second.empty()) by_hash_.erase(same);
    return;
  }
  const auto next =
      std::ranges::lower_bound(view.seen, machines.front()->id, {},
                               [](const Seen& one) { return one.machine->id; });
  leaders_[group] = static_cast<uint32_t>(next - view.seen.begin());
  places_[leaders_[group]].hash = hash;
  *place = leaders_[group];
}

void MachineGrouping::Partition::EnterAll(const View& view,
                                          std::span<const uint32_t> indices) {
  // Groups that others joined, and how many machines they had before.
  std::vector<std::pair<uint32_t, size_t>> joined;
  std::vector<bool> is_joined(groups_.size());
  for (const uint32_t index : indices) {
    const Machine* machine = view.seen[index].machine;
    uint32_t& group = places_[index].group;
    const uint32_t former = std::exchange(group, kNone);
    if (!machine->IsUsable()) continue;
    group = FindGroup(view, index, former);
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

uint32_t MachineGrouping::Partition::FindGroup(const View& view, uint32_t index,
                                               uint32_t former) {
  const MachineLook look = LookOf(view, index);
  const uint64_t hash = absl::HashOf(look);  // It only finds.
  places_[index].hash = hash;
  auto& same = by_hash_[hash];
  for (const uint32_t leader : same) {
    if (LookOf(view, leader) == look) return places_[leader].group;
  }
  // It keeps the place of the group that all left.
  if (former == kNone || !groups_[former].machines.empty()) {
    former = static_cast<uint32_t>(groups_.size());
    groups_.emplace_back();
    leaders_.emplace_back();
  }
  groups_[former] = {.kind = look.kind,
                     .machines = {},
                     .free = look.machine->Free(),
                     .aggregate = look.part};
  leaders_[former] = index;
  same.push_back(index);
  return former;
}

void MachineGrouping::Partition::PutInOrder() {
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
  for (Place& place : places_) {
    if (place.group != kNone) place.group = place_of[place.group];
  }
}

}  // namespace sluice
