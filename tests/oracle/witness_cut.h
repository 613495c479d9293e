// Checks the proof that a problem has no feasible flow.
//
// Threads: a pure function.

#ifndef SLUICE_TESTS_ORACLE_WITNESS_CUT_H_
#define SLUICE_TESTS_ORACLE_WITNESS_CUT_H_

#include <span>

#include "absl/status/status.h"
#include "sluice/flow/problem.h"

namespace sluice {

// Returns OK if the supply of the nodes in `cut` exceeds what the arcs out of
// them can carry less what the arcs into them must bring.
// Errors: kInvalidArgument for a node that is not there or listed twice;
// kFailedPrecondition where the supply does not exceed.
absl::Status VerifyWitnessCut(const FlowProblem& problem,
                              std::span<const NodeIndex> cut);

}  // namespace sluice

#endif  // SLUICE_TESTS_ORACLE_WITNESS_CUT_H_
