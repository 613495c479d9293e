// A packing problem with few groups in the place of many that are much alike.
//
// Where hardly two machines are equal a master with a row for each group takes
// too long.  Prices hardly depend on what single machines have free, so they
// are found for groups of mean machines; what they prove is worked out over the
// real ones (PatternRelaxation::BoundAt).
//
// Threads: a free function.

#ifndef SLUICE_PACKING_COARSE_GROUPS_H_
#define SLUICE_PACKING_COARSE_GROUPS_H_

#include <cstddef>

#include "packing/packing_problem.h"

namespace sluice {

// Groups of one kind whose machines have similar amounts free are one, of as
// many machines with the mean amounts: no more than `groups_max`, or one for
// each kind where there are more kinds.
PackingProblem CoarseProblem(const PackingProblem& problem, size_t groups_max);

}  // namespace sluice

#endif  // SLUICE_PACKING_COARSE_GROUPS_H_
