// The cost of putting tasks on types of machines on which their kind of work is
// known to run more slowly than elsewhere.
//
// It copies what it needs of the histories, so that completions during a round
// change none of its costs.
//
// Threads: none; confined to the core thread.  Determinism: equal histories
// give equal costs.

#ifndef SLUICE_COST_SPEED_PRICES_H_
#define SLUICE_COST_SPEED_PRICES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "cost/policy_set.h"
#include "sluice/cost/cost_model.h"
#include "sluice/state/machine.h"
#include "sluice/state/placement_rules.h"
#include "state/class_histories.h"

namespace sluice {

class SpeedPrices {
 public:
  // Knows nothing.  The policies must outlive this.
  explicit SpeedPrices(const PolicySet& policies) : policies_(policies) {}
  SpeedPrices(const PolicySet& policies, const ClassHistories& histories)
      : SpeedPrices(policies) {
    Update(histories);
  }

  // Takes in what is known now, and returns the kinds of work whose charges
  // changed, ascending.
  std::vector<WorkKindId> Update(const ClassHistories& histories);

  // Nullopt if too little is known of the kind on such machines.
  std::optional<ExpectedSpeed> Find(const PlacementRules& rules,
                                    const Machine& machine) const;
  // 0 if the speed is unknown.
  Cost Of(const PlacementRules& rules, const Machine& machine) const {
    if (prices_.empty()) return 0;
    const Price* price = FindPrice(rules, machine);
    return price == nullptr ? 0 : price->cost;
  }

 private:
  struct Price {
    SpeedHistories::Pair pair;
    ExpectedSpeed speed;
    Cost cost = 0;
  };
  const Price* FindPrice(const PlacementRules& rules,
                         const Machine& machine) const;

  const PolicySet& policies_;
  std::vector<Price> prices_;  // By pair.
  uint64_t version_ = 0;       // Of the histories.
};

}  // namespace sluice

#endif  // SLUICE_COST_SPEED_PRICES_H_
