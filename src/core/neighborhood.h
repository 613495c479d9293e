// Tasks that are decided on together, and the machines that they may use.
//
// Passes and packings decide for whole classes, and one after the other where
// tasks depend on tasks.  What they leave to be desired is looked for in
// neighborhoods: what was placed of one is taken back, and all of it is placed
// anew, task by task (core/neighborhood_search.h).
//
// Threads: values and free functions; confined to the core thread.

#ifndef SLUICE_CORE_NEIGHBORHOOD_H_
#define SLUICE_CORE_NEIGHBORHOOD_H_

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/round_context.h"
#include "core/transaction.h"

namespace sluice {

struct Neighborhood {
  // Of its tasks at least so many, or none unless it must run.
  struct Gang {
    int64_t minimum = 0;
    bool must_run = false;
  };
  std::vector<const Task*> tasks;          // In the order of decision.
  std::map<TaskId, MachineId> taken_back;  // Those of them that were placed.
  std::set<MachineId> machines;            // That may take any.
  std::map<JobId, Gang> gangs;
};

// All of the tier that waits or that the round has placed of it, where that is
// little: few pairs of tasks and machines that may take them.  What was healed
// must run, and what was started where a younger gang waits, whatever the
// price.  Takes back in `transaction` what was placed.  Nothing where the tier
// is large, where tasks of others were placed since the round came to it, and
// where nothing waits that could go anywhere and nothing was placed that
// depends on other tasks.
std::optional<Neighborhood> TakeBackTier(const Tier& tier,
                                         RoundContext* context,
                                         Transaction* transaction);

}  // namespace sluice

#endif  // SLUICE_CORE_NEIGHBORHOOD_H_
