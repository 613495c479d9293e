// The best that can become of a cluster where what runs may move, by GLPK's
// branch and bound: an opinion that knows of integer programs only and of no
// rounds.
//
// Of each job so many tasks leave a machine, and so many come to one; who
// leaves and comes nowhere is stopped.  Tasks with an owner may move, and those
// less urgent than something that waits may be stopped.  In the end of each job
// with a disruption budget as many run as that needs; what has none to spare to
// begin with stays.  Knows of requests, preferences, gangs and budgets of jobs
// that say how many stay available, and of no other rules.
//
// Threads: none; the library has a global state.

#ifndef SLUICE_TESTS_BENCHMARK_QUALITY_MOVES_MIP_H_
#define SLUICE_TESTS_BENCHMARK_QUALITY_MOVES_MIP_H_

#include <compare>
#include <cstdint>
#include <vector>

#include "cost/policy_set.h"
#include "state/cluster_state.h"

namespace sluice {

// Of the tasks of one priority, those that ran and go on, perhaps elsewhere,
// and those that waited and are placed.
struct MovesLevel {
  int64_t kept = 0;
  int64_t placed = 0;

  friend auto operator<=>(const MovesLevel&, const MovesLevel&) = default;
};
using MovesLevels = std::vector<MovesLevel>;  // The most urgent first.

struct MovesOptimum {
  // The best end that was found, and what none exceeds that has as much as that
  // on all that comes before.
  MovesLevels found;
  MovesLevels bound;
  // The preferences of all that runs in the end, and the moves.
  Cost cost = 0;
  Cost cost_bound = 0;  // Of none that has as much the cost is less.
  int64_t moves = 0;

  bool is_settled() const { return found == bound && cost == cost_bound; }
};

// Level by level, the most urgent priority first: most kept, then most placed;
// in the end the least cost.  Where the time, which is for all, does not
// suffice for one of these, the next goes on with what was found.
MovesOptimum BestWithMoves(const ClusterState& state, const PolicySet& policies,
                           Cost move_cost, double seconds_max);

}  // namespace sluice

#endif  // SLUICE_TESTS_BENCHMARK_QUALITY_MOVES_MIP_H_
