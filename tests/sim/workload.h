// What tasks of a simulated life are like, and how those go that are told to
// leave their machines.
//
// Threads: values.

#ifndef SLUICE_TESTS_SIM_WORKLOAD_H_
#define SLUICE_TESTS_SIM_WORKLOAD_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/rng.h"
#include "sim/real_cluster.h"
#include "state/requeues.h"
#include "util/cluster_builder.h"

namespace sluice::sim {

struct Workload {
  // How many there are.  With one nothing is stopped for anything else.
  int64_t priorities = 1;
  // Whether some say who owns them: without, nothing moves.
  bool has_owners = false;
  // Of a job so many tasks may be unavailable, of another so many have to be
  // available, in quarters of all where that is said, and of the third any
  // number; nothing: of all.
  std::optional<int64_t> budget = {};
  bool has_quarters = false;
  // Of the client of the contract: whether some of its machines that leave
  // have failed; and of a job a task runs again after so many failures, of
  // another no task runs twice; nothing: no job says anything of it.
  bool has_failures = false;
  std::optional<int32_t> failures_max = {};
  RequeueOptions requeues = {};  // Of the daemon.
};

std::optional<DisruptionBudget> BudgetOf(const Workload& workload,
                                         std::string_view job);

OnFailure OnFailureOf(const Workload& workload, std::string_view job);

// Whether a task runs again once it was told to leave and is reported as
// failed.
bool RunsAgainElsewhere(const Workload& workload,
                        const RealCluster::Task& task);

// What becomes of a task whose machine is reported as failed.
enum class Fate {
  kStays,  // It counts as running there until its client removes it.
  kEnds,   // It has failed.
  kWaits,  // It is to run again.
};
Fate FateWithMachine(const Workload& workload, const RealCluster::Task& task,
                     bool is_told_to_leave);

RealCluster::Task DrawTask(const Workload& workload, Rng* rng);
// What a controller submits in the place of one that left; it may have changed
// its mind.
RealCluster::Task DrawSuccessor(RealCluster::Task former, Rng* rng);

// Without its name.
TaskOptions OptionsOf(const RealCluster::Task& task);

// How long a task takes to leave; nothing: for as long as anything happens.
std::optional<int64_t> DrawGraceUs(bool is_calm, Rng* rng);

}  // namespace sluice::sim

#endif  // SLUICE_TESTS_SIM_WORKLOAD_H_
