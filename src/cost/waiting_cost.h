// What it costs to leave a task waiting.
//
// Rising with age, so that nothing starves: among tasks of one priority a task
// that asks for k times as much as others overtakes newcomers once it has
// waited about k minutes.  Priorities do not enter: they are strict, and the
// round serves one after the other.  Policies may make it dearer for some
// (cost/waiting_prices.h), up to the same maximum.

#ifndef SLUICE_COST_WAITING_COST_H_
#define SLUICE_COST_WAITING_COST_H_

#include "sluice/cost/cost_model.h"

namespace sluice {

// Firmament's constant for a task that waits.
inline constexpr Cost kWaitingCostBase = 2560000;
// Reached after about 17 hours.
inline constexpr Cost kWaitingCostMax = 1000 * kWaitingCostBase;

// A pass charges this on top for a task that it leaves waiting, so that work
// waits only where it does not fit, even if placing it sends dozens of others
// to the machines that they like least.
inline constexpr Cost kPlacementCostMax = 64 * kModelCostMax;

// In steps of ten seconds, so that tasks submitted together count alike.
Cost WaitingCost(int64_t waited_ms);

}  // namespace sluice

#endif  // SLUICE_COST_WAITING_COST_H_
