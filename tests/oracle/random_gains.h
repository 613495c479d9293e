// Random flow problems with gains and all-or-none arcs for the oracles.
//
// Threads: free functions without state.

#ifndef SLUICE_TESTS_ORACLE_RANDOM_GAINS_H_
#define SLUICE_TESTS_ORACLE_RANDOM_GAINS_H_

#include "base/rng.h"
#include "oracle/random_problem.h"
#include "sluice/flow/problem.h"

namespace sluice {

// What MakeRandomProblem() draws, with gains from 1/3 to 3 on some or all arcs,
// and supplies that some flow serves (two thirds of the seeds) or any.
FlowProblem MakeRandomGains(const RandomShape& shape, Rng* rng);

// Makes up to `count_max` arcs of `problem` all or none.
void MarkAllOrNone(int count_max, Rng* rng, FlowProblem* problem);

}  // namespace sluice

#endif  // SLUICE_TESTS_ORACLE_RANDOM_GAINS_H_
