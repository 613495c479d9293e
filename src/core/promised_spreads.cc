#include "core/promised_spreads.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace sluice {

PromisedSpreads::PromisedSpreads(const ClusterState& state,
                                 const ConstraintSet& constraints,
                                 const ClassKey& key) {
  for (size_t i = 0; i < key.rules->spread.size(); ++i) {
    if (!key.rules->spread[i].is_required) continue;
    TopologySpread spread(state, constraints, key, i);
    const int64_t minimum = spread.MinimumAsAllCome();
    for (const auto& [id, count] : state.nominations().MachinesOf(key)) {
      spread.ForgetExpected(key, id, count);
    }
    spreads_.push_back({std::move(spread), minimum});
  }
}

bool PromisedSpreads::Allow(MachineId machine, bool runs_there) const {
  return std::ranges::all_of(spreads_, [&](const Spread& spread) {
    const TopologySpread& others = spread.others;
    const int64_t more = others.is_self() && !runs_there ? 1 : 0;
    return !others.Counts(machine) ||
           others.CountAt(machine) + more - spread.minimum <=
               others.constraint().max_skew;
  });
}

}  // namespace sluice
