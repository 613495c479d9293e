// What changes in the cluster state, for those who keep something that follows
// from it: the store, and what is derived of machines.
//
// Threads: values.

#ifndef SLUICE_STATE_CHANGES_H_
#define SLUICE_STATE_CHANGES_H_

#include <cstdint>
#include <optional>

#include "absl/container/btree_set.h"
#include "sluice/base/ids.h"

namespace sluice {

// What changed since the last TakeChanges(): ids to write if they exist, and
// to delete if they do not.
struct ChangeSet {
  absl::btree_set<TaskId> tasks;
  absl::btree_set<JobId> jobs;
  absl::btree_set<MachineId> machines;
  absl::btree_set<uint64_t> deltas;
  bool counters = false;

  bool empty() const {
    return tasks.empty() && jobs.empty() && machines.empty() &&
           deltas.empty() && !counters;
  }
};

// What of a machine's description changed.
using MachineFields = uint32_t;
inline constexpr MachineFields kNameField = 1;
inline constexpr MachineFields kLabelsField = 2;
inline constexpr MachineFields kTaintsField = 4;
inline constexpr MachineFields kAvoidsField = 8;
inline constexpr MachineFields kAllFields = 15;

// Numbers that go on after a restart.
struct StateCounters {
  uint32_t next_job_id = 0;
  uint32_t next_machine_id = 0;
  uint64_t next_task_sequence = 0;
  uint64_t next_delta_sequence = 1;  // 0 is none.
  uint64_t version = 0;
  uint32_t next_feed_id = 1;
  // Of tasks whose id no client gave, dealt downwards; 0: none yet.
  uint64_t last_own_task_id = 0;
  // A client that begins anew announces what there is: the number of the last
  // time, when it began, and below which number what was mentioned is stale.
  uint32_t announcement = 0;
  uint32_t stale_below = 0;
  int64_t announcement_ms = 0;  // Since the epoch.
  // While the client goes on announcing, what `stale_below` was before.  Not
  // stored: after a crash it has said what it had to say.
  std::optional<uint32_t> former_stale_below = {};
};

}  // namespace sluice

#endif  // SLUICE_STATE_CHANGES_H_
