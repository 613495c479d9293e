// The exchange for a gang: room where others are cheaper to leave waiting.
//
// A pass has as many slots a machine as the largest request of it fits, so that
// a gang of small tasks may look as if it did not fit beside large ones, and
// the room goes to these.  The exchange takes back placements of this round,
// which no client knows of yet, on the machines where they cost the least for
// each task of the gang that then fits; starts the gang; and puts back what
// still fits.  It is undone where what is left waiting is not cheaper than the
// gang was.  So each exchange lowers the waiting cost, and they come to an end.
//
// Threads: none; confined to the core thread.  Determinism: machines by price,
// then id; tasks by price, then in the order of their placement.

#ifndef SLUICE_CORE_GANG_EXCHANGE_H_
#define SLUICE_CORE_GANG_EXCHANGE_H_

#include <cstdint>
#include <vector>

#include "constraints/constraint_set.h"
#include "core/gangs.h"
#include "network/eligibility.h"
#include "state/cluster_state.h"

namespace sluice {

struct GangExchangeOutcome {
  std::vector<TaskId> placed;  // Of the gang; none where there was no gain.
  int64_t given_up = 0;        // Placements of others.
  bool has_searched = false;
};

// Starts the gang, none of which runs, in the place of tasks that were placed
// by the deltas from `delta_begin` on.  Takes back only tasks of the priority
// of the gang that no others may have been placed for, and gangs only as a
// whole, where they are no older.  `budget` counts machines and tasks looked
// at, and is what is left of it afterwards.  REQUIRES: the eligibility is
// refreshed, the state's peers are in sync.
GangExchangeOutcome ExchangeForGang(const Gangs::Waiting& gang,
                                    uint64_t delta_begin, uint64_t sequence_end,
                                    const ConstraintSet& constraints,
                                    Eligibility* eligibility, int64_t now_ms,
                                    ClusterState* state, int64_t* budget);

}  // namespace sluice

#endif  // SLUICE_CORE_GANG_EXCHANGE_H_
