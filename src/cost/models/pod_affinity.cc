// The pod affinity policy: machines near tasks that the task prefers come
// first, and machines near tasks that it avoids last (Kubernetes:
// InterPodAffinity's score).
//
//   3,000 for each unit of weight by which a machine falls short of the best,
//   or less where the weights differ by more than 1,000 in all: the worst costs
//   3,000,000
//
// A weight is worth as much here as in node_affinity, as in Kubernetes' default
// profile (plugin weights 2 and 2), and each running task counts.

#include <algorithm>
#include <memory>

#include "base/int128.h"
#include "sluice/cost/cost_model.h"

namespace sluice {
namespace {

constexpr Cost kPerWeight = 3000;
constexpr int64_t kWeightMax = 1000;
static_assert(kPerWeight * kWeightMax <= kModelCostMax);

class PodAffinityPolicy : public CostModel {
 public:
  Cost PeerCost(const PeerStanding& standing) const override {
    const int64_t most = std::max(standing.missed_weight_max, kWeightMax);
    const Int128 cost =
        Int128{kPerWeight} * kWeightMax * standing.missed_weight / most;
    return static_cast<Cost>(std::clamp<Int128>(cost, 0, kModelCostMax));
  }
};

}  // namespace

std::unique_ptr<CostModel> Make_pod_affinity() {
  return std::make_unique<PodAffinityPolicy>();
}

}  // namespace sluice
