// Min-cost flow by successive shortest paths, updated as the problem changes;
// solver/incremental_flow.h has the algorithm.

#include <memory>
#include <string_view>

#include "sluice/flow/problem.h"
#include "sluice/solver/solver.h"
#include "solver/incremental_flow.h"

namespace sluice {
namespace {

class SuccessiveShortestPathsSolver : public Solver {
 public:
  std::string_view name() const override { return "successive_shortest_paths"; }

  FlowSolution Solve(const FlowProblem& problem,
                     const SolveLimits& limits) override {
    return flow_.Solve(problem, limits);
  }

  void Resolve(const FlowProblem& problem, const SolveLimits& limits,
               FlowSolution* solution) override {
    flow_.Resolve(problem, limits, solution);
  }

  void SolveFrom(const FlowProblem& problem, const SolveLimits& limits,
                 FlowSolution* solution) override {
    flow_.SolveFrom(problem, limits, solution);
    if (solution->outcome != SolveOutcome::kCostRange) return;
    const SolveWork spent = solution->work;
    *solution = flow_.Solve(problem, limits);
    solution->work += spent;
  }

 private:
  IncrementalFlow flow_;
};

}  // namespace

std::unique_ptr<Solver> Make_successive_shortest_paths() {
  return std::make_unique<SuccessiveShortestPathsSolver>();
}

}  // namespace sluice
