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

const PlacementRules& NoRules() {
  static const PlacementRules none;
  return none;
}

}  // namespace sluice
