// Who of those that a packing places has room at once, and who has to wait for
// others to leave: a packing takes no account of that.
//
// Threads: values and free functions; confined to the core thread.

#ifndef SLUICE_CORE_FREE_ROOM_H_
#define SLUICE_CORE_FREE_ROOM_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "core/round_packing.h"
#include "state/cluster_state.h"

namespace sluice {

// Exchanges tasks of the solution, as far as that costs no more: where a task
// would wait, and room that is free already would stay free or be taken by a
// less urgent one, it takes that room, and the less urgent one waits instead.
// Where nobody else is stopped for the more urgent one, that comes at once even
// if the other has no place then: whoever it would wait for leaves anyway.
// Tasks of gangs stay where they are, and so do those with rules about other
// tasks and ports.  Each machine has a pattern of its own then, in the order of
// the packing's machines.  `free_now`: what a machine has for whom it places.
void GiveFreeRoomToUrgent(const RoundPacking& packing,
                          const ClusterState& state,
                          const ConstraintSet& constraints,
                          absl::FunctionRef<Resources(const Machine&)> free_now,
                          std::vector<Pattern>* solution);

}  // namespace sluice

#endif  // SLUICE_CORE_FREE_ROOM_H_
