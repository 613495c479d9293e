// Random labels, taints and rules over so few words that they meet often, and
// what rules mean, written down a second time.
//
// Threads: none; confined to the test.

#ifndef SLUICE_TESTS_PROPERTY_RANDOM_RULES_H_
#define SLUICE_TESTS_PROPERTY_RANDOM_RULES_H_

#include <string>
#include <vector>

#include "base/rng.h"
#include "sluice/state/placement_rules.h"

namespace sluice {

LabelPairs DrawLabels(Rng* rng);
std::vector<Taint> DrawTaints(Rng* rng);
// In canonical form.  `names` are machines that fields may name.
PlacementRules DrawRules(const std::vector<std::string>& names, Rng* rng);

// A machine by what rules look at.
struct DescribedMachine {
  std::string name;
  LabelPairs labels;
  std::vector<Taint> taints;
};

// Whether the rules, but for host ports, let a task run there.
bool ShouldAllow(const PlacementRules& rules, const DescribedMachine& machine);
bool ShouldConflict(const HostPort& a, const HostPort& b);
// Of the terms that hold.
int64_t PreferredWeight(const PlacementRules& rules,
                        const DescribedMachine& machine);

}  // namespace sluice

#endif  // SLUICE_TESTS_PROPERTY_RANDOM_RULES_H_
