// A task: the unit of work that a client submits and the scheduler places.
//
// Threads: values; the ones in the state are confined to the core thread.

#ifndef SLUICE_STATE_TASK_H_
#define SLUICE_STATE_TASK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sluice/base/ids.h"
#include "sluice/state/placement_rules.h"
#include "sluice/state/resources.h"
#include "sluice/state/usage.h"

namespace sluice {

// A label by the ids of its interned key and value (state/interner.h).
struct Label {
  uint32_t key = 0;
  uint32_t value = 0;
  friend auto operator<=>(const Label&, const Label&) = default;
};

enum class TaskState : uint8_t {
  kPending = 0,  // Waits for a machine.
  kRunning = 1,  // Has one, whether or not its client has been told yet.
  kCompleted = 2,
  kFailed = 3,
  kRemoved = 4,  // Gone; kept for the further removals that are expected.
};

// Why a task that ran before is to run again.
enum class RunsAgain : uint8_t {
  kNo = 0,
  kMachineFailed = 1,
  kEvicted = 2,  // It was told to leave, and did.
  kFailed = 3,   // Its job asks for another try.
};

// Selectors of tasks by their ids (state/peer_table.h), ascending.
using SelectorSet = std::vector<uint32_t>;

inline const SelectorSet& NoSelectors() {
  static const SelectorSet none;
  return none;
}

// What all tasks of a class have in common: nothing else about a task may
// influence where it can run or what that costs.
struct ClassKey {
  uint32_t priority = 0;
  Resources request;  // One pod included.
  // Never null.  The state keeps equal rules once (state/rules_table.h).
  const PlacementRules* rules = &NoRules();
  // Which selectors of rules mean it.  Never null; the state keeps equal ones
  // once (state/peer_table.h).
  const SelectorSet* meant_by = &NoSelectors();
  // The job, if that is a gang.
  std::optional<JobId> gang = {};
  // Not part of the value: a number of its own where it has tasks that wait, or
  // had (state/class_names.h); 0 is none.
  uint64_t name = 0;

  // Whether where it may go depends on where other tasks are.
  bool DependsOnPeers() const {
    return !meant_by->empty() || rules->HasPeerTerms();
  }
  // The same, or on whether others run with it.
  bool IsBound() const { return gang.has_value() || DependsOnPeers(); }
  // The more urgent first, then by request, rules, selectors and gang.
  friend std::strong_ordering operator<=>(const ClassKey& a,
                                          const ClassKey& b) {
    if (a.priority != b.priority) return b.priority <=> a.priority;
    if (const auto order = a.request <=> b.request; order != 0) return order;
    if (a.rules != b.rules) {
      if (const auto order = *a.rules <=> *b.rules; order != 0) return order;
    }
    if (a.meant_by != b.meant_by) {
      const auto order = *a.meant_by <=> *b.meant_by;
      if (order != 0) return order;
    }
    return a.gang <=> b.gang;
  }
  friend bool operator==(const ClassKey& a, const ClassKey& b) {
    return (a <=> b) == 0;
  }
};

// A machine without processing units runs its tasks itself.
inline constexpr int32_t kNoPu = -1;

struct Task {
  // What rounds look at, of all tasks that run, is next to each other.
  TaskId id;
  JobId job;
  TaskState state = TaskState::kPending;
  // Told to leave its machine, or stopped by its client; it holds its place
  // until it is gone.
  bool is_evicted = false;
  // Others place it: it only takes room, and nothing is told of it.
  bool is_foreign = false;
  // Its client knows the uid no more, or for another: nothing may be reported
  // for it, so it is not scheduled either.
  bool is_muted = false;
  // Its client began anew and has not submitted it again, or its feed is not
  // live: nothing is told of it.
  bool is_stale = false;
  // Another has its uid now (see `earlier_holders`).
  bool is_displaced = false;
  // Submitted, and in no queue yet: room that is kept for a successor may be
  // its own (state/successions.h).  Not stored.
  bool may_succeed = false;
  // kPending, and in no queue: another runs, or is to run, in its place, or it
  // waits for another's place (state/replacements.h).  Not stored.
  bool is_held = false;
  // It is placed nowhere itself: each machine gets a task that is made from it
  // (state/templates.h).
  bool is_template = false;
  // Its feed has stated that it is being stopped; not stored.
  bool is_ending = false;
  // What is lost when it is stopped, beside what each stop costs.
  int32_t preemption_cost = 0;
  // How often it was disturbed: how many tasks in a row, each the successor of
  // the one before it, were told to leave (state/successions.h).
  int32_t disturbances = 0;
  // kRunning, and removed by guess: the machine, the index of the processing
  // unit on it (kNoPu where the machine has none), and since when.
  MachineId machine;
  int32_t pu = kNoPu;
  int64_t placed_ms = 0;     // Since the epoch.
  int64_t submitted_ms = 0;  // Since the epoch.
  uint64_t sequence = 0;     // Order of submission, dense, never used again.
  // Clients use uids again while their first holder still runs.  Whom this one
  // meant before and is not yet removed, oldest first: such a task is
  // displaced, has an id of the state's own, and goes on as it is.  While there
  // is any no completion or failure can be attributed, and a removal is taken
  // for the oldest's.
  std::vector<TaskId> earlier_holders;
  ClassKey class_key;
  // What it counts as once it has completed; follows from its description.
  WorkKindId work_kind;

