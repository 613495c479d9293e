// The load_spreading policy: the machine on which the fewest tasks run comes
// first, whatever they ask for (Firmament's Octopus model).
//
//   100 for each task or foreign pod on the machine, the first 80,000 of them
//
// Firmament charged all tasks of a batch the same, so that the emptiest machine
// was filled to its last slot before the next.  Here each task that a batch
// adds makes the next one dearer by as much, so that machines alike get counts
// that differ by one at most.

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
