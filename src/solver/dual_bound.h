// A lower bound of what the flows of a problem cost, from any prices: weak
// duality.  However the prices were found, and however far off they are, the
// bound holds; at those of an optimum it is the optimum but for rounding.
//
// With a price p of each node and the reduced cost
//   r = cost + p[tail] - gain * p[head]
// of each arc, a flow x that conserves costs sum of r x less sum of supply p,
// and r x is at least r * capacity where r is negative, and else r * lower.
//
// Threads: a pure function.  Exact: prices are rounded to 2^-40, and all else
// is in integers.
//
// Source: Ahuja, Magnanti, Orlin: Network Flows, 1993, sections 9.4 and 15.3.

#ifndef SLUICE_SOLVER_DUAL_BOUND_H_
#define SLUICE_SOLVER_DUAL_BOUND_H_

#include <optional>
#include <span>

#include "sluice/flow/problem.h"

namespace sluice {

// The bound, rounded up: it is for flows whose cost is known to be whole.
// Nothing where a price, or a sum, is beyond what can be computed exactly.
// REQUIRES: no convex arcs.
std::optional<FlowCost> DualBound(const FlowProblem& problem,
                                  std::span<const double> prices);

}  // namespace sluice

#endif  // SLUICE_SOLVER_DUAL_BOUND_H_
