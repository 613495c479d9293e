// The last resort for a gang: its tasks one by one, with second thoughts.
//
// A pass decides for whole classes, by one measure of what fits; where tasks of
// several sizes or terms have to be fitted together, what it finds first may
// leave no room for the rest.  The search goes on from there: depth first, each
// task on each machine that takes it, until the gang is whole or the budget is
// spent.
//
// Threads: none; confined to the core thread.  Determinism: larger classes
// first, older tasks first, machines by id.

#ifndef SLUICE_CORE_GANG_SEARCH_H_
#define SLUICE_CORE_GANG_SEARCH_H_

#include <cstdint>
#include <vector>

#include "constraints/constraint_set.h"
#include "core/gangs.h"
#include "state/cluster_state.h"

namespace sluice {

// Places tasks of the gang, none of which runs, until it is whole; nothing
// where that is not found.  Returns those placed.  `budget` counts machines
// looked at, and is what is left of it afterwards.
std::vector<TaskId> SearchForGang(const Gangs::Waiting& gang,
                                  uint64_t sequence_end,
                                  const ConstraintSet& constraints,
                                  int64_t now_ms, ClusterState* state,
                                  int64_t* budget);

}  // namespace sluice

#endif  // SLUICE_CORE_GANG_SEARCH_H_
