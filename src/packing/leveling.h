// Spreads a packing over machines that cost its tasks the same.
//
// A relaxation fills some machines and leaves others empty, since it sees no
// difference.  Load is the used part of a machine's capacity by dimension,
// including what runs there already.
//
// Threads: a free function.  Determinism: the same input gives the same
// packing.

#ifndef SLUICE_PACKING_LEVELING_H_
#define SLUICE_PACKING_LEVELING_H_

#include <vector>

#include "packing/packing_problem.h"

namespace sluice {

// The same tasks at the same cost.  First spreads the tasks of each group over
// all its machines, as far as they fit.  Then moves them one by one to other
// groups, as long as that lowers the sum of the squares of all loads, weighted
// by capacities.  Returns `patterns` itself if that gains next to nothing.
// Classes that count for a cap stay in their groups.  REQUIRES: each pattern
// fits.
std::vector<Pattern> Level(const PackingProblem& problem,
                           const std::vector<Pattern>& patterns);

}  // namespace sluice

#endif  // SLUICE_PACKING_LEVELING_H_
