// Solves problems that are drawn anew each time, such as the passes of a round,
// and starts each from the results of the previous ones.
//
// Prices carry over from one to the next: a source's potential less the sink's
// is the cost of disposing of one more unit.  If most of the sources of a
// problem are known by their names (FlowProblem::SetName), all other potentials
// follow from theirs, arc by arc.  The flow is set to what is best at these,
// and Solver::SolveFrom() repairs the rest.  In a cluster with a steady load
// that is little, whichever classes come and however many tasks of each.
//
// Large problems are solved from scratch: if the prices are not quite optimal
// there, repairing takes longer (docs/decisions/0010-passes-from-prices.md).
//
// Threads: none; confined to its owner.
// Determinism: the same problems in the same order get the same solutions.

#ifndef SLUICE_SOLVER_WARM_SOLVER_H_
#define SLUICE_SOLVER_WARM_SOLVER_H_

#include <cstdint>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "sluice/flow/problem.h"
#include "sluice/solver/solver.h"
#include "solver/all_or_none.h"

namespace sluice {

class WarmSolver {
 public:
  // `solver` must outlive this, and must not be shared.
  explicit WarmSolver(Solver& solver) : solver_(solver) {}

  // As SolveWithAllOrNone(); FlowSolution::is_warm says whether the prices
  // helped.
  FlowSolution Solve(const FlowProblem& problem,
                     const AllOrNoneLimits& limits = {});

 private:
  std::optional<FlowSolution> Recall(const FlowProblem& problem) const;
  void Remember(const FlowProblem& problem, const FlowSolution& solution);

  Solver& solver_;
  absl::flat_hash_map<uint64_t, FlowCost> prices_;  // Of sources, by name.
};

}  // namespace sluice

#endif  // SLUICE_SOLVER_WARM_SOLVER_H_
