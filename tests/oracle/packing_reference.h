// What a packing costs by the rules as they are written down, and the least
// that any packing costs, by trying all of them.
//
// Shares no code with src/packing but the problem's own structs.
//
// Threads: pure functions.

#ifndef SLUICE_TESTS_ORACLE_PACKING_REFERENCE_H_
#define SLUICE_TESTS_ORACLE_PACKING_REFERENCE_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "packing/packing_problem.h"

namespace sluice {

// Returns OK if the solution keeps all rules of the problem, costs what it says
// and claims no bound above that.
// Errors: kInvalidArgument for a pattern that breaks a rule;
// kFailedPrecondition for a cost or a bound that cannot be.
absl::Status CheckPacking(const PackingProblem& problem,
                          const PackingSolution& solution);

// For each waiting cost that some placement leaves: the least cost of the
// placements that leave it.  Tries all placements, machine by machine.
// REQUIRES: the product of (count + 1) over the classes is small.
std::map<LevelCosts, int64_t> LeastPlacedCosts(const PackingProblem& problem);

// For people who read a failure.
std::string DescribePacking(const PackingProblem& problem);

}  // namespace sluice

#endif  // SLUICE_TESTS_ORACLE_PACKING_REFERENCE_H_
