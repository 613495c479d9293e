// Solves a packing problem as well as it can be in the time, and says how well
// at worst.
//
// A dive: of each pattern of the relaxation as many machines are decided on as
// it has whole ones, the rest is relaxed again, until nothing is left.  Several
// dives round differently, and the best counts.
//
// Threads: a pure function.  Determinism: the same problem and effort give the
// same solution, on one platform and compiler; the budget counts work.

#ifndef SLUICE_PACKING_PACK_H_
#define SLUICE_PACKING_PACK_H_

#include <cstdint>

#include "packing/packing_effort.h"
#include "packing/packing_problem.h"

namespace sluice {

// Every pattern of the solution is within what its group has free, and no more
// tasks of a class are in them than there are.
PackingSolution Pack(const PackingProblem& problem,
                     const PackingEffort& effort);

// Only the bound of a solution that leaves `waiting_cost`.  No patterns.
PackingSolution ProveBound(const PackingProblem& problem,
                           const LevelCosts& waiting_cost, int64_t work_max);

}  // namespace sluice

#endif  // SLUICE_PACKING_PACK_H_
