// The part of a packing problem that is not yet decided on.
//
// Threads: values and pure functions.

#ifndef SLUICE_PACKING_PACKING_REST_H_
#define SLUICE_PACKING_PACKING_REST_H_

#include <cstdint>
#include <vector>

#include "packing/packing_problem.h"

namespace sluice {

// How many tasks of each class, namely the cheapest to leave waiting; how many
// machines of each group; and how many more each cap allows.
struct PackingRest {
  std::vector<int64_t> tasks;
  std::vector<int64_t> machines;
  std::vector<int64_t> caps = {};
};

// The whole problem: nothing is decided on yet.
PackingRest AllOf(const PackingProblem& problem);

// The first steps of the ladder that together have `count` tasks.
std::vector<WaitingStep> FirstSteps(const PackingClass& of, int64_t count);
// By budget: by how many waiting tasks it is exceeded, given how many of each
// class wait.
std::vector<int64_t> ExcessOfBudgets(const PackingProblem& problem,
                                     const std::vector<int64_t>& waiting);
// The most urgent of the waiting tasks of the class, with how many of them are
// equal, given by how much budgets are exceeded.  REQUIRES: some wait.
WaitingStep MostUrgentOf(const PackingProblem& problem, size_t task_class,
                         const std::vector<int64_t>& waiting,
                         const std::vector<int64_t>& excess);
// Those of the first `count` tasks that are of this level or a more urgent one,
// all counted as urgent as the last of them.  REQUIRES: there are any.
WaitingStep StepDownTo(const PackingClass& of, int64_t count, size_t level);
// Adds the cost of leaving `count` tasks waiting.
void AddWaitingCost(const PackingClass& of, int64_t count, LevelCosts* cost);
// Adds the cost of exceeding budgets, given how many of each class wait.
void AddExcessCost(const PackingProblem& problem,
                   const std::vector<int64_t>& waiting, LevelCosts* cost);

}  // namespace sluice

#endif  // SLUICE_PACKING_PACKING_REST_H_
