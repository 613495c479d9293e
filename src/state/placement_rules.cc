#include "sluice/state/placement_rules.h"

#include <tuple>

namespace sluice {

std::strong_ordering operator<=>(const PlacementRules& a,
                                 const PlacementRules& b) {
  const auto fields = [](const PlacementRules& rules) {
    return std::tie(rules.selectors, rules.required, rules.preferred,
                    rules.tolerations, rules.host_ports, rules.affinity,
                    rules.anti_affinity, rules.preferred_peers, rules.spread,
                    rules.minimums, rules.replaces, rules.never_preempts,
                    rules.owner, rules.kind, rules.data, rules.work_kind);
  };
  return fields(a) <=> fields(b);
}

const PlacementRules& NoRules() {
  static const PlacementRules none;
  return none;
}

}  // namespace sluice
