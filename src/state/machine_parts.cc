#include "state/machine_parts.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "absl/hash/hash.h"

namespace sluice {
namespace {

bool HasLabel(const LabelPairs& labels, const PartDemand& demand) {
  if (demand.key.empty()) return true;
  const std::string* value = FindLabel(labels, demand.key);
  return value != nullptr && *value == demand.value;
}

// Of amounts that the part states.
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

bool Meets(const PartDemand& demand, const Resources& request,
           const ProcessingUnit& unit, const Machine& machine) {
  if (demand.level == PartLevel::kProcessingUnit) {
    return HasLabel(unit.labels, demand) &&
           HasRoom(unit.capacity, unit.bound, request);
  }
  const NumaNode* node = NodeOf(unit, machine);
  return node != nullptr && HasLabel(node->labels, demand) &&
         HasRoom(node->capacity, node->bound, request);
}

bool MeetsAll(const ClassKey& key, const ProcessingUnit& unit,
              const Machine& machine) {
  if (!std::ranges::all_of(key.rules->part_demands,
                           [&](const PartDemand& demand) {
                             return Meets(demand, key.request, unit, machine);
                           })) {
    return false;
  }
  // What a unit takes its NUMA node gives.
  const NumaNode* node = NodeOf(unit, machine);
  return node == nullptr || HasRoom(node->capacity, node->bound, key.request);
}

bool IsBoundToUnit(const ClassKey& key) {
  return std::ranges::any_of(
      key.rules->part_demands, [](const PartDemand& demand) {
        return demand.level == PartLevel::kProcessingUnit;
      });
}

// Ascending in what is left.
auto LeftOn(const ProcessingUnit& unit, const Machine& machine) {
  const NumaNode* node = NodeOf(unit, machine);
  return std::tuple(
      node == nullptr ? 0 : node->capacity[kCpu] - node->bound[kCpu],
      unit.capacity[kCpu] - unit.bound[kCpu], unit.used[kCpu]);
}

}  // namespace

int32_t UnitFor(const ClassKey& key, const Machine& machine) {
  if (key.rules->part_demands.empty()) return machine.RoomiestPu(key.request);
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
  return key.rules->part_demands.empty() ||
         std::ranges::any_of(machine.pus, [&](const ProcessingUnit& unit) {
           return MeetsAll(key, unit, machine);
         });
}

std::string PartsLackingText(const ClassKey& key, const Machine& machine) {
  const bool wants_unit = IsBoundToUnit(key);
  const bool wants_node = std::ranges::any_of(
      key.rules->part_demands, [](const PartDemand& demand) {
        return demand.level == PartLevel::kNumaNode;
      });
  if (wants_node && machine.numa_nodes.empty()) return "NUMA nodes";
  if (machine.pus.empty()) return "processing units";
  const bool has_labels =
      std::ranges::any_of(machine.pus, [&](const ProcessingUnit& unit) {
        return std::ranges::all_of(
            key.rules->part_demands, [&](const PartDemand& demand) {
              const NumaNode* node = NodeOf(unit, machine);
              return demand.level == PartLevel::kProcessingUnit
                         ? HasLabel(unit.labels, demand)
                         : node != nullptr && HasLabel(node->labels, demand);
            });
      });
  const std::string part = wants_unit ? "a processing unit" : "a NUMA node";
  return part + (has_labels ? " with room for all of it"
                            : " with the labels that it demands");
}

void Bind(const ClassKey& key, int32_t pu, int sign, Machine* machine) {
  if (key.rules->part_demands.empty() || pu == kNoPu) return;
  ProcessingUnit& unit = machine->pus[static_cast<size_t>(pu)];
  const auto add = [&](Resources* bound) {
    if (sign > 0) {
      *bound += key.request;
    } else {
      *bound -= key.request;
    }
  };
  if (IsBoundToUnit(key)) add(&unit.bound);
  if (unit.numa_node >= 0) {
    add(&machine->numa_nodes[static_cast<size_t>(unit.numa_node)].bound);
  }
  NoteParts(machine);
}

void NoteParts(Machine* machine) {
  machine->parts_look = 0;
  // One unit that is all of the machine tells nothing.
  if (machine->numa_nodes.empty() && machine->pus.size() < 2) return;
  size_t look = machine->numa_nodes.size();
  for (const NumaNode& node : machine->numa_nodes) {
    look = absl::HashOf(look, node.capacity, node.bound, node.labels);
  }
  for (const ProcessingUnit& unit : machine->pus) {
    look = absl::HashOf(look, unit.numa_node, unit.capacity, unit.bound,
                        unit.labels);
  }
  machine->parts_look = look;
}

}  // namespace sluice
