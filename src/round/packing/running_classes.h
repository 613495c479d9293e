// Running tasks as classes of a packing problem: which of them belong to a
// gang, how many of them disruption budgets allow to be stopped, and which
// count for spreads.
//
// The classes of running tasks are those of the problem from `first` on, one
// for each class of `running`.
//
// Threads: pure functions.

#ifndef SLUICE_ROUND_PACKING_RUNNING_CLASSES_H_
#define SLUICE_ROUND_PACKING_RUNNING_CLASSES_H_

#include <cstddef>
#include <cstdint>

#include "packing/packing_problem.h"
#include "round/packing/round_packing.h"
#include "round/packing/running_tasks.h"

namespace sluice {

// A gang goes on with its minimum, or is stopped as a whole.
void AddRunningGangs(const RunningTasks& running, size_t first,
                     PackingProblem* problem);

// Adds those budgets that could be exceeded.  Each task stopped beyond a budget
// costs `cost`, on a level to be set later.  Returns whether there are any.
// REQUIRES: the task counts of the classes are known.
bool AddRunningBudgets(const RunningTasks& running, size_t first, int64_t cost,
                       PackingProblem* problem);

// Lets running tasks that count for spreads into the caps, and lowers the
// counts of their domains accordingly.  REQUIRES: the caps were made as if all
// of these stayed, and all that count are part of the problem.
void CountRunningInSpreads(PackingProblem* problem);

// What running tasks that may move are charged where they are.
int64_t CostOfRunning(const PackingProblem& problem);

// The part of the price of the solution's stops that is not proved to be
// necessary, as long as the same tasks are served.
double GapOfStops(const RoundPacking& packing, const PackingSolution& solution);

}  // namespace sluice

#endif  // SLUICE_ROUND_PACKING_RUNNING_CLASSES_H_
