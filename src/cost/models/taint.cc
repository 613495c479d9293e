// The taint policy: machines with taints that the task does not tolerate and
// should avoid come last (Kubernetes: TaintToleration's score).
//
//   450,000 for each taint of effect PreferNoSchedule that is not tolerated,
//   beyond the eighth 17,700 for each
//
// So each additional taint costs more than any difference in load under
// cpu_memory or network_aware, within a policy's bound.  A taint counts one and
// a half times a preference of weight 100 in node_affinity, as in Kubernetes'
// default profile (plugin weights 3 and 2).

#include <algorithm>
#include <memory>

#include "base/limits.h"
#include "constraints/toleration.h"
#include "sluice/cost/cost_model.h"

namespace sluice {
namespace {

constexpr Cost kPerTaint = 450000;
constexpr int64_t kDearTaints = 8;
constexpr Cost kPerFurther = 17700;
constexpr int64_t kFurtherMax = int64_t{kTaintsMax} - kDearTaints;
static_assert(kPerTaint * kDearTaints + kPerFurther * kFurtherMax <=
              kModelCostMax);

class TaintPolicy : public CostModel {
 public:
  Cost PreferenceCost(const PlacementRules& rules,
                      const Machine& machine) const override {
    const int64_t count =
        std::ranges::count_if(machine.taints, [&](const MachineTaint& it) {
          return it.taint.effect == TaintEffect::kPreferNoSchedule &&
                 !IsTolerated(it.taint, rules.tolerations);
        });
    const int64_t dear = std::min(count, kDearTaints);
    return kPerTaint * dear + kPerFurther * std::min(count - dear, kFurtherMax);
  }
};

}  // namespace

std::unique_ptr<CostModel> Make_taint() {
  return std::make_unique<TaintPolicy>();
}

}  // namespace sluice
