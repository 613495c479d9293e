// Tasks that are decided on together, and the machines that they may use.
//
// Passes and packings decide for whole classes, and one after the other where
// tasks depend on tasks.  What they miss is searched for in neighborhoods: the
// placements of one are taken back, and all of its tasks are placed anew, one
// by one (round/search/neighborhood_search.h).
//
// Threads: values and free functions; confined to the core thread.

#ifndef SLUICE_ROUND_SEARCH_NEIGHBORHOOD_H_
#define SLUICE_ROUND_SEARCH_NEIGHBORHOOD_H_

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "round/context/round_context.h"
#include "round/context/transaction.h"

namespace sluice {

struct Neighborhood {
  // At least `minimum` of its tasks, or none unless it must run.
  struct Gang {
    int64_t minimum = 0;
    bool must_run = false;
  };
  // Most constrained first; tasks waiting for others last.
  std::vector<const Task*> tasks;
  std::map<TaskId, MachineId> taken_back;  // Those that were placed.
  std::set<MachineId> machines;            // Those that may take any of them.
  std::map<JobId, Gang> gangs;
};

// All tasks of the tier that wait or that the round has placed, if there are
// few pairs of tasks and machines that may take them.  Healed gangs must run at
// any price, and so must started ones if a younger gang waits.  Takes back the
// placements in `transaction`.  Returns nullopt if the tier is large, if tasks
// of other tiers were placed since the round came to it, or if no waiting task
// could go anywhere and no placed one depends on other tasks.
std::optional<Neighborhood> TakeBackTier(const Tier& tier,
                                         RoundContext* context,
                                         Transaction* transaction);

}  // namespace sluice

#endif  // SLUICE_ROUND_SEARCH_NEIGHBORHOOD_H_
