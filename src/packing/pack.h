// Solves a packing problem as well as time permits, and proves how far it is
// from optimal at most.
//
// It dives: it fixes each pattern of the relaxation on as many whole machines
// as the relaxation gives it, and relaxes the rest again until nothing is left.
// Several dives round differently, and the best one counts.
//
// Threads: a pure function.  Determinism: the same problem and effort give the
// same solution on the same platform and compiler; the budget counts work.

#ifndef SLUICE_PACKING_PACK_H_
#define SLUICE_PACKING_PACK_H_

#include <cstdint>

#include "packing/packing_effort.h"
#include "packing/packing_problem.h"

namespace sluice {

// Every pattern of the solution is within what its group has free, and the
// patterns hold no more tasks of a class than there are.
PackingSolution Pack(const PackingProblem& problem,
                     const PackingEffort& effort);

// Only proves a bound for solutions that leave `waiting_cost`.  Returns no
// patterns.
PackingSolution ProveBound(const PackingProblem& problem,
                           const LevelCosts& waiting_cost, int64_t work_max);

}  // namespace sluice

#endif  // SLUICE_PACKING_PACK_H_
