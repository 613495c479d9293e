#include "round/together/promised_spreads.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace sluice {

PromisedSpreads::PromisedSpreads(const ClusterState& state,
                                 const ConstraintSet& constraints,
                                 const ClassKey& key) {
  for (size_t i = 0; i < key.rules->spread.size(); ++i) {
    if (!key.rules->spread[i].is_required) continue;
    const TopologySpread all(state, constraints, key, i);
    TopologySpread others = all;
    for (const auto& [id, count] : state.nominations().MachinesOf(key)) {
      others.ForgetExpected(key, id, count);
    }
    spreads_.push_back({all, std::move(others), all.MinimumAsAllCome()});
  }
}

bool PromisedSpreads::Allow(MachineId machine) const {
  return std::ranges::all_of(spreads_, [&](const Spread& spread) {
    const TopologySpread& others = spread.others;
    return !others.Counts(machine) || others.CountAt(machine) +
                                              (others.is_self() ? 1 : 0) -
                                              spread.minimum <=
                                          others.constraint().max_skew;
  });
}

bool PromisedSpreads::AllowAll(MachineId machine) const {
  return std::ranges::all_of(spreads_, [&](const Spread& spread) {
    const TopologySpread& all = spread.all;
    return !all.Counts(machine) ||
           all.CountAt(machine) - spread.minimum <= all.constraint().max_skew;
  });
}

}  // namespace sluice
