// The best placement there is, by GLPK's branch and bound: an opinion that
// knows of integer programs only and of no rounds.
//
// Each class has a number of tasks on each machine, within the amounts that are
// free there; a gang runs with as many tasks as it needs, or with none.  Rules
// about other tasks are taken from the input's description, not from the state.
// Nothing else between tasks is known, and nothing may run beforehand.
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

// How many of the waiting tasks can be placed at most, level by level: of the
// most urgent priority, then of the next with as many of that, and so on.  Ends
// with the first level that the time, which is for all, does not suffice for.
// `state`: as the input's commands make it.
std::vector<MipAnswer> MostPlaced(const QualityInput& input,
                                  const ClusterState& state,
                                  const ConstraintSet& constraints,
                                  double seconds_max);

// The least preference cost of placing so many of the waiting tasks of each
// level.
MipAnswer LeastPreferenceCost(const QualityInput& input,
                              const ClusterState& state,
                              const PolicySet& policies,
                              const ConstraintSet& constraints,
                              const std::vector<int64_t>& placed,
                              double seconds_max);

}  // namespace sluice

#endif  // SLUICE_TESTS_BENCHMARK_QUALITY_MIP_H_
