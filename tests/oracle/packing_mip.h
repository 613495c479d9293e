// The least costs of a packing by GLPK's branch and bound: an opinion that
// knows of integer programs only and of no patterns.
//
// Good for some twenty machines.  A search ends once it has solved
// `programs_max` linear programs: what it finds does not depend on how fast the
// machine is.
//
// Threads: none; the library has a global state.

#ifndef SLUICE_TESTS_ORACLE_PACKING_MIP_H_
#define SLUICE_TESTS_ORACLE_PACKING_MIP_H_

#include <cstdint>
#include <optional>

#include "packing/packing_problem.h"

namespace sluice {

// What some placement costs, if one was found within the limit.
struct PackingMipAnswer {
  std::optional<int64_t> found;
  bool is_least = false;  // Proved: none costs less.
};

// The least waiting cost.
PackingMipAnswer LeastWaitingByMip(const PackingProblem& problem,
                                   int64_t programs_max);

// The least cost of placements that leave no more than that waiting cost.
PackingMipAnswer LeastPlacedByMip(const PackingProblem& problem,
                                  int64_t waiting_cost, int64_t programs_max);

}  // namespace sluice

#endif  // SLUICE_TESTS_ORACLE_PACKING_MIP_H_
