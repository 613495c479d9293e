// A lower bound of a packing in which gangs run whole or not at all.
//
// The relaxation starts gangs in part.  Branch and bound (Land and Doig: An
// automatic method of solving discrete programming problems, 1960) decides on a
// gang for which the relaxation has some places, but too few.  In one branch it
// runs; in the other it waits, together with all gangs equal to it.
//
// Units: costs as in packing_problem.h; work as in pattern_relaxation.h.
// Threads: none.  Determinism: the budget counts work, not time.

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
  // The gangs that run, by index, in the relaxation behind the bound.  Nullopt
  // if it starts some in part, or if the bound is `reached`.
  std::optional<std::vector<size_t>> run = {};
  int64_t work = 0;
};

// The bound of the next level's waiting cost if the levels above are held at
// these waiting costs; or of placements if all levels are held.  At most
// `reached`, the cost of a known packing.  After about `work_max` it is the
// best bound proved so far.
GangBound BoundWithGangs(const PackingProblem& problem,
                         std::span<const int64_t> held, int64_t reached,
                         int64_t work_max);

// The problem with some gangs decided on, which are no longer gangs in it.  A
// new level above all others costs 1 for each task of a gang in `run` that
// waits beyond what its minimum allows.  The gangs in `wait` have no tasks.
// REQUIRES: each gang in `run` has at least its minimum of tasks.
PackingProblem WithDecided(PackingProblem problem, std::span<const size_t> run,
                           std::span<const size_t> wait = {});

}  // namespace sluice

#endif  // SLUICE_PACKING_GANG_BOUND_H_
