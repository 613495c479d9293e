// Solves problems that are drawn anew each time, as the passes of a round are,
// and begins each where those before it ended.
//
// What stays from one to the next are prices: by a source's potential, less the
// sink's, what it would cost to be rid of one unit more.  Where most of
// the sources of a problem are known by their names (FlowProblem::SetName), all
// other potentials follow from theirs, arc by arc; at these the flow is set to
// what is best, and Solver::SolveFrom() mends what is wrong with it.  In a
// cluster whose load is steady that is little, whichever of the classes come
// and however many tasks of each.
//
// Large problems are solved from scratch: there, where the prices are not quite
// those of the optimum, to mend it takes longer
// (docs/decisions/0010-passes-from-prices.md).
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
  // `solver` must outlive this, and is for nobody else.
  explicit WarmSolver(Solver& solver) : solver_(solver) {}

  // As SolveWithAllOrNone(); FlowSolution::is_warm says whether the prices were
  // of use.
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
