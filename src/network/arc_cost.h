// What arcs of a network cost, of what policies say.
//
// Threads: pure functions.

#ifndef SLUICE_NETWORK_ARC_COST_H_
#define SLUICE_NETWORK_ARC_COST_H_

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
FlowCost LoadArcCost(const PolicySet& policies, const Machine& machine,
                     const Resources& used);

}  // namespace sluice

#endif  // SLUICE_NETWORK_ARC_COST_H_
