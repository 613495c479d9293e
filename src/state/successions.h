// What tasks that were told to leave pass on to their successors.
//
// Nothing moves a task that runs.  Its client stops it, and its controller
// submits another one: its *successor*, of the same job and with the same
// request and priority.  A *succession* begins when the former task is told to
// stop or to move.  The first task that is submitted and can be its successor
// inherits how often the former one was disturbed, and the succession is over.
// It is also over if the former task stays after all, or no successor comes.
//
// The succession of a task that was told to move also keeps room on its target
// machine.  Its successor is nominated for that machine (state/nominations.h).
// It is also over if that machine is no longer usable.
//
// The job is known by its uuid, since it may end with its last task.
// Successions are not stored: after a restart a successor is placed like any
// other task and inherits nothing.
//
// Threads: none; confined to the core thread.
// Time: an argument.

#ifndef SLUICE_STATE_SUCCESSIONS_H_
#define SLUICE_STATE_SUCCESSIONS_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "sluice/base/ids.h"
#include "sluice/state/machine.h"
#include "sluice/state/resources.h"
#include "sluice/state/task.h"

namespace sluice {

class ClusterState;

// How long a successor may take to come once its predecessor is gone: several
// times what a controller and a bridge need.  A successor waits equally long
// for its own machine before it goes elsewhere.
inline constexpr int64_t kSuccessorWaitMs = 60000;
// How long a predecessor may take to leave: twenty times the grace period that
// Kubernetes gives a pod by default.
inline constexpr int64_t kPredecessorWaitMs = 600000;

struct Succession {
  TaskId predecessor;
  uint64_t predecessor_sequence = 0;  // Task::sequence; uids are reused.
  std::string job_uuid;
  uint32_t priority = 0;
  Resources request;
  // What it says about other tasks, and the ports it listens on.  Not null.
  const PlacementRules* rules = &NoRules();
  // Where the room is; nullopt if the predecessor was told to stop.
  std::optional<MachineId> machine = {};
  int32_t disturbances = 0;  // What the successor inherits.
  // When FindOver() saw it first.
  int64_t since_ms = std::numeric_limits<int64_t>::max();
  uint64_t expected = 0;  // PeerTable::Expect().
  // When the predecessor was seen to be gone.
  std::optional<int64_t> gone_ms = {};
};

class Successions {
 public:
  // By the sequence of the delta that says to move: the oldest first.
  using Map = absl::btree_map<uint64_t, Succession>;

  const Map& all() const { return all_; }
  const Succession* Find(uint64_t sequence) const;
  // The succession for a new task of that job and class.  Among those with its
  // rules this is the oldest that keeps room, else the oldest.  If there are
  // none, one that keeps no room is preferred, since the room may be of no use
  // to the task.
  std::optional<uint64_t> FindFor(const std::string& job_uuid,
                                  const ClassKey& key) const;
  // The total for which successions keep room on the machine.
  Resources RequestsOn(const Machine& machine) const;

  // For the state.  REQUIRES: there is none of that sequence.
  void Add(uint64_t sequence, Succession succession);
  // REQUIRES: there is one.
  void Drop(uint64_t sequence);
  // Those whose predecessors stay, take too long to leave, or have been gone
  // for too long.  Also notes which predecessors are gone by now.
  std::vector<uint64_t> FindOver(int64_t now_ms, const ClusterState& state);

 private:
  Map all_;
  // Those that keep room come first.
  absl::flat_hash_map<std::string, absl::btree_set<std::pair<bool, uint64_t>>>
      of_job_;
};

}  // namespace sluice

#endif  // SLUICE_STATE_SUCCESSIONS_H_
