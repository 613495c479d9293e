// Builds packing problems on one group of machines, class by class.
//
// Threads: free functions without state.

#ifndef SLUICE_TESTS_UTIL_PACKING_BUILDER_H_
#define SLUICE_TESTS_UTIL_PACKING_BUILDER_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "packing/packing_problem.h"

namespace sluice {

// `machines` machines of one kind, each with `free`, and no tasks.
inline PackingProblem OneGroup(std::vector<int64_t> free,
                               int64_t machines = 1) {
  PackingProblem problem;
  problem.groups = {{std::move(free), machines, 0}};
  problem.costs = {{}};
  return problem;
}

// Adds a class; each of its tasks is charged `charge` on every kind.
inline void AddClass(PackingClass task_class, int64_t charge,
                     PackingProblem* problem) {
  problem->classes.push_back(std::move(task_class));
  for (std::vector<int64_t>& costs : problem->costs) costs.push_back(charge);
}

// Adds a class that is a gang of at least `minimum` tasks.
inline void AddGang(PackingClass task_class, int64_t charge, int64_t minimum,
                    PackingProblem* problem) {
  problem->gangs.push_back({{problem->classes.size()}, minimum});
  AddClass(std::move(task_class), charge, problem);
}

}  // namespace sluice

#endif  // SLUICE_TESTS_UTIL_PACKING_BUILDER_H_
