// The sjf policy: the task with the shortest expected run comes first
// (Firmament's SJF model).
//
//   waiting cost x 2^clamp(3 + mean step - step, 0, 6)
//
// A step is the binary logarithm of the mean run time of the task's kind of
// work.  So a task that takes half as long costs twice as much to leave
// waiting, between an eighth of the usual cost and eight times that.  A task of
// an unknown kind costs the usual amount.  Age multiplies the cost, too, so a
// task of the longest kind comes before newcomers of the shortest once it has
// waited for 63 minutes.  In Firmament it waited for a hundred times its kind's
// run time.

#include <algorithm>
#include <memory>

#include "sluice/cost/cost_model.h"

namespace sluice {
namespace {

constexpr int64_t kStepsAround = 3;  // From the usual, each way.

class Sjf : public CostModel {
 public:
  int64_t WaitingFactor(const ExpectedRun& run) const override {
    return int64_t{1} << std::clamp<int64_t>(
               kStepsAround + run.mean_step - run.step, 0, 2 * kStepsAround);
  }
};
static_assert(int64_t{1} << (2 * kStepsAround) == kWaitingFactorMax);

}  // namespace

std::unique_ptr<CostModel> Make_sjf() { return std::make_unique<Sjf>(); }

}  // namespace sluice
