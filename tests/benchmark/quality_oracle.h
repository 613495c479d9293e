// Whether a placement keeps the rules of its input, by counting who is where:
// an opinion that knows of no code that the scheduler understands rules with.
//
// Threads: none.

#ifndef SLUICE_TESTS_BENCHMARK_QUALITY_ORACLE_H_
#define SLUICE_TESTS_BENCHMARK_QUALITY_ORACLE_H_

#include <string>

#include "benchmark/quality_inputs.h"
#include "state/cluster_state.h"

namespace sluice {

// Why the tasks of the input may not run where they run; "" where they may.
// Looks at node selectors, at the rules about other tasks and at gangs.
std::string WhyIllegal(const QualityInput& input, const ClusterState& state);

// What tasks that run wish and do not have, in weights of preferred terms: each
// two of a class that share a zone and would rather not, and each pair that is
// in two zones and would rather share one.
double CountMissedWishes(const QualityInput& input, const ClusterState& state);

// How many of its tasks that run the budget of the job keeps.
// REQUIRES: it has one, and so many per cent may be unavailable.
int64_t LeastKept(JobId job, const ClusterState& state);

// What stopping the task costs, in stops of a task that says nothing of that.
int64_t StopPrice(const Task& task);

}  // namespace sluice

#endif  // SLUICE_TESTS_BENCHMARK_QUALITY_ORACLE_H_
