// Random packing problems for the oracles: all that a problem may hold, in many
// mixtures.
//
// Threads: free functions without state.

#ifndef SLUICE_TESTS_ORACLE_RANDOM_PACKING_H_
#define SLUICE_TESTS_ORACLE_RANDOM_PACKING_H_

#include <cstdint>

#include "base/rng.h"
#include "packing/packing_problem.h"

namespace sluice {

struct PackingShape {
  int64_t groups_max = 4;
  int64_t machines_min = 1;  // In all groups together.
  int64_t machines_max = 5;
  int64_t classes_min = 1;
  int64_t classes_max = 4;
  int64_t tasks_max = 5;   // Of a class.
  int64_t levels_max = 1;  // Of urgency.
  // Whether some classes share no machine.
  bool keeps_apart = false;
  int64_t caps_max = 0;
  bool has_spread = false;
  // Whether some classes stand only where there is company for them.
  bool needs_company = false;
  int64_t gangs_max = 0;
  // Whether the tasks of some classes run already, and some of these may move.
  bool has_staying = false;
  bool may_move = false;
  int64_t budgets_max = 0;  // Of classes that are of no gang.
};

// The seed also decides on what the problem has: one to three dimensions, tight
// or loose machines, few or many forbidden pairs, limits for one machine, and
// waiting costs that are alike, near to each other, or far apart.
PackingProblem MakeRandomPacking(const PackingShape& shape, Rng* rng);

}  // namespace sluice

#endif  // SLUICE_TESTS_ORACLE_RANDOM_PACKING_H_
