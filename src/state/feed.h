// A feed: a named client that states what exists and retracts what is gone
// (sluice.v1.Feed; docs/decisions/0023).
//
// A feed owns what it states: machines, and tasks by ids of its own.  Its
// messages arrive as events, which are values that the edge (rpc/) has checked
// and converted.
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

// One client's term as the leader that several clients elect by a lease.
struct FeedTerm {
  std::string lease;   // Empty: there is no such lease.
  int64_t number = 0;  // Of the holders of the lease.
  std::string holder;  // For people.

  bool IsOlderThan(const FeedTerm& other) const {
    return lease == other.lease && number < other.number;
  }
  bool operator==(const FeedTerm&) const = default;
};

// From here to SnapshotEnded a feed states everything that exists.
struct SnapshotBegan {
  FeedTerm term = {};
  // How long clients of earlier terms may still act on what they were told.
  int64_t settle_ms = 0;
  uint32_t priority_zero = 0;  // The priority that the client calls 0.
  // Another client leads, and another daemon decides.
  bool is_standby = false;
};
// What the feed did not state is gone.  Its waiting tasks may be placed.
struct SnapshotEnded {};
// The client was a standby and leads from here on.
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
  // The stated budget is invalid: the job keeps its former one.
  bool keeps_budget = false;
  TaskSpec spec;
  std::string machine_uuid;  // Where it runs; empty: it waits, or is as it was.
  // Another scheduler places it: it takes room and never waits.
  bool is_foreign = false;
  // Its client is stopping it: it takes room until it is gone.
  bool is_terminating = false;
  // Of its description, without the machine; 0: none.
  uint64_t fingerprint = 0;
};
// The task ended, frees what it used, and does not run again.
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
// The stated budget is invalid: the former one of that id stays.
struct BudgetKept {
  std::string id;
};
struct BudgetGone {
  std::string id;
};

// A sample of a task, by the feed's id for it.  Neither numbered nor stored.
struct TaskMeasured {
  std::string id;
  TaskUsage usage = {};
};

using FeedEvent =
    std::variant<SnapshotBegan, SnapshotEnded, FeedLed, MachineStated,
                 MachineGone, TaskStated, TaskEnded, TaskGone, BindFailed,
                 BudgetStated, BudgetKept, BudgetGone, TaskMeasured>;

// The outcome of an event.  If it is not kApplied, nothing has changed except
// as noted.
enum class FeedOutcome {
  kApplied,
  kUnknownTask,
  kUnknownMachine,
  kUnknownBudget,
  kTooManyBudgets,  // The feed has kBudgetsMax already.
  // The task runs on a machine that nobody has stated.  It is quarantined until
  // it is stated again.
  kRunsOnUnknownMachine,
  // Another client stated the machine, or a uuid of its tree.
  kNotYours,
  // The task no longer runs there, or was never placed there.
  kNotPlacedThere,
};

enum class FeedPhase {
  kAway,        // It has no client.
  kInSnapshot,  // Its client is stating what exists.
  kStated,      // Its client has stated everything.
};

struct Feed {
  FeedId id;
  std::string name;
  FeedTerm term = {};  // Of the client that led it last.
  // Another client leads, and another daemon decides.  Nothing of the feed is
  // placed here; what is decided there is stated here as running.
  bool is_standby = false;
  // What follows is not stored: after a restart every client states everything
  // again.
  FeedPhase phase = FeedPhase::kAway;
  uint32_t priority_zero = 0;  // What its client calls 0, for people.
  // The number of the newest snapshot.  What it stated carries this number.
  uint32_t snapshot = 0;
  // True while clients of earlier terms may still act on what they were told.
  // Meanwhile, placed tasks stay placed even if they are not stated again.
  bool is_settling = false;
  // In addition, it is unknown what they were told: nothing of the feed is
  // placed.
  bool is_held_back = false;
  // True if its waiting tasks may be placed.
  bool is_live = false;
  absl::flat_hash_map<std::string, TaskId> tasks = {};  // By its own ids.
  struct Budget {
    DisruptionBudget budget;
    uint32_t snapshot = 0;  // The newest that stated it.
  };
  absl::btree_map<std::string, Budget> budgets = {};  // By its own ids.
};

}  // namespace sluice

#endif  // SLUICE_STATE_FEED_H_
