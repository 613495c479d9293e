// Spreads a packing over the machines that cost its tasks the same.
//
// A relaxation fills some machines and leaves others empty, for it sees no
// difference.  Load is what is used of a machine's capacity, what runs there
// already included, by dimension.
//
// Threads: a free function.  Determinism: the same packing gives the same one.

#ifndef SLUICE_PACKING_LEVELING_H_
#define SLUICE_PACKING_LEVELING_H_

#include <vector>

#include "packing/packing_problem.h"

namespace sluice {

// The same tasks at the same cost: those of a group over all its machines, as
// far as they fit there so, and then one by one to other groups while that
// makes the sum of the squares of all loads less, times capacities; `patterns`
// itself where that gains next to nothing.  Classes that count for a cap stay
// in their groups.  REQUIRES: each pattern fits.
std::vector<Pattern> Level(const PackingProblem& problem,
                           const std::vector<Pattern>& patterns);

}  // namespace sluice

#endif  // SLUICE_PACKING_LEVELING_H_
