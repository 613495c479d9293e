// What of a packing problem is to be decided on.
//
// Threads: values and pure functions.

#ifndef SLUICE_PACKING_PACKING_REST_H_
#define SLUICE_PACKING_PACKING_REST_H_

#include <cstdint>
#include <vector>

#include "packing/packing_problem.h"

namespace sluice {

// So many tasks of each class, which are those that are cheapest to leave
// waiting, and machines of each group; and how many more each cap lets in.
struct PackingRest {
  std::vector<int64_t> tasks;
  std::vector<int64_t> machines;
  std::vector<int64_t> caps = {};
};

// Nothing of it is decided on yet.
PackingRest AllOf(const PackingProblem& problem);

// The first steps of the ladder that together have `count` tasks.
std::vector<WaitingStep> FirstSteps(const PackingClass& of, int64_t count);
// By budget: how many more of its tasks wait than it lets, where so many of
// each class do.
std::vector<int64_t> ExcessOfBudgets(const PackingProblem& problem,
                                     const std::vector<int64_t>& waiting);
// The most urgent of the tasks of the class that wait, with how many of them
// are alike, where budgets are exceeded by so much.  REQUIRES: some wait.
WaitingStep MostUrgentOf(const PackingProblem& problem, size_t task_class,
                         const std::vector<int64_t>& waiting,
                         const std::vector<int64_t>& excess);
// Of the first `count` tasks all that are of this level or a more urgent one,
// as if they were as urgent as the last of them.  REQUIRES: there are any.
WaitingStep StepDownTo(const PackingClass& of, int64_t count, size_t level);
// Adds what it costs to leave that many tasks waiting.
void AddWaitingCost(const PackingClass& of, int64_t count, LevelCosts* cost);
// Adds what it costs to exceed budgets, where so many of each class wait.
void AddExcessCost(const PackingProblem& problem,
                   const std::vector<int64_t>& waiting, LevelCosts* cost);

}  // namespace sluice

#endif  // SLUICE_PACKING_PACKING_REST_H_
