// The topology spread policy: the emptiest domains of a soft spread constraint
// come first (Kubernetes: PodTopologySpread's score).
//
//   60,000 times the natural logarithm of the number of domains and two, for
//   each task by which a machine's domain exceeds the emptiest one; 3,000,000
//   at most
//
// With three zones, one more task in a zone costs a third of a preference of
// weight 100 in node_affinity.

#include <algorithm>
#include <memory>

#include "base/int128.h"
#include "sluice/cost/cost_model.h"

namespace sluice {
namespace {

constexpr Cost kPerTask = 60000;
constexpr Cost kCostMax = 3000000;
static_assert(kCostMax <= kModelCostMax);

class TopologySpreadPolicy : public CostModel {
 public:
  Cost PeerCost(const PeerStanding& standing) const override {
    const Int128 cost = Int128{kPerTask} * standing.crowding / kCrowdingUnit;
    return static_cast<Cost>(std::clamp<Int128>(cost, 0, kCostMax));
  }
};

}  // namespace

std::unique_ptr<CostModel> Make_topology_spread() {
  return std::make_unique<TopologySpreadPolicy>();
}

}  // namespace sluice
