// What has changed in the cluster state, for those that follow it: the store,
// and whatever is derived from machines.
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

// Which parts of a machine's description changed.
using MachineFields = uint32_t;
inline constexpr MachineFields kNameField = 1;
inline constexpr MachineFields kLabelsField = 2;
inline constexpr MachineFields kTaintsField = 4;
inline constexpr MachineFields kAvoidsField = 8;
inline constexpr MachineFields kAllFields = 15;

// Counters that survive a restart.
struct StateCounters {
  uint32_t next_job_id = 0;
  uint32_t next_machine_id = 0;
  uint64_t next_task_sequence = 0;
  uint64_t next_delta_sequence = 1;  // 0 is none.
  uint64_t version = 0;
  uint32_t next_feed_id = 1;
  // The last id that was not given by a uid; counts down.  0: none yet.
  uint64_t last_own_task_id = 0;
  // A client that begins anew announces what exists: the number of the last
  // announcement, the number below which a mention is stale, and when the last
  // announcement began.
  uint32_t announcement = 0;
  uint32_t stale_below = 0;
  int64_t announcement_ms = 0;  // Since the epoch.
  // The previous `stale_below` while an announcement is open.  Not stored:
  // after a crash the announcement counts as complete.
  std::optional<uint32_t> former_stale_below = {};
  // True while it is open whether a client begins anew.  Not stored.
  bool is_announcement_expected = false;
};

}  // namespace sluice

#endif  // SLUICE_STATE_CHANGES_H_
