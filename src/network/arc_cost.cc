#include "network/arc_cost.h"

#include <algorithm>

namespace sluice {

FlowCost LoadArcCost(const PolicySet& policies, const Machine& machine,
                     const Resources& used) {
  const int64_t pods = std::max<int64_t>(machine.allocatable[kPods], 1);
  // One part for each task, or less where there is room for more.
  FlowCost tasks = std::clamp<int64_t>(used[kPods], 0, pods);
  if (pods >= kPartsPerPoint) tasks = tasks * (kPartsPerPoint - 1) / pods;
  return policies.LoadCost(machine, used) * kPartsPerPoint + tasks;
}

}  // namespace sluice
