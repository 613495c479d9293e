// What every solver of pure problems begins and ends with.
//
// Threads: pure functions.

#ifndef SLUICE_SOLVER_SOLUTION_H_
#define SLUICE_SOLVER_SOLUTION_H_

#include <optional>
#include <string>
#include <vector>

#include "sluice/flow/problem.h"

namespace sluice {

// The answer to a problem that is not valid, or not pure; none if it is both.
std::optional<FlowSolution> RefuseUnlessPure(const FlowProblem& problem);

// What `flows` cost, by arc, or none if that is beyond 64 bits.
std::optional<FlowCost> Objective(const FlowProblem& problem,
                                  const std::vector<FlowUnits>& flows);

// A self-loop moves nothing: it carries its lower bound and whatever pays.
// REQUIRES: the arc is one, and not removed.
FlowUnits SelfLoopFlow(const FlowProblem& problem, ArcIndex arc);

// Says of a witness cut, never empty, what it proves.
std::string InfeasibleText(const std::vector<NodeIndex>& witness_cut);

// The nodes that `from` reaches by arcs that `flows`, by arc, leaves room on,
// and backward by arcs above their lower bounds; ascending.  Where more supply
// is left at `from` than any of them lacks, they are a witness cut.
std::vector<NodeIndex> ReachableNodes(const FlowProblem& problem,
                                      const std::vector<FlowUnits>& flows,
                                      NodeIndex from);

}  // namespace sluice

#endif  // SLUICE_SOLVER_SOLUTION_H_
