#include "sluice/state/placement_rules.h"

namespace sluice {

std::strong_ordering operator<=>(const PlacementRules& a,
                                 const PlacementRules& b) {
#define COMPARE(field, ...)                                                 \
  if (const std::strong_ordering order = a.field <=> b.field; order != 0) { \
    return order;                                                           \
  }
#define RULE COMPARE
#define RULE_LIST COMPARE
#define RULE_FLAG COMPARE
#define RULE_TASK COMPARE
#define RULE_MESSAGE COMPARE
#define RULE_DERIVED COMPARE
#include "sluice/state/placement_rules.def"
#undef COMPARE
  return std::strong_ordering::equal;
}

void DemandMachine(const std::string& name_or_uuid,
                   std::vector<NodeTerm>* required) {
  const LabelRequirement is_machine{
      std::string(kMachineId), LabelOperator::kIn, {name_or_uuid}};
  if (required->empty()) {
    required->push_back({.fields = {is_machine}});
    return;
  }
  for (NodeTerm& term : *required) {
    if (term == NodeTerm()) continue;
    term.fields.push_back(is_machine);
    std::ranges::sort(term.fields);
  }
  std::ranges::sort(*required);
}

const PlacementRules& NoRules() {
  static const PlacementRules none;
  return none;
}

}  // namespace sluice
