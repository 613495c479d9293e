#include "cost/waiting_cost.h"

#include <algorithm>

namespace sluice {

Cost WaitingCost(int64_t waited_ms) {
  constexpr int64_t kStepMs = 10000;
  constexpr int64_t kStepsPerBase = 6;  // Each minute adds the base.
  constexpr int64_t kStepsMax =
      (kWaitingCostMax / kWaitingCostBase - 1) * kStepsPerBase;
  // A clock that was set back must not make waiting cheaper than it ever was.
  const int64_t steps = std::clamp<int64_t>(waited_ms / kStepMs, 0, kStepsMax);
  return kWaitingCostBase + kWaitingCostBase * steps / kStepsPerBase;
}

}  // namespace sluice
