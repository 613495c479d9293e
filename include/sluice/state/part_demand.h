// What a task demands of the parts of its machine: all its cpu and memory from
// one NUMA node, or from one processing unit; and that near the parts of other
// tasks, or away from them.
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

// There must be one part of this level with room for the whole task and, if a
// key is given, with that label.
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

// Tasks of any job that name one group.  Those on one machine share a part of
// the level or, with `apart`, no two of them do.  With a key, parts with the
// same value of that label count as one, and parts without the label take none
// of the group.
struct PartGroup {
  PartLevel level = PartLevel::kNumaNode;
  std::string name = {};
  std::string key = {};
  bool apart = false;

  template <class Self, class Visitor>
  static void VisitFields(Self& self, Visitor& visit) {
    visit("level", self.level, PartLevel::kProcessingUnit);
    visit("name", self.name);
    visit("key", self.key);
    visit("apart", self.apart);
  }
  std::string Fault() const { return name.empty() ? "name: is empty" : ""; }
  friend auto operator<=>(const PartGroup&, const PartGroup&) = default;
};

}  // namespace sluice

#endif  // SLUICE_STATE_PART_DEMAND_H_
