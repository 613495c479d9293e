// What a round asks for, one piece after the other, and the answers: values
// that cross from the core thread to the solver thread and back.
//
// Threads: values.

#ifndef SLUICE_CORE_ROUND_WORK_H_
#define SLUICE_CORE_ROUND_WORK_H_

#include <optional>
#include <variant>

#include "packing/packing_effort.h"
#include "packing/packing_problem.h"
#include "sluice/flow/problem.h"

namespace sluice {

// Nothing is asked: the round has more to do by itself, and lets commands in
// before it goes on.
struct Pause {};

struct PackingWork {
  PackingProblem problem;
  PackingEffort effort = {};
  // Where only a bound is asked for: of placements that leave so much waiting
  // cost.
  std::optional<LevelCosts> waiting_cost = {};
};

using RoundWork = std::variant<Pause, FlowProblem, PackingWork>;
using RoundAnswer = std::variant<Pause, FlowSolution, PackingSolution>;

}  // namespace sluice

#endif  // SLUICE_CORE_ROUND_WORK_H_
