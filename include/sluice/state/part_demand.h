// What a task demands of the parts of its machine: all its cpu and memory from
// one NUMA node, or from one processing unit.
//
// Threads: values.

#ifndef SLUICE_STATE_PART_DEMAND_H_
#define SLUICE_STATE_PART_DEMAND_H_

#include <compare>
#include <cstdint>
#include <string>

namespace sluice {

enum class PartLevel : uint8_t {
  kNumaNode = 0,
  kProcessingUnit = 1,
};

// There is one part of this level with room for the whole task and, where a key
// is given, with that label.
struct PartDemand {
  PartLevel level = PartLevel::kNumaNode;
  std::string key = {};
  std::string value = {};

  template <class Self, class Visitor>
  static void VisitFields(Self& self, Visitor& visit) {
    visit("level", self.level, PartLevel::kProcessingUnit);
    visit("key", self.key);
    visit("value", self.value);
  }
  std::string Fault() const {
    return key.empty() && !value.empty() ? "value: without a key" : "";
  }
  friend auto operator<=>(const PartDemand&, const PartDemand&) = default;
};

}  // namespace sluice

#endif  // SLUICE_STATE_PART_DEMAND_H_
