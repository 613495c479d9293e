// The node_affinity policy: machines that the task prefers come first
// (Kubernetes: NodeAffinity's preferredDuringSchedulingIgnoredDuringExecution).
//
//   3,000 for each weight of the preferred terms that the machine does not
//   match; 3,000,000 at most, so that weights that sum to more than 1,000 (ten
//   terms of the largest weight) count proportionally less.
//
// One unit of weight costs more than any difference in load (1,000 in
// cpu_memory between an empty and a full machine): preferences order machines,
// and load decides between equally preferred ones.  Unlike in Kubernetes, the
// sums are not normalized: the cost of a machine depends on no other machine.

#include <memory>

#include "constraints/label_match.h"
#include "sluice/cost/cost_model.h"

namespace sluice {
namespace {

constexpr Cost kPerWeight = 3000;
constexpr int64_t kWeightMax = 1000;

class NodeAffinity : public CostModel {
 public:
  Cost PreferenceCost(const PlacementRules& rules,
                      const Machine& machine) const override {
    int64_t total = 0;
    int64_t missed = 0;
    for (const PreferredTerm& preferred : rules.preferred) {
      total += preferred.weight;
      if (!Matches(preferred.term, machine)) missed += preferred.weight;
    }
    if (total <= kWeightMax) return kPerWeight * missed;
    return kPerWeight * kWeightMax * missed / total;
  }
};

}  // namespace

std::unique_ptr<CostModel> Make_node_affinity() {
  return std::make_unique<NodeAffinity>();
}

}  // namespace sluice
