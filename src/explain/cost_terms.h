// What each policy charges for where a task runs, and for the runner-up, as
// things are now.
//
// Threads: free functions; confined to the core thread.

#ifndef SLUICE_EXPLAIN_COST_TERMS_H_
#define SLUICE_EXPLAIN_COST_TERMS_H_

#include <vector>

#include "cost/policy_set.h"
#include "round/scheduler.h"
#include "sluice/base/ids.h"
#include "sluice/state/task.h"

namespace sluice {

struct CostTerms {
  MachineId machine;
  std::vector<Cost> terms;  // In points, in the order of PolicySet::names().
};

// Of a running task: its machine, then the machine that would come next, if any
// other has room.  Of any other task: nothing.  The terms are those of the task
// alone, as if it were to be placed beside what runs now.  A round decides on
// many tasks at a time, and other tasks may have run when it did.  Looks at
// each machine.  REQUIRES: the state's peers are in sync.
std::vector<CostTerms> FindCostTerms(const Task& task,
                                     const Scheduler& scheduler);

}  // namespace sluice

#endif  // SLUICE_EXPLAIN_COST_TERMS_H_