  // The template that it was made from, and the machine for which; nothing: a
  // client submitted it.
  std::optional<TaskId> made_from = {};
  MachineId made_for = {};

  // The newest reason, and of kMachineFailed the machine; it may be forgotten.
  RunsAgain runs_again = RunsAgain::kNo;
  MachineId lost_on;
  // How often it failed since it was submitted and was to run again.
  int32_t failures = 0;
  // kPending, and in no queue before that time, since the epoch; 0: it is.
  int64_t retry_ms = 0;

  std::string name;
  std::string task_namespace;
  Owner owner;
  std::vector<Label> labels;  // Ascending.
  LabelPairs namespace_labels;
  int32_t task_type = 0;  // TaskDescriptor.TaskType of the contract.
  std::string binary;     // Path of its program; empty: nobody says.
  // Whether `placed_ms` is when this program had it placed.  Not stored.
  bool is_start_known = false;
  // Why it is kept out of scheduling, for people; empty where it is not.
  std::string quarantine_reason;
  // kPending, and in no queue: the uuid of the machine on which its client says
  // that it runs, or of a part of it, which nobody has announced
  // (state/adoptions.h).
  std::string runs_on;
  TaskUsage usage;  // Measured last while it runs; not stored.

  // The feed that stated it, if one did, and its id there.
  FeedId feed;
  std::string feed_task_id;
  // Of what its feed stated last, to see at a glance that nothing has changed;
  // not stored: 0, which is none, after a restart.
  uint64_t feed_fingerprint = 0;

  // One for each submission.
  int32_t expected_removals = 1;
  // Of a displaced one: the task that has its uid, whose removals count for it,
  // too; none where nobody will speak of it any more.
  std::optional<TaskId> successor;
  // That in which it was mentioned last, or the snapshot of its feed.
  uint32_t announcement = 0;

  // Whether its id was dealt by the state, and is no uid of a client.
  bool HasOwnId() const { return is_displaced || feed != FeedId(); }
  bool IsLive() const {
    return state == TaskState::kPending || state == TaskState::kRunning;
  }
  // Was removed because a removal was taken for its own: if its client begins
  // anew and submits it, then it runs on `machine` all the same.
  bool IsRemovedByGuess() const {
    return state == TaskState::kRemoved && is_displaced;
  }
  // Waits, as far as its client knows.
  bool IsUnscheduled() const {
    return state == TaskState::kPending && !is_muted && !is_stale &&
           !is_template && retry_ms == 0;
  }
  // The same, and nothing about the task itself keeps it from a machine.
  bool MayRun() const {
    return IsUnscheduled() && quarantine_reason.empty() && runs_on.empty();
  }
  bool IsSchedulable() const { return MayRun() && !is_held; }
};

}  // namespace sluice

#endif  // SLUICE_STATE_TASK_H_
