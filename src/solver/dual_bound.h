// A lower bound of the cost of a problem's flows from any prices: weak duality.
// The bound holds however the prices were found and however wrong they are.  At
// optimal prices it equals the optimum up to rounding.
//
// With a price p of each node and the reduced cost
//   r = cost + p[tail] - gain * p[head]
// of each arc, a flow x that conserves costs the sum of r x less the sum of
// supply p. r x is at least r * capacity if r is negative, and r * lower
// otherwise.
//
// Threads: a pure function.  Exact: prices are rounded to 2^-40, and everything
// else is computed in integers.
//
// Source: Ahuja, Magnanti, Orlin: Network Flows, 1993, sections 9.4 and 15.3.

#ifndef SLUICE_SOLVER_DUAL_BOUND_H_
#define SLUICE_SOLVER_DUAL_BOUND_H_

#include <optional>
#include <span>

#include "sluice/flow/problem.h"

namespace sluice {

// The bound, rounded up: it is for flows with integer costs.  Nullopt if a
// price, or a sum, cannot be computed exactly.  REQUIRES: no convex arcs.
std::optional<FlowCost> DualBound(const FlowProblem& problem,
                                  std::span<const double> prices);

}  // namespace sluice

#endif  // SLUICE_SOLVER_DUAL_BOUND_H_
