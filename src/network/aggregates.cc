#include "network/aggregates.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace sluice {

Aggregates::Aggregates(const ClusterState& state, std::string_view label)
    : label_(label) {
  for (const auto& [id, machine] : state.machines()) {
    ids_.push_back(id);
    machines_.push_back(machine.get());
  }
  of_machine_.assign(ids_.size(), kNone);
  shares_.assign(ids_.size(), {});
  for (uint32_t place = 0; place < ids_.size(); ++place) {
    if (machines_[place]->IsUsable()) {
      // Machines of one rack often come one after the other.
      Move(place, FindAggregate(*machines_[place],
                                place == 0 ? kNone : of_machine_[place - 1]));
    }
    MembersOf(of_machine_[place]).push_back(place);
  }
}

bool Aggregates::Update(std::span<const uint32_t> places, bool keep_labels) {
  for (const uint32_t place : places) {
    const size_t before = of_machine_[place];
    const Machine& machine = *machines_[place];
    size_t now = kNone;
    if (machine.IsUsable()) {
      const bool is_known = keep_labels && before != kNone;
      now = is_known ? before : FindAggregate(machine, before);
    }
    if (!Move(place, now)) return false;
    NoteChange(before);
    if (now == before) continue;
    NoteChange(now);
    std::vector<uint32_t>& former = MembersOf(before);
    former.erase(std::ranges::lower_bound(former, place));
    std::vector<uint32_t>& members = MembersOf(now);
    members.insert(std::ranges::lower_bound(members, place), place);
  }
  return std::ranges::none_of(members_, &std::vector<uint32_t>::empty);
}

bool Aggregates::Move(size_t place, size_t aggregate) {
  const Machine& machine = *machines_[place];
  const size_t before = std::exchange(of_machine_[place], aggregate);
  Aggregate& share = shares_[place];
  // Usually it offers what it did before.
  const bool offers_same =
      before == aggregate && share.capacity == machine.allocatable;
  if (before != kNone) {
    auto& [used, capacity] = all_[before];
    if (used.IsSaturated() || (!offers_same && capacity.IsSaturated())) {
      return false;
    }
    used -= share.used;
    if (!offers_same) capacity -= share.capacity;
  }
  if (aggregate == kNone) return true;
  auto& [used, capacity] = all_[aggregate];
  share.used = machine.used;
  if (machine.is_measured) share.used -= machine.reclaimed;
  used += share.used;
  if (offers_same) return true;
  share.capacity = machine.allocatable;
  capacity += share.capacity;
  return true;
}

size_t Aggregates::FindAggregate(const Machine& machine, size_t likely) {
  const std::string* value = machine.FindLabel(label_);
  if (value == nullptr) return kNone;
  if (likely != kNone && values_[likely] == *value) return likely;
  const auto [it, is_new] = by_value_.try_emplace(*value, all_.size());
  if (is_new) {
    all_.emplace_back();
    members_.emplace_back();
    values_.push_back(*value);
    has_changed_.push_back(false);
  }
  return it->second;
}

size_t Aggregates::PlaceOf(MachineId machine) const {
  if (ids_.empty() || machine < ids_.front() || machine > ids_.back()) {
    return kNone;
  }
  // Ids ascend, so a machine is no further from the first or the last one than
  // its id is: if few ids are missing in between, it is found at once.
  const size_t last = ids_.size() - 1;
  const size_t behind = machine.value - ids_.front().value;
  const size_t ahead = ids_.back().value - machine.value;
  const auto at = [this](size_t place) {
    return ids_.begin() + static_cast<ptrdiff_t>(place);
  };
  const auto it = std::lower_bound(at(ahead < last ? last - ahead : 0),
                                   at(std::min(behind, last)), machine);
  return *it == machine ? static_cast<size_t>(it - ids_.begin()) : kNone;
}

size_t Aggregates::Of(MachineId machine) const {
  const size_t place = PlaceOf(machine);
  return place == kNone ? kNone : of_machine_[place];
}

std::vector<uint32_t> Aggregates::GroupsByPlace(
    std::span<const MachineGroup> groups) const {
  if (empty()) return {};
  std::vector<uint32_t> group_at(ids_.size(), kNoGroup);
  for (size_t g = 0; g < groups.size(); ++g) {
    for (const Machine* machine : groups[g].machines) {
      group_at[PlaceOf(machine->id)] = static_cast<uint32_t>(g);
    }
  }
  return group_at;
}

void Aggregates::FindParts(size_t aggregate, std::span<const uint32_t> group_at,
                           std::vector<uint32_t>* end_of, Parts* parts) const {
  parts->clear();
  for (const uint32_t place : PlacesOf(aggregate)) {
    const uint32_t group = group_at[place];
    if (group == kNoGroup) continue;
    uint32_t& end = (*end_of)[group];  // The index of its part, plus one.
    if (end == 0) {
      parts->push_back({place, 0});
      end = static_cast<uint32_t>(parts->size());
    }
    ++(*parts)[end - 1].machines;
  }
  for (const Part& part : *parts) (*end_of)[group_at[part.first]] = 0;
}

std::vector<Aggregates::Parts> Aggregates::PartsBy(
    std::span<const uint32_t> group_at) const {
  std::vector<Parts> parts(all_.size() + 1);
  std::vector<uint32_t> end_of(group_at.size(), 0);
  for (size_t i = 0; i < all_.size(); ++i) {
    FindParts(i, group_at, &end_of, &parts[i]);
  }
  FindParts(kNone, group_at, &end_of, &parts.back());
  return parts;
}

void Aggregates::UpdateParts(std::span<const uint32_t> group_at,
                             std::vector<Parts>* parts) {
  // A new aggregate comes before the parts of none.
  if (parts->size() <= all_.size()) {
    parts->insert(parts->end() - 1, all_.size() + 1 - parts->size(), Parts());
  }
  end_of_.resize(group_at.size());
  for (size_t i = 0; i < has_changed_.size(); ++i) {
    if (!has_changed_[i]) continue;
    FindParts(i - 1, group_at, &end_of_,
              &(*parts)[i == 0 ? all_.size() : i - 1]);
  }
  has_changed_.assign(has_changed_.size(), false);
}

}  // namespace sluice
