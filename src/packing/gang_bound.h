// What a packing costs at least where gangs run whole or not at all.
//
// The relaxation starts gangs in part.  Branch and bound (Land and Doig: An
// automatic method of solving discrete programming problems, 1960): a gang for
// which the relaxation has some places, but too few, runs in one branch and
// waits in the other, and with it those that are just like it.
//
// Units: costs as in packing_problem.h; work as in pattern_relaxation.h.
// Threads: none.  Determinism: work is counted, not time.

#ifndef SLUICE_PACKING_GANG_BOUND_H_
#define SLUICE_PACKING_GANG_BOUND_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "packing/packing_problem.h"

namespace sluice {

struct GangBound {
  int64_t bound = 0;
  // The gangs that run, by index, in the relaxation behind the bound.  Nothing
  // if it starts some in part, or the bound is what was reached.
  std::optional<std::vector<size_t>> run = {};
  int64_t work = 0;
};

// With the levels above held at these waiting costs, that of the next one, or,
// with all of them, of placements; no more than `reached`, what some packing
// costs.  After about so much work it is what is proved by then.
GangBound BoundWithGangs(const PackingProblem& problem,
                         std::span<const int64_t> held, int64_t reached,
                         int64_t work_max);

// The problem with some gangs decided on, which are no gangs of it any more. In
// a new level above all others it costs 1 for each task to leave the minimum of
// a gang in `run` waiting.  The gangs in `wait` have no tasks.  REQUIRES: each
// gang in `run` has as many tasks as it needs.
PackingProblem WithDecided(PackingProblem problem, std::span<const size_t> run,
                           std::span<const size_t> wait = {});

}  // namespace sluice

#endif  // SLUICE_PACKING_GANG_BOUND_H_
