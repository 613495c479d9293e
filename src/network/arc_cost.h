// What arcs of a network cost, of what policies say.
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

// The network's costs are points of the policies in this many parts, so that
// what costs the same can still go to the machine with the fewer tasks: loads
// are counted in thousandths, and tasks that ask for next to nothing would all
// go to the first machine.
inline constexpr FlowCost kPartsPerPoint = 128;

// What one more task on `machine` costs while `used` of it is used.
inline FlowCost LoadArcCost(const PolicySet& policies, const Machine& machine,
                            const Resources& used) {
  const int64_t pods = std::max<int64_t>(machine.allocatable[kPods], 1);
  // One part for each task, or less where there is room for more.
  FlowCost tasks = std::clamp<int64_t>(used[kPods], 0, pods);
  if (pods >= kPartsPerPoint) tasks = tasks * (kPartsPerPoint - 1) / pods;
  return policies.LoadCost(machine, used) * kPartsPerPoint + tasks;
}

}  // namespace sluice

#endif  // SLUICE_NETWORK_ARC_COST_H_
