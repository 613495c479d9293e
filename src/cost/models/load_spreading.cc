// The load_spreading policy: the machine with the fewest running tasks comes
// first, whatever they ask for (Firmament's Octopus model).
//
//   100 for each task or foreign pod on the machine, the first 80,000 of them
//
// Firmament charged all tasks of a batch the same, so the emptiest machine was
// filled to its last slot before the next.  Here each task of a batch raises
// the cost of the next one by as much, so the counts of equal machines differ
// by at most one.

#include <algorithm>
#include <memory>

#include "sluice/cost/cost_model.h"

namespace sluice {
namespace {

constexpr Cost kPerTask = 100;
constexpr int64_t kTasksMax = 80000;
static_assert(kPerTask * kTasksMax <= kModelCostMax);

class LoadSpreading : public CostModel {
 public:
  Cost LoadCost(const Machine& /*machine*/,
                const Resources& used) const override {
    return kPerTask * std::clamp<int64_t>(used[kPods], 0, kTasksMax);
  }
};

}  // namespace

std::unique_ptr<CostModel> Make_load_spreading() {
  return std::make_unique<LoadSpreading>();
}

}  // namespace sluice
