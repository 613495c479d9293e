// The cost of leaving a task waiting.
//
// It rises with age: among tasks of one priority that fit, one that asks for k
// times as much as others overtakes newcomers once it has waited about k
// minutes.  One that never fits, since smaller ones take what becomes free, may
// wait for ever (round/reservations.h).  Priorities play no part: they are
// strict, and the round serves one after the other.  Policies may raise it for
// some tasks (cost/waiting_prices.h), up to the same maximum.

#ifndef SLUICE_COST_WAITING_COST_H_
#define SLUICE_COST_WAITING_COST_H_

#include "sluice/cost/cost_model.h"

namespace sluice {

// Firmament's constant for a waiting task.
inline constexpr Cost kWaitingCostBase = 2560000;
// Reached after about 17 hours.
inline constexpr Cost kWaitingCostMax = 1000 * kWaitingCostBase;

// A pass charges this on top for each task that it leaves waiting.  So work
// waits only if it does not fit, even if placing it sends dozens of other tasks
// to the machines that they like least.
inline constexpr Cost kPlacementCostMax = 64 * kModelCostMax;

// In steps of ten seconds, so that tasks submitted together cost the same.
Cost WaitingCost(int64_t waited_ms);

}  // namespace sluice

#endif  // SLUICE_COST_WAITING_COST_H_
