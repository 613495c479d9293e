// What waits in a tier, and what a round has placed of it so far, as a packing
// problem: all of it is decided on at once, whatever its sizes.
//
// Tasks whose place depends on others stay where they are.  So does what a
// client knows of.
//
// Threads: values and free functions; confined to the core thread.

#ifndef SLUICE_CORE_TIER_PACKING_H_
#define SLUICE_CORE_TIER_PACKING_H_

#include <cstdint>
#include <vector>

#include "constraints/constraint_set.h"
#include "core/gangs.h"
#include "core/placements.h"
#include "network/eligibility.h"
#include "packing/packing_problem.h"
#include "state/cluster_state.h"

namespace sluice {

struct TierPacking {
  PackingProblem problem;
  std::vector<ClassKey> classes;                 // Of the problem.
  std::vector<std::vector<MachineId>> machines;  // Of each of its groups.
  std::vector<TaskId> placed;  // What the problem is to place anew.
  // What the tier costs as it is, and the least that it can by what each class
  // likes best.
  PackingCost now;
  PackingCost least;
  int64_t tasks = 0;
};

// Of the tier of `priority`, whose round began at `delta_begin`: the tasks that
// wait and were submitted before `sequence_end`, and those placed since.
// REQUIRES: the eligibility is refreshed.
TierPacking DescribeTier(const ClusterState& state, uint32_t priority,
                         uint64_t delta_begin, uint64_t sequence_end,
                         const Gangs& gangs, const ConstraintSet& constraints,
                         Eligibility* eligibility, int64_t now_ms);

}  // namespace sluice

#endif  // SLUICE_CORE_TIER_PACKING_H_
