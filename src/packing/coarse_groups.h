// A packing problem with few groups in place of many similar ones.
//
// If hardly any two machines are equal, a master with a row for each group
// takes too long.  Prices hardly depend on what single machines have free, so
// they are found for groups of mean machines.  The bound at these prices is
// then computed over the real ones (PatternRelaxation::BoundAt).
//
// Threads: a free function.

#ifndef SLUICE_PACKING_COARSE_GROUPS_H_
#define SLUICE_PACKING_COARSE_GROUPS_H_

#include <cstddef>

#include "packing/packing_problem.h"

namespace sluice {

// Merges groups of one kind whose machines have similar amounts free into one
// group with the same number of machines and the mean amounts.  Returns at most
// `groups_max` groups, or one for each kind if there are more kinds.
PackingProblem CoarseProblem(const PackingProblem& problem, size_t groups_max);

}  // namespace sluice

#endif  // SLUICE_PACKING_COARSE_GROUPS_H_
