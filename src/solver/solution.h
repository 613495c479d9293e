// The first and last steps of every solver of pure problems.
//
// Threads: pure functions.

#ifndef SLUICE_SOLVER_SOLUTION_H_
#define SLUICE_SOLVER_SOLUTION_H_

#include <optional>
#include <string>
#include <vector>

#include "sluice/flow/problem.h"

namespace sluice {

// The answer to a problem that is invalid or not pure; nullopt if it is
// neither.
std::optional<FlowSolution> RefuseUnlessPure(const FlowProblem& problem);

// The cost of `flows`, by arc, or nullopt if it exceeds 64 bits.
std::optional<FlowCost> Objective(const FlowProblem& problem,
                                  const std::vector<FlowUnits>& flows);

// A self-loop moves nothing: it carries its lower bound plus whatever pays.
// REQUIRES: the arc is one, and not removed.
FlowUnits SelfLoopFlow(const FlowProblem& problem, ArcIndex arc);

// What a witness cut, which is never empty, proves; for people.
std::string InfeasibleText(const std::vector<NodeIndex>& witness_cut);

// The nodes that `from` reaches over arcs on which `flows`, by arc, leaves
// room, and backward over arcs above their lower bounds; ascending.  If more
// supply is left at `from` than any of them lacks, they are a witness cut.
std::vector<NodeIndex> ReachableNodes(const FlowProblem& problem,
                                      const std::vector<FlowUnits>& flows,
                                      NodeIndex from);

}  // namespace sluice

#endif  // SLUICE_SOLVER_SOLUTION_H_
