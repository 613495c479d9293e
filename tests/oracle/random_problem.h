// Random flow problems for the oracles: everything that a problem may hold,
// in every mixture.
//
// Threads: free functions without state.

#ifndef SLUICE_TESTS_ORACLE_RANDOM_PROBLEM_H_
#define SLUICE_TESTS_ORACLE_RANDOM_PROBLEM_H_

#include "base/rng.h"
#include "sluice/flow/problem.h"

namespace sluice {

struct RandomShape {
  int node_count_max = 5;
  int arc_count_max = 6;
  FlowUnits capacity_max = 3;  // Of a segment.
  int segment_count_max = 3;
};

// A valid problem with up to that many nodes and arcs, parallel arcs and
// self-loops among them.  The seed also decides which features it has: negative
// costs, lower bounds, small or large costs, supplies that some flow within
// the bounds serves (feasible by construction) or any.
FlowProblem MakeRandomProblem(const RandomShape& shape, Rng* rng);

// A scheduling network: classes, machines with load ladders, unscheduled
// aggregators.  Always feasible.
FlowProblem MakeRandomCluster(int class_count, int machine_count, int task_max,
                              Rng* rng);

}  // namespace sluice

#endif  // SLUICE_TESTS_ORACLE_RANDOM_PROBLEM_H_
