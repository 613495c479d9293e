// The best plan so far for what waits, in case a round packs again.
//
// Threads: values and free functions; confined to the core thread.

#ifndef SLUICE_ROUND_CONTEXT_KNOWN_PLAN_H_
#define SLUICE_ROUND_CONTEXT_KNOWN_PLAN_H_

#include <set>
#include <utility>
#include <vector>

#include "sluice/base/ids.h"
#include "state/cluster_state.h"

namespace sluice {

// Waiting tasks with their machines, once the victims have left, and tasks that
// move, with their targets.  The reader must check what became of each of them
// meanwhile.
struct KnownPlan {
  std::vector<std::pair<TaskId, MachineId>> nominated = {};
  std::vector<TaskId> victims = {};
  std::vector<std::pair<TaskId, MachineId>> moves = {};
  std::set<TaskId> depending = {};  // Nominees that depend on moves.
};

// Reserves room again for a task that was nominated.  Returns false if it may
// not wait there, because the task, the machine or the room is gone.
bool KeepRoomAgain(TaskId id, MachineId machine, bool is_final,
                   ClusterState* state);
}  // namespace sluice

#endif  // SLUICE_ROUND_CONTEXT_KNOWN_PLAN_H_
