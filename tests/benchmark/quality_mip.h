// The best placement there is, by GLPK's branch and bound: an opinion that
// knows of integer programs only and of no rounds.
//
// Each class has a number of tasks on each machine, within the amounts that are
// free there; a gang runs with as many tasks as it needs, or with none.  What
// runs stays or is stopped.  Rules about other tasks are taken from the input's
// description, not from the state, and are about what waits alone.
//
// Threads: none; the library has a global state.

#ifndef SLUICE_TESTS_BENCHMARK_QUALITY_MIP_H_
#define SLUICE_TESTS_BENCHMARK_QUALITY_MIP_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "benchmark/quality_inputs.h"
#include "constraints/constraint_set.h"
#include "cost/policy_set.h"
#include "state/cluster_state.h"

namespace sluice {

// What the time sufficed for.
struct MipAnswer {
  // The best placement's value, where one was found.
  std::optional<int64_t> found;
  // That of no placement is better: proved.
  int64_t bound = 0;
  // The one that was found.
  std::vector<std::pair<TaskId, MachineId>> placement = {};
};

// Of the tasks of one priority:
struct LevelAnswer {
  // Those that run and need not be stopped, by what that would cost
  // (StopPrice).
  MipAnswer kept;
  MipAnswer placed;  // Those that wait and can be placed.
};

// Level by level, the most urgent priority first: how many tasks, by their
// price, can be kept at most, and then how many of the waiting ones can be
// placed, with as much of all that comes before.  Ends with the first that the
// time, which is for all, does not suffice for.  `state`: as the input's
// commands make it.
std::vector<LevelAnswer> MostPlaced(const QualityInput& input,
                                    const ClusterState& state,
                                    const ConstraintSet& constraints,
                                    double seconds_max);

// The least preference cost of placing so many of the waiting tasks of each
// level.  REQUIRES: nothing runs.
MipAnswer LeastPreferenceCost(const QualityInput& input,
                              const ClusterState& state,
                              const PolicySet& policies,
                              const ConstraintSet& constraints,
                              const std::vector<int64_t>& placed,
                              double seconds_max);

}  // namespace sluice

#endif  // SLUICE_TESTS_BENCHMARK_QUALITY_MIP_H_
