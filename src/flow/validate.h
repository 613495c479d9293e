// Says whether a flow problem makes sense, before a solver believes it.
//
// Allowed, with a meaning: negative costs, self-loops, parallel arcs, arcs of
// no capacity, nodes without arcs, a problem without nodes, and supply that
// cannot reach a demand (that is for the solver to find: kInfeasible).
//
// Threads: a pure function.

#ifndef SLUICE_FLOW_VALIDATE_H_
#define SLUICE_FLOW_VALIDATE_H_

#include "absl/status/status.h"
#include "sluice/flow/problem.h"

namespace sluice {

// The supplies and capacities of a problem may add up to this much in size, so
// that what passes through one node fits 64 bits whatever the flow.
inline constexpr FlowUnits kFlowTotalMax = int64_t{1} << 61;

// An arc's cost times (node count + 1) may be this much in size.  Solvers that
// scale costs by that factor then have room for potentials.
inline constexpr FlowCost kScaledCostMax = int64_t{1} << 58;

// So that a solver may number both directions of each arc in 32 bits.
inline constexpr ArcIndex kArcCountMax = (ArcIndex{1} << 30) - 1;

// Returns the first fault, in the order nodes, then arcs; messages name it:
// "arc 17: lower bound 3 is above the capacity 2".
//
// Errors: kInvalidArgument for what no flow can mean: an index out of range, a
// lower bound that is negative or above the capacity, a width that is not
// positive (but zero for the only segment of an arc), falling costs, a gain
// that is not positive, supplies that do not add up to zero where no arc has a
// gain.  kOutOfRange for what is beyond the limits above.
absl::Status ValidateProblem(const FlowProblem& problem);

// The same, and kInvalidArgument where an arc has a gain or is all or none:
// for algorithms that know neither.
absl::Status ValidatePureProblem(const FlowProblem& problem);

}  // namespace sluice

#endif  // SLUICE_FLOW_VALIDATE_H_
