// Running gangs that may be stopped for more urgent tasks: task by task down to
// their minimum, or as a whole.
//
// Threads: a pure function; confined to the core thread.

#ifndef SLUICE_ROUND_TOGETHER_GANG_VICTIMS_H_
#define SLUICE_ROUND_TOGETHER_GANG_VICTIMS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/functional/function_ref.h"
#include "round/together/gangs.h"
#include "sluice/base/ids.h"
#include "sluice/state/task.h"
#include "state/cluster_state.h"

namespace sluice {

// Each is a class of its own to a packing, and often several.  If there are
// more, the least urgent and smallest take part.
inline constexpr size_t kGangVictimsMax = 50;

struct GangVictim {
  int64_t minimum = 0;                  // At most as many as run.
  std::vector<const Task*> tasks = {};  // All that run.
};
using GangVictims = absl::btree_map<JobId, GangVictim>;

// Leaves a gang out unless `may_leave` is true of all its running tasks.
GangVictims FindGangVictims(const ClusterState& state, const Gangs& gangs,
                            absl::FunctionRef<bool(const Task&)> may_leave);

}  // namespace sluice

#endif  // SLUICE_ROUND_TOGETHER_GANG_VICTIMS_H_
