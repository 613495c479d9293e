// The default solver: merges equal parts, chooses an algorithm by the shape of
// the result, and after changes repairs the last optimum if that is less work
// than solving anew.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "sluice/solver/solver.h"
#include "solver/choose.h"
#include "solver/grouped_problem.h"
#include "solver/incremental_flow.h"
#include "solver/registry.h"
#include "solver/solution.h"

namespace sluice {
namespace {

// A repair may scan this part of the arcs that the last solve from scratch
// scanned.  So solving anew costs at most half as much again as without the
// attempt.
constexpr int64_t kRepairPart = 2;
// But at least this many, so that what was quick once may be repaired.
constexpr int64_t kRepairMin = 10000;

// A solve from scratch scans each arc at least this many times, ...
constexpr int64_t kScratchScansPerArc = 20;
// ... and one from a start may scan this part of that, but at least kStartMin.
constexpr int64_t kStartPart = 4;
constexpr int64_t kStartMin = 1000;

// The same, with no more work than this.
SolveLimits Within(SolveLimits limits, int64_t work_max) {
  if (limits.work_max == 0 || limits.work_max > work_max) {
    limits.work_max = work_max;
  }
  return limits;
}

// The rest of a budget.
SolveLimits Without(const SolveWork& spent, SolveLimits limits) {
  if (limits.work_max > 0) {
    limits.work_max = std::max<int64_t>(limits.work_max - spent.arc_scans, 1);
  }
  return limits;
}

// The solver whose potentials may be the largest.
constexpr std::string_view kWidest = "network_simplex";

class Automatic : public Solver {
 public:
  std::string_view name() const override { return "automatic"; }

  FlowSolution Solve(const FlowProblem& problem,
                     const SolveLimits& limits) override {
    is_repairable_ = false;
    std::optional<FlowSolution> refusal = RefuseUnlessPure(problem);
    if (refusal.has_value()) return *std::move(refusal);
    FlowSolution solution = SolveFromScratch(problem, limits);
    scratch_scans_ = solution.work.arc_scans;
    if (solution.outcome == SolveOutcome::kOptimal &&
        problem.log() != nullptr) {
      repair_.Adopt(problem, &solution);
      is_repairable_ = true;
    }
    return solution;
  }

  void Resolve(const FlowProblem& problem, const SolveLimits& limits,
               FlowSolution* solution) override {
    if (!is_repairable_ || !repair_.has_optimum() || problem.log() == nullptr) {
      *solution = Solve(problem, limits);
      return;
    }
    const SolveLimits repair_limits =
        Within(limits, scratch_scans_ / kRepairPart + kRepairMin);
    repair_.Resolve(problem, repair_limits, solution);
    if (solution->outcome == SolveOutcome::kBudgetSpent) {
      SolveAfter(repair_limits, problem, limits, solution);
    }
  }

  void SolveFrom(const FlowProblem& problem, const SolveLimits& limits,
                 FlowSolution* solution) override {
    scratch_scans_ = kScratchScansPerArc * problem.arc_count();
    const SolveLimits start_limits =
        Within(limits, scratch_scans_ / kStartPart + kStartMin);
    repair_.SolveFrom(problem, start_limits, solution);
    is_repairable_ = repair_.has_optimum();
    if (solution->outcome == SolveOutcome::kBudgetSpent ||
        solution->outcome == SolveOutcome::kCostRange) {
      SolveAfter(start_limits, problem, limits, solution);
    }
  }

 private:
  // Solves anew what could not be repaired within `tried`.  The attempt counts
  // against the budget, unless it was the whole budget.
  void SolveAfter(const SolveLimits& tried, const FlowProblem& problem,
                  const SolveLimits& limits, FlowSolution* solution) {
    if (solution->outcome == SolveOutcome::kBudgetSpent &&
        tried.work_max == limits.work_max) {
      return;
    }
    const SolveWork spent = solution->work;
    *solution = Solve(problem, Without(spent, limits));
    solution->work += spent;
  }

  static FlowSolution SolveFromScratch(const FlowProblem& problem,
                                       const SolveLimits& limits) {
    const GroupedProblem grouped(problem);
    if (!grouped.is_worthwhile()) return SolveChosen(problem, limits);
    return grouped.Expand(SolveChosen(grouped.problem(), limits));
  }

  static FlowSolution SolveChosen(const FlowProblem& problem,
                                  const SolveLimits& limits) {
    const std::string_view name = ChooseSolver(problem);
    FlowSolution solution = MakeSolver(name)->Solve(problem, limits);
    if (solution.outcome == SolveOutcome::kCostRange && name != kWidest) {
      // Scaled costs exceed ranges that suffice for the simplex method.
      const SolveWork spent = solution.work;
      solution = MakeSolver(kWidest)->Solve(problem, Without(spent, limits));
      solution.work += spent;
    }
    return solution;
  }

  IncrementalFlow repair_;
  bool is_repairable_ = false;  // repair_ is at the problem solved last.
  int64_t scratch_scans_ = 0;
};

}  // namespace

std::unique_ptr<Solver> Make_automatic() {
  return std::make_unique<Automatic>();
}

}  // namespace sluice
