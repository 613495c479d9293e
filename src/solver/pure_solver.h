// A stateless solver that runs an algorithm for pure problems.
//
// Threads: as Solver.

#ifndef SLUICE_SOLVER_PURE_SOLVER_H_
#define SLUICE_SOLVER_PURE_SOLVER_H_

#include <optional>
#include <string_view>
#include <utility>

#include "sluice/solver/solver.h"
#include "solver/solution.h"

namespace sluice {

// `Algorithm` has kName, is constructed from a valid pure problem and the
// limits, and has FlowSolution Run().
template <class Algorithm>
class PureSolver final : public Solver {
 public:
  std::string_view name() const override { return Algorithm::kName; }

  FlowSolution Solve(const FlowProblem& problem,
                     const SolveLimits& limits) override {
    std::optional<FlowSolution> refusal = RefuseUnlessPure(problem);
    if (refusal.has_value()) return *std::move(refusal);
    return Algorithm(problem, limits).Run();
  }
};

}  // namespace sluice

#endif  // SLUICE_SOLVER_PURE_SOLVER_H_
