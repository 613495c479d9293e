#include "round/round_solver.h"

#include <variant>

#include "packing/pack.h"
#include "solver/all_or_none.h"

namespace sluice {

RoundSolver::Result RoundSolver::Solve(const RoundWork& work,
                                       const std::atomic<bool>* cancelled) {
  if (const auto* packing = std::get_if<PackingWork>(&work)) {
    return {packing->waiting_cost.has_value()
                ? ProveBound(packing->problem, *packing->waiting_cost,
                             packing->effort.work_max)
                : Pack(packing->problem, packing->effort),
            absl::OkStatus()};
  }
  if (const auto* gains = std::get_if<GainWork>(&work)) {
    return {GeneralizedSolver().Solve(
                gains->problem,
                {.cancelled = cancelled, .work_max = gains->work_max}),
            absl::OkStatus()};
  }
  const auto* problem = std::get_if<FlowProblem>(&work);
  if (problem == nullptr) return {Pause(), absl::OkStatus()};
  FlowSolution solution =
      solver_.Solve(*problem, {.solve = {.cancelled = cancelled}});
  absl::Status certificate;
  if (solution.outcome == SolveOutcome::kOptimal) {
    certificate = VerifyWithAllOrNone(*problem, solution);
  }
  return {std::move(solution), std::move(certificate)};
}

}  // namespace sluice
