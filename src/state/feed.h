// A feed: a client that states what there is, and takes it back, under a name
// of its own (sluice.v1.Feed; docs/decisions/0023).
//
// What it states is its own: tasks by the ids that it gives them, and machines.
// What arrives is an event, as a value: the edge (rpc/) has checked and
// converted what it could.
//
// Threads: values.

#ifndef SLUICE_STATE_FEED_H_
#define SLUICE_STATE_FEED_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "sluice/base/ids.h"
#include "sluice/state/task.h"
#include "state/command.h"

namespace sluice {

// The time for which one client holds the lease by which several elect a
// leader.
struct FeedTerm {
  std::string lease;   // Empty: there is no such lease.
  int64_t number = 0;  // Of the holders of the lease.
  std::string holder;  // For people.

  bool IsOlderThan(const FeedTerm& other) const {
    return lease == other.lease && number < other.number;
  }
  bool operator==(const FeedTerm&) const = default;
};

// From here to SnapshotEnded a feed states all there is.
struct SnapshotBegan {
  FeedTerm term = {};
  // How long clients of earlier terms may still carry out what they were told.
  int64_t settle_ms = 0;
  uint32_t priority_zero = 0;  // What the client calls 0.
  // Others lead, and decide elsewhere.
  bool is_standby = false;
};
// What it did not state is gone, and what waits of it may be placed.
struct SnapshotEnded {};
// Its client was a standby, and leads from here on.
struct FeedLed {
  FeedTerm term = {};
  int64_t settle_ms = 0;  // As SnapshotBegan's.
};
// A machine that is new, is back, or has changed.
struct MachineStated {
  MachineSpec spec;
};
// Its tasks stay known, in case it returns.
struct MachineGone {
  std::string uuid;
};
// A task that is new or has changed.
struct TaskStated {
  std::string id;
  std::string job_uuid;
  std::string job_name;
  Gang gang;
  std::optional<DisruptionBudget> budget = {};  // Of the job.
  // One was stated that makes no sense: the job's former one stays.
  bool keeps_budget = false;
  TaskSpec spec;
  std::string machine_uuid;  // Where it runs; empty: it waits, or is as it was.
  // Others place it: it takes room, and waits for nothing.
  bool is_foreign = false;
  // Its client stops it: it takes room until it is gone.
  bool is_terminating = false;
  // Of all that describes it, the machine not included; 0: none.
  uint64_t fingerprint = 0;
};
// It ended and frees what it used; it is not run again.
struct TaskEnded {
  std::string id;
  bool is_failure = false;
};
struct TaskGone {
  std::string id;
};
// A placement could not be carried out: the task waits again.
struct BindFailed {
  std::string id;
  std::string machine_uuid;  // Where it was to run.
  std::string reason;        // For people.
};

// A disruption budget that is new or has changed.
struct BudgetStated {
  std::string id;
  DisruptionBudget budget = {};
};
// One was stated that makes no sense: the former one of that id stays.
struct BudgetKept {
  std::string id;
};
struct BudgetGone {
  std::string id;
};

// A sample of a task by the id of its feed.  Neither numbered nor stored.
struct TaskMeasured {
  std::string id;
  TaskUsage usage = {};
};

using FeedEvent =
    std::variant<SnapshotBegan, SnapshotEnded, FeedLed, MachineStated,
                 MachineGone, TaskStated, TaskEnded, TaskGone, BindFailed,
                 BudgetStated, BudgetKept, BudgetGone, TaskMeasured>;

// What became of an event.  All but kApplied change nothing, or what they say.
enum class FeedOutcome {
  kApplied,
  kUnknownTask,
  kUnknownMachine,
  kUnknownBudget,
  kTooManyBudgets,  // Of the feed (kBudgetsMax).
  // A task that runs on a machine that nobody has stated: it is quarantined
  // until it is stated anew.
  kRunsOnUnknownMachine,
  // The machine, or a uuid of its tree, was stated by somebody else.
  kNotYours,
  // The task does not run there any more, or was never placed there.
  kNotPlacedThere,
};

enum class FeedPhase {
  kAway,        // It has no client.
  kInSnapshot,  // Its client states what there is.
  kStated,      // Its client has stated all there is.
};

struct Feed {
  FeedId id;
  std::string name;
  FeedTerm term = {};  // Of the client that led it last.
  // Others lead, and decide elsewhere: nothing of it is placed here, and what
  // they decide is stated as what runs.
  bool is_standby = false;
  // What follows is not stored: after a restart every client states everything
  // anew.
  FeedPhase phase = FeedPhase::kAway;
  uint32_t priority_zero = 0;  // What its client calls 0, for people.
  // What was stated carries the number of the snapshot.
  uint32_t snapshot = 0;
  // Whether clients of earlier terms may still carry out what they were told.
  // What is placed and was not stated again stays placed meanwhile.
  bool is_settling = false;
  // In addition, what they were told is unknown: nothing of the feed is placed.
  bool is_held_back = false;
  // Whether what waits of it may be placed.
  bool is_live = false;
  absl::flat_hash_map<std::string, TaskId> tasks = {};  // By its own ids.
  struct Budget {
    DisruptionBudget budget;
    uint32_t snapshot = 0;  // Which stated it.
  };
  absl::btree_map<std::string, Budget> budgets = {};  // By its own ids.
};

}  // namespace sluice

#endif  // SLUICE_STATE_FEED_H_
