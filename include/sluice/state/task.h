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
#include "sluice/state/client_handle.h"
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
  kRemoved = 4,  // Gone; kept since further removals are expected.
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
  // Never null.  The state stores equal rules once (state/rules_table.h).
  const PlacementRules* rules = &NoRules();
  // The selectors of rules that select it.  Never null; the state stores equal
  // sets once (state/peer_table.h).
  const SelectorSet* meant_by = &NoSelectors();
  // The job, if it is a gang.
  std::optional<JobId> gang = {};
  // Not part of the value: a number of its own if it has, or had, waiting tasks
  // (state/class_names.h); 0 is none.
  uint64_t name = 0;

  // True if where it may go depends on where other tasks are.
  bool DependsOnPeers() const {
    return !meant_by->empty() || rules->HasPeerTerms();
  }
  // The same, or if it depends on whether others run with it.
  bool IsBound() const { return gang.has_value() || DependsOnPeers(); }
  // More urgent ones first, then by request, rules, selectors and gang.
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
  // The fields that rounds look at, for all running tasks, come first.
  TaskId id;
  JobId job;
  TaskState state = TaskState::kPending;
  // It was told to leave its machine, or its client stopped it; it holds its
  // place until it is gone.
  bool is_evicted = false;
  // Another scheduler places it: it only takes room, and nothing is told of it.
  bool is_foreign = false;
  // Submitted, but in no queue yet: room that is reserved for a successor may
  // be its own (state/successions.h).  Not stored.
  bool may_succeed = false;
  // kPending, but in no queue: another task runs, or is to run, in its place,
  // or it waits for another's place (state/replacements.h).  Not stored.
  bool is_held = false;
  // It is not placed itself: each machine gets a task that is made from it
  // (state/templates.h).
  bool is_template = false;
  // What is lost when it is stopped, in addition to the cost of each stop.
  int32_t preemption_cost = 0;
  // How often it was disturbed: how many tasks in a row, each the successor of
  // the previous one, were told to leave (state/successions.h).
  int32_t disturbances = 0;
  // For kRunning, and if removed by guess: the machine, the index of the
  // processing unit on it (kNoPu if the machine has none), and since when.
  MachineId machine;
  int32_t pu = kNoPu;
  int64_t placed_ms = 0;     // Since the epoch.
  int64_t submitted_ms = 0;  // Since the epoch.
  uint64_t sequence = 0;     // Order of submission; never reused.
  ClassKey class_key;
  // The kind it counts as once it has completed; derived from its description.
  WorkKindId work_kind;

  // The template that it was made from, and for which machine; nullopt: a
  // client submitted it.
  std::optional<TaskId> made_from = {};
  MachineId made_for = {};

  // The latest reason, and for kMachineFailed the machine, which may be
  // forgotten.
  RunsAgain runs_again = RunsAgain::kNo;
  MachineId lost_on;
  // How often it has failed since it was submitted and was to run again.
  int32_t failures = 0;
  // kPending, but in no queue before that time, since the epoch; 0: it is in
  // one.
  int64_t retry_ms = 0;

  std::string name;
  std::string task_namespace;
  Owner owner;
  std::vector<Label> labels;  // Ascending.
  LabelPairs namespace_labels;
  int32_t task_type = 0;  // TaskDescriptor.TaskType of the contract.
  std::string binary;     // Path of its program; empty: unknown.
  // True if this process placed it at `placed_ms`.  Not stored.
  bool is_start_known = false;
  // Why it is kept out of scheduling, for people; empty if it is not.
  std::string quarantine_reason;
  // kPending, but in no queue: the uuid of the machine, or of a part of it, on
  // which its client says that it runs, and which nobody has announced
  // (state/adoptions.h).
  std::string runs_on;
  TaskUsage usage;  // Latest measurement while it runs; not stored.

  // How its client knows it.
  ClientHandle client;

  // The number that is shown to people.
  uint64_t ShownUid() const {
    return client.IsOfFeed() ? id.value : client.uid.value;
  }
  bool IsLive() const {
    return state == TaskState::kPending || state == TaskState::kRunning;
  }
  // True if it was removed because a removal was assumed to be for it.  If its
  // client begins anew and submits it, it still runs on `machine`.
  bool IsRemovedByGuess() const {
    return state == TaskState::kRemoved && client.IsDisplaced();
  }
  // True if it waits, as far as its client knows.
  bool IsUnscheduled() const {
    return state == TaskState::kPending && client.IsListening() &&
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
