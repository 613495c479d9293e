// Moves leaders to where those can follow them that could not.
//
// A pass sends a class to where its followers have room (core/followers.h), as
// far as that can be told in advance: others of the pass may take the room, or
// followers may keep away from each other.  Where a class is left waiting
// because none of the tasks that it must be near runs where it may go, one of
// these that was placed in this tier, and that no client knows of yet, is taken
// back, with those that follow it already.  They are placed elsewhere, and the
// class with them, where less is left waiting for it; else all is put back.
//
// Threads: none; confined to the core thread.  Determinism: classes by their
// keys; leaders by age; machines by cost, then id.

#ifndef SLUICE_CORE_LEADER_MOVES_H_
#define SLUICE_CORE_LEADER_MOVES_H_

#include <cstdint>
#include <vector>

#include "constraints/constraint_set.h"
#include "core/gangs.h"
#include "cost/policy_set.h"
#include "network/eligibility.h"
#include "state/cluster_state.h"

namespace sluice {

struct LeaderMoveOutcome {
  std::vector<TaskId> placed;  // That waited before.
  int64_t given_up = 0;        // Of those that were placed before.
};

// Moves what the deltas from `delta_begin` on placed of the tier of `priority`.
// `budget` counts machines looked at, and is what is left of it afterwards.
// REQUIRES: the eligibility is refreshed, the state's peers are in sync.
LeaderMoveOutcome MoveLeaders(uint32_t priority, uint64_t delta_begin,
                              uint64_t sequence_end, const Gangs& gangs,
                              const PolicySet& policies,
                              const ConstraintSet& constraints,
                              Eligibility* eligibility, int64_t now_ms,
                              ClusterState* state, int64_t* budget);

}  // namespace sluice

#endif  // SLUICE_CORE_LEADER_MOVES_H_
