#include "state/machine_parts.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "absl/hash/hash.h"
#include "base/strings.h"

namespace sluice {
namespace {

bool HasLabel(const LabelPairs& labels, const PartDemand& demand) {
  if (demand.key.empty()) return true;
  const std::string* value = FindLabel(labels, demand.key);
  return value != nullptr && *value == demand.value;
}

// Looks only at amounts that the part states.
bool HasRoom(const Resources& capacity, const Resources& bound,
             const Resources& request) {
  for (ResourceIndex i = 0; i < capacity.size(); ++i) {
    if (capacity[i] > 0 && request[i] > 0 &&
        request[i] > capacity[i] - bound[i]) {
      return false;
    }
  }
  return true;
}

const NumaNode* NodeOf(const ProcessingUnit& unit, const Machine& machine) {
  return unit.numa_node < 0
             ? nullptr
             : &machine.numa_nodes[static_cast<size_t>(unit.numa_node)];
}

// The value of the group's label; null if the part has none.
const std::string* LabelFor(const PartGroup& group, const ProcessingUnit& unit,
                            const Machine& machine) {
  if (group.level == PartLevel::kProcessingUnit) {
    return FindLabel(unit.labels, group.key);
  }
  const NumaNode* node = NodeOf(unit, machine);
  return node == nullptr ? nullptr : FindLabel(node->labels, group.key);
}

// True if the unit, or the NUMA node that it is in, has the label.
bool HasDemandedLabel(const PartDemand& demand, const ProcessingUnit& unit,
                      const Machine& machine) {
  if (demand.level == PartLevel::kProcessingUnit) {
    return HasLabel(unit.labels, demand);
  }
  const NumaNode* node = NodeOf(unit, machine);
  return node != nullptr && HasLabel(node->labels, demand);
}

bool Meets(const PartDemand& demand, const Resources& request,
           const ProcessingUnit& unit, const Machine& machine) {
  if (!HasDemandedLabel(demand, unit, machine)) return false;
  if (demand.level == PartLevel::kProcessingUnit) {
    return HasRoom(unit.capacity, unit.bound, request);
  }
  const NumaNode& node = *NodeOf(unit, machine);
  return HasRoom(node.capacity, node.bound, request);
}

// True if both units are, or are in, the same part for the group.
bool ShareAPart(const PartGroup& group, const ProcessingUnit& a,
                const ProcessingUnit& b, const Machine& machine) {
  if (group.level == PartLevel::kProcessingUnit && group.key.empty()) {
    return &a == &b;
  }
  if (group.key.empty()) return a.numa_node >= 0 && a.numa_node == b.numa_node;
  const std::string* value_of_a = LabelFor(group, a, machine);
  const std::string* value_of_b = LabelFor(group, b, machine);
  return value_of_a != nullptr && value_of_b != nullptr &&
         *value_of_a == *value_of_b;
}

// True if a task of the group may use the unit, given where the others are.
bool SuitsGroup(const PartGroup& group, const ProcessingUnit& unit,
                const Machine& machine) {
  if (!ShareAPart(group, unit, unit, machine)) return false;  // It is in none.
  return std::ranges::all_of(machine.pus, [&](const ProcessingUnit& other) {
    return !std::ranges::binary_search(other.groups, group.name) ||
           ShareAPart(group, unit, other, machine) != group.apart;
  });
}

bool MeetsDemands(const ClassKey& key, const ProcessingUnit& unit,
                  const Machine& machine) {
  const auto meets = [&](const PartDemand& demand) {
    return Meets(demand, key.request, unit, machine);
  };
  if (!std::ranges::all_of(key.rules->part_demands, meets) ||
      !std::ranges::all_of(key.rules->part_groups, [&](const PartGroup& group) {
        return meets({.level = group.level});
      })) {
    return false;
  }
  // What a unit takes comes from its NUMA node.
  const NumaNode* node = NodeOf(unit, machine);
  return node == nullptr || HasRoom(node->capacity, node->bound, key.request);
}

bool MeetsAll(const ClassKey& key, const ProcessingUnit& unit,
              const Machine& machine) {
  return MeetsDemands(key, unit, machine) &&
         std::ranges::all_of(key.rules->part_groups,
                             [&](const PartGroup& group) {
                               return SuitsGroup(group, unit, machine);
                             });
}

bool Demands(const ClassKey& key, PartLevel level) {
  return std::ranges::count(key.rules->part_demands, level,
                            &PartDemand::level) > 0 ||
         std::ranges::count(key.rules->part_groups, level, &PartGroup::level) >
             0;
}

// A sort key that ascends with what is left.
auto LeftOn(const ProcessingUnit& unit, const Machine& machine) {
  const NumaNode* node = NodeOf(unit, machine);
  return std::tuple(
      node == nullptr ? 0 : node->capacity[kCpu] - node->bound[kCpu],
      unit.capacity[kCpu] - unit.bound[kCpu], unit.used[kCpu]);
}

}  // namespace

int32_t UnitFor(const ClassKey& key, const Machine& machine) {
  if (!key.rules->DemandsParts()) return machine.RoomiestPu(key.request);
  std::optional<size_t> best;
  for (size_t i = 0; i < machine.pus.size(); ++i) {
    const ProcessingUnit& unit = machine.pus[i];
    if (!MeetsAll(key, unit, machine)) continue;
    if (!best.has_value() ||
        LeftOn(unit, machine) < LeftOn(machine.pus[*best], machine)) {
      best = i;
    }
  }
  return best.has_value() ? static_cast<int32_t>(*best)
                          : machine.RoomiestPu(key.request);
}

bool MeetsPartDemands(const ClassKey& key, const Machine& machine) {
  return !key.rules->DemandsParts() ||
         std::ranges::any_of(machine.pus, [&](const ProcessingUnit& unit) {
           return MeetsAll(key, unit, machine);
         });
}

std::string PartsLackingText(const ClassKey& key, const Machine& machine) {
  if (Demands(key, PartLevel::kNumaNode) && machine.numa_nodes.empty()) {
    return "NUMA nodes";
  }
  if (machine.pus.empty()) return "processing units";
  const std::string part = Demands(key, PartLevel::kProcessingUnit)
                               ? "a processing unit"
                               : "a NUMA node";
  const bool has_labels =
      std::ranges::any_of(machine.pus, [&](const ProcessingUnit& unit) {
        return std::ranges::all_of(key.rules->part_demands,
                                   [&](const PartDemand& demand) {
                                     return HasDemandedLabel(demand, unit,
                                                             machine);
                                   }) &&
               std::ranges::all_of(
                   key.rules->part_groups, [&](const PartGroup& group) {
                     return ShareAPart(group, unit, unit, machine);
                   });
      });
  if (!has_labels) return part + " with the labels that it demands";
  const bool has_room =
      std::ranges::any_of(machine.pus, [&](const ProcessingUnit& unit) {
        return MeetsDemands(key, unit, machine);
      });
  if (!has_room || key.rules->part_groups.empty()) {
    return part + " with room for all of it";
  }
  // The first group that no unit with room suits.
  const auto group =
      std::ranges::find_if(key.rules->part_groups, [&](const PartGroup& one) {
        return std::ranges::none_of(machine.pus,
                                    [&](const ProcessingUnit& unit) {
                                      return MeetsDemands(key, unit, machine) &&
                                             SuitsGroup(one, unit, machine);
                                    });
      });
  if (group == key.rules->part_groups.end()) {
    return part + " that suits all its groups";
  }
  return StrCat(part, " with room ", group->apart ? "away from" : "near",
                " the others of '", group->name, "'");
}

void Bind(const ClassKey& key, int32_t pu, int sign, Machine* machine) {
  if (!key.rules->DemandsParts() || pu == kNoPu) return;
  ProcessingUnit& unit = machine->pus[static_cast<size_t>(pu)];
  const auto add = [&](Resources* bound) {
    if (sign > 0) {
      *bound += key.request;
    } else {
      *bound -= key.request;
    }
  };
  if (Demands(key, PartLevel::kProcessingUnit)) add(&unit.bound);
  if (unit.numa_node >= 0) {
    add(&machine->numa_nodes[static_cast<size_t>(unit.numa_node)].bound);
  }
  for (const PartGroup& group : key.rules->part_groups) {
    const auto place = std::ranges::lower_bound(unit.groups, group.name);
    if (sign > 0) {
      unit.groups.insert(place, group.name);
    } else {
      unit.groups.erase(place);
    }
  }
  NoteParts(machine);
}

void NoteParts(Machine* machine) {
  machine->parts_look = 0;
  // A single unit, which is all of the machine, tells nothing.
  if (machine->numa_nodes.empty() && machine->pus.size() < 2) return;
  size_t look = machine->numa_nodes.size();
  for (const NumaNode& node : machine->numa_nodes) {
    look = absl::HashOf(look, node.capacity, node.bound, node.labels);
  }
  for (const ProcessingUnit& unit : machine->pus) {
    look = absl::HashOf(look, unit.numa_node, unit.capacity, unit.bound,
                        unit.labels, unit.groups);
  }
  machine->parts_look = look;
}

}  // namespace sluice
