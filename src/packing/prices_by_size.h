// The worth of tasks by their size alone: prices of a relaxation without a
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

// The cost of an overflow of a level that `after` other objectives follow: more
// than any of those.
double OverflowCost(size_t after);

// By level, then class: the worth of its size when as much as possible of the
// level is placed, as if all machines were one.  REQUIRES: there are classes
// and groups.
std::vector<std::vector<int64_t>> FindPricesBySize(
    const PackingProblem& problem);
// By class: the price of the first level that has no room for all, or its size
// if all have room.  At most 1.
std::vector<double> FindValuesBySize(
    const PackingProblem& problem,
    const std::vector<std::vector<int64_t>>& prices);

}  // namespace sluice

#endif  // SLUICE_PACKING_PRICES_BY_SIZE_H_
