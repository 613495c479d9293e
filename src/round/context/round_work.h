// What a round asks for, one piece after the other, and the answers: values
// that cross from the core thread to the solver thread and back.
//
// Threads: values.

#ifndef SLUICE_ROUND_CONTEXT_ROUND_WORK_H_
#define SLUICE_ROUND_CONTEXT_ROUND_WORK_H_

#include <cstdint>
#include <optional>
#include <variant>

#include "packing/packing_effort.h"
#include "packing/packing_problem.h"
#include "sluice/flow/problem.h"
#include "sluice/solver/generalized.h"

namespace sluice {

// Nothing is asked: the round has more to do by itself, but lets commands in
// before it goes on.
struct Pause {};

struct PackingWork {
  PackingProblem problem;
  PackingEffort effort = {};
  // Set if only a bound is asked for: of placements that leave this waiting
  // cost.
  std::optional<LevelCosts> waiting_cost = {};
};

// A flow with gains, of which only a bound is asked for.
struct GainWork {
  FlowProblem problem;
  int64_t work_max = 0;  // In arc scans; beyond it there is no solution.
};

using RoundWork = std::variant<Pause, FlowProblem, GainWork, PackingWork>;
using RoundAnswer =
    std::variant<Pause, FlowSolution, GeneralizedSolution, PackingSolution>;

}  // namespace sluice

#endif  // SLUICE_ROUND_CONTEXT_ROUND_WORK_H_
