// What tasks are worth by their size alone: prices of a relaxation that need no
// linear program, and values that tell which tasks are hard to place.
//
// Threads: pure functions.

#ifndef SLUICE_PACKING_PRICES_BY_SIZE_H_
#define SLUICE_PACKING_PRICES_BY_SIZE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "packing/packing_problem.h"

namespace sluice {

// What an overflow of a level costs that so many things to be decided on come
// after: more than any of those.
double OverflowCost(size_t after);

// By level, then class: what its size is worth where the most of the level is
// placed, as if all machines were one.  REQUIRES: there are classes and groups.
std::vector<std::vector<int64_t>> FindPricesBySize(
    const PackingProblem& problem);
// By class: the price of the first level that has no room for all, or its size
// where all have room.  1 at most.
std::vector<double> FindValuesBySize(
    const PackingProblem& problem,
    const std::vector<std::vector<int64_t>>& prices);

}  // namespace sluice

#endif  // SLUICE_PACKING_PRICES_BY_SIZE_H_
