// The avoid_pods policy: a machine that avoids the tasks of a controller gets
// them last (Kubernetes: NodePreferAvoidPods, which outweighs all other scores
// together).
//
//   8,000,000 on a machine that avoids the task's owner
//
// The sum of node_affinity (at most 3,000,000), taint (3,600,000) and
// cpu_memory (32,000) stays below it.

#include <algorithm>
#include <memory>

#include "sluice/cost/cost_model.h"

namespace sluice {
namespace {

constexpr Cost kAvoided = kModelCostMax;

class AvoidPods : public CostModel {
 public:
  Cost PreferenceCost(const PlacementRules& rules,
                      const Machine& machine) const override {
    const bool is_avoided =
        !rules.owner.empty() &&
        std::ranges::binary_search(machine.avoids, rules.owner);
    return is_avoided ? kAvoided : 0;
  }
};

}  // namespace

std::unique_ptr<CostModel> Make_avoid_pods() {
  return std::make_unique<AvoidPods>();
}

}  // namespace sluice
