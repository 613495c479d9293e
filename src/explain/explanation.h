// Why a task waits, in a form that people know:
//
//   0/1523 machines: 812 insufficient nvidia.com/gpu, 401 node(s) didn't match
//   the selector disk=ssd, 310 had the taint dedicated=ml:NoSchedule
//
// Each machine is counted under the first constraint that forbids it, once for
// every reason of that constraint: a machine that lacks two resources counts
// twice.  And what is to be said of a task that runs, and of the newest round.
//
// Threads: values and pure functions; confined to the core thread.

#ifndef SLUICE_EXPLAIN_EXPLANATION_H_
#define SLUICE_EXPLAIN_EXPLANATION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "cost/policy_set.h"
#include "round/context/round_stats.h"
#include "round/scheduler.h"
#include "sluice/base/ids.h"
#include "sluice/state/task.h"
#include "state/cluster_state.h"

namespace sluice {

struct Explanation {
  struct Count {
    std::string code;  // As in Reason; "other" for the remainder.
    std::string text;
    int64_t machines = 0;
  };
  struct NearMiss {
    MachineId machine;
    std::string lacks;  // Everything that it lacks.
  };
  std::string summary;
  int64_t machines = 0;  // Usable ones.
  int64_t feasible_machines = 0;
  // The ten most common, the commonest first; then all others as one.
  std::vector<Count> reasons;
  // At most three: those that lack the least, then the least loaded.
  std::vector<NearMiss> nearest;
  int64_t waiting_cost = 0;
};

// Why the task waits, as of `now_ms`.  Asks every constraint about every usable
// machine.  Takes about twenty milliseconds per ten thousand machines.
Explanation Explain(const Task& task, const Scheduler& scheduler,
                    int64_t now_ms);

// Why a waiting task is to run again, and how much longer it is kept out of the
// queue: "its machine node-1 failed", "failed 2 times of at most 3; waits 20 s
// more".  Empty if it never ran.
std::string RunsAgainText(const Task& task, const ClusterState& state,
                          int64_t now_ms);

// For people: "at most 1.3 % of what the newest round costs could be saved".
std::string GapText(const RoundStats& round);

// The part of the gap that concerns a waiting task, to be appended to the
// reason why it waits: "; a better round could save at most 12.5 % of what
// waiting costs on its level".  Empty if the waiting is proved to be necessary.
std::string WaitingGapText(const RoundStats& newest_round, uint32_t priority);

// The kind of a task, stated or learned, as its neighbors see it; to be
// appended.  Empty if no policy asks.
std::string KindText(const PlacementRules& rules);

// How well its machine suits a running task, and, if a policy counts what it
// prefers, how good the newest round is; to be appended to where it runs: ", 20
// weight short of what it prefers; ...".  Empty if it prefers nothing.
std::string PlacementText(const Task& task, const Machine& machine,
                          const PolicySet& policies,
                          const RoundStats& newest_round);

}  // namespace sluice

#endif  // SLUICE_EXPLAIN_EXPLANATION_H_
