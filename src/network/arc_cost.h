// Arc costs of a network, derived from what policies charge.
//
// Threads: pure functions.

#ifndef SLUICE_NETWORK_ARC_COST_H_
#define SLUICE_NETWORK_ARC_COST_H_

#include <algorithm>
#include <cstdint>

#include "cost/policy_set.h"
#include "sluice/flow/problem.h"
#include "sluice/state/machine.h"

namespace sluice {

// The network counts this many parts per cost point of the policies.  So among
// equal costs, a task can still go to the machine with fewer tasks: loads are
// counted in thousandths, and tasks with tiny requests would otherwise all go
// to the first machine.
inline constexpr FlowCost kPartsPerPoint = 128;

// The cost of one more task on `machine` while `used` of it is used.
inline FlowCost LoadArcCost(const PolicySet& policies, const Machine& machine,
                            const Resources& used) {
  const int64_t pods = std::max<int64_t>(machine.allocatable[kPods], 1);
  // One part per task, or less if there is room for more tasks than parts.
  FlowCost tasks = std::clamp<int64_t>(used[kPods], 0, pods);
  if (pods >= kPartsPerPoint) tasks = tasks * (kPartsPerPoint - 1) / pods;
  return policies.LoadCost(machine, used) * kPartsPerPoint + tasks;
}

}  // namespace sluice

#endif  // SLUICE_NETWORK_ARC_COST_H_
