#include "network/aggregates.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace sluice {
namespace {

// By their first machines.
std::vector<MachineGroup> InOrder(std::vector<MachineGroup> groups) {
  std::vector<std::pair<MachineId, size_t>> order;
  order.reserve(groups.size());
  for (const MachineGroup& group : groups) {
    order.emplace_back(group.representative().id, order.size());
  }
  if (std::ranges::is_sorted(order)) return groups;
  std::ranges::sort(order);
  std::vector<MachineGroup> sorted;
  sorted.reserve(groups.size());
  for (const auto& [id, index] : order) {
    sorted.push_back(std::move(groups[index]));
  }
  return sorted;
}

}  // namespace

Aggregates::Aggregates(const ClusterState& state, std::string_view label)
    : label_(label) {
  for (const auto& [id, machine] : state.machines()) {
    ids_.push_back(id);
    machines_.push_back(machine.get());
  }
  of_machine_.assign(ids_.size(), kNone);
  shares_.assign(ids_.size(), {});
  for (size_t place = 0; place < ids_.size(); ++place) Enter(place);
}

bool Aggregates::Update(std::span<const uint32_t> places) {
  for (const uint32_t place : places) {
    if (!Leave(place)) return false;
  }
  for (const uint32_t place : places) Enter(place);
  return std::ranges::find(sizes_, size_t{0}) == sizes_.end();
}

bool Aggregates::Leave(size_t place) {
  const size_t index = std::exchange(of_machine_[place], kNone);
  if (index == kNone) return true;
  Aggregate& aggregate = all_[index];
  if (aggregate.used.IsSaturated() || aggregate.capacity.IsSaturated()) {
    return false;
  }
  aggregate.used -= shares_[place].used;
  aggregate.capacity -= shares_[place].capacity;
  --sizes_[index];
  return true;
}

void Aggregates::Enter(size_t place) {
  const Machine& machine = *machines_[place];
  const std::string* value = machine.FindLabel(label_);
  if (value == nullptr || !machine.IsUsable()) return;
  // Machines of one rack often come one after the other.
  if (all_.empty() || last_value_ != *value) {
    const auto [it, is_new] = by_value_.try_emplace(*value, all_.size());
    if (is_new) {
      all_.emplace_back();
      sizes_.push_back(0);
    }
    last_value_ = *value;
    last_index_ = it->second;
  }
  const size_t index = last_index_;
  of_machine_[place] = index;
  ++sizes_[index];
  Aggregate& share = shares_[place];
  share.used = machine.used;
  if (machine.is_measured) share.used -= machine.reclaimed;
  share.capacity = machine.allocatable;
  all_[index].used += share.used;
  all_[index].capacity += share.capacity;
}

size_t Aggregates::Of(MachineId machine) const {
  if (ids_.empty() || machine < ids_.front() || machine > ids_.back()) {
    return kNone;
  }
  // Ids ascend, so that a machine is no further from the first, nor from the
  // last, than its id is: where few are missing between, it is found at once.
  const size_t last = ids_.size() - 1;
  const size_t behind = machine.value - ids_.front().value;
  const size_t ahead = ids_.back().value - machine.value;
  const auto at = [this](size_t place) {
    return ids_.begin() + static_cast<ptrdiff_t>(place);
  };
  const auto it = std::lower_bound(at(ahead < last ? last - ahead : 0),
                                   at(std::min(behind, last)), machine);
  return *it == machine ? of_machine_[static_cast<size_t>(it - ids_.begin())]
                        : kNone;
}

std::vector<MachineGroup> Aggregates::Cut(
    std::span<const MachineGroup> groups) const {
  std::vector<MachineGroup> cut;
  // By aggregate, and of none: one more than the place of the last group of its
  // machines.
  std::vector<size_t> ends(size() + 1, 0);
  const auto size_of = [this](size_t aggregate) {
    return aggregate == kNone ? size_t{0} : sizes_[aggregate];
  };
  for (size_t whole = 0; whole < groups.size(); ++whole) {
    const MachineGroup& group = groups[whole];
    const size_t first = cut.size();
    for (size_t i = 0; i < group.machines.size(); ++i) {
      // Most of the time goes into waiting for memory.
      constexpr size_t kAhead = 16;
      if (i + kAhead < group.machines.size()) {
        __builtin_prefetch(&group.machines[i + kAhead]->id);
      }
      const Machine* machine = group.machines[i];
      const size_t aggregate = Of(machine->id);
      size_t& end = ends[std::min(aggregate, size())];
      if (end <= first) {
        cut.push_back({.kind = group.kind,
                       .machines = {},
                       .free = group.free,
                       .room = group.room,
                       .aggregate = aggregate,
                       .whole = whole});
        end = cut.size();
        cut.back().machines.reserve(
            std::min(size_of(aggregate), group.machines.size()));
      }
      cut[end - 1].machines.push_back(machine);
    }
  }
  return InOrder(std::move(cut));
}

}  // namespace sluice
