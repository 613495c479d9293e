// What runs, as a packing problem knows it: which of its classes are of a gang,
// how many of them disruption budgets let be stopped, and which count for
// spreads.
//
// The classes of what runs are those of the problem from `first` on, one for
// each of the running tasks' own.
//
// Threads: pure functions.

#ifndef SLUICE_CORE_RUNNING_CLASSES_H_
#define SLUICE_CORE_RUNNING_CLASSES_H_

#include <cstddef>
#include <cstdint>

#include "core/round_packing.h"
#include "core/running_tasks.h"
#include "packing/packing_problem.h"

namespace sluice {

// A gang goes on with its minimum, or is stopped as a whole.
void AddRunningGangs(const RunningTasks& running, size_t first,
                     PackingProblem* problem);

// Adds those budgets that could be exceeded; each task that is stopped beyond
// one costs `cost`, on a level that is yet to be said.  Returns whether there
// are any.  REQUIRES: it is known how many tasks the classes have.
bool AddRunningBudgets(const RunningTasks& running, size_t first, int64_t cost,
                       PackingProblem* problem);

// Caps of spreads let in what runs and counts for them, and their domains hold
// less without it.  REQUIRES: they were made as if it stayed, and all of it
// that counts is part of the problem.
void CountRunningInSpreads(PackingProblem* problem);

// What the tasks that run and may move are charged where they are.
int64_t CostOfRunning(const PackingProblem& problem);

// Of the price of whom the solution stops, the part that is not proved to be
// needed, as long as it serves whom it does.
double GapOfStops(const RoundPacking& packing, const PackingSolution& solution);

}  // namespace sluice

#endif  // SLUICE_CORE_RUNNING_CLASSES_H_
