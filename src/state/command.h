// Commands: everything that can happen to the cluster, as values.
//
// The edge (rpc/) has checked and converted them: amounts are in range, ids
// have a bounded length, and an invalid description comes with
// `quarantine_reason` set.  Nothing here refers to a wire format.
//
// Threads: values.

#ifndef SLUICE_STATE_COMMAND_H_
#define SLUICE_STATE_COMMAND_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sluice/base/ids.h"
#include "sluice/state/disruption_budget.h"
#include "sluice/state/job.h"
#include "sluice/state/placement_rules.h"
#include "sluice/state/resources.h"
#include "sluice/state/task.h"
#include "sluice/state/usage.h"

namespace sluice {

// A task as its client describes it.
struct TaskSpec {
  std::string name;
  std::string task_namespace;
  NamedAmounts request;  // Without the task's own pod.
  uint32_t priority = 0;
  LabelPairs labels;
  LabelPairs namespace_labels;  // Of its namespace, as far as they are known.
  PlacementRules rules;         // Without the owner.
  Owner owner;
  int32_t task_type = 0;
  std::string binary = {};  // Path of its program; empty: unknown.
  int32_t preemption_cost = 0;
  bool is_template = false;
  std::string quarantine_reason;
};

// A machine as its client describes it.
struct MachineSpec {
  struct Pu {
    std::string uuid;
    NamedAmounts capacity;
    LabelPairs labels = {};
    int32_t numa_node = -1;  // Index; -1: none.
  };
  struct Numa {
    std::string uuid;
    NamedAmounts capacity;
    LabelPairs labels = {};
  };
  std::string uuid;
  std::string name;
  // Including "pods".  Both are empty in an update that does not state them.
  NamedAmounts allocatable;
  NamedAmounts capacity;
  LabelPairs labels;
  std::vector<Taint> taints;  // Ascending, no duplicates.
  std::vector<Owner> avoids;  // Ascending, no duplicates.
  std::vector<Pu> pus;
  std::vector<Numa> numa_nodes;  // Their uuids are also in other_uuids.
  std::vector<std::string> other_uuids;
  std::string quarantine_reason;
};

struct SubmitTask {
  TaskUid uid;
  std::string job_uuid;
  std::string job_name;
  Gang gang;
  std::optional<DisruptionBudget> budget = {};  // Of the job.
  // The stated budget is invalid: the job keeps its former one.
  bool keeps_budget = false;
  // Of the job.  Nullopt: what was stated is invalid, and it keeps its own.
  std::optional<OnFailure> on_failure = OnFailure();
  TaskSpec spec;
  // The uuid of the machine, or of a part of it, on which the task already
  // runs.  Empty: it is to be placed.
  std::string runs_on = {};
  // Answer kAlreadyExists if the uid is known, instead of counting it, and
  // treat a known "namespace/name" under a new uid as another task.
  bool reject_if_known = false;
};
struct UpdateTask {
  TaskUid uid;
  TaskSpec spec;
};
struct CompleteTask {
  TaskUid uid;
  // The run time that its client reports, not negative.  Nullopt: the state's
  // own account counts.
  std::optional<int64_t> run_ms = {};
  // Instructions retired in that time, by the same report; 0: unknown.
  uint64_t instructions = 0;
  // Their use of the cache, by the same report; nullopt: unknown.
  std::optional<CacheUse> cache = {};
};
struct FailTask {
  TaskUid uid;
};
struct RemoveTask {
  TaskUid uid;
  // The client keeps the uid until the removal is acknowledged.  Until then the
  // newer task with that uid may be placed.
  bool keeps_uid = false;
};
// The client no longer knows the uid.
struct MuteTask {
  TaskUid uid;
};
struct AddMachine {
  MachineSpec spec;
  std::vector<TaskUid> running = {};  // What it already runs.
  // If a known machine was mentioned since the last announcement began, adding
  // it again says that the client begins anew.
  bool may_begin_anew = false;
};
// Changes labels, taints and avoids, and amounts where the spec states them.
struct UpdateMachine {
  MachineSpec spec;
};
struct RemoveMachine {
  std::string uuid;
  // What ran there has ended, and may have to run again (state/requeues.h).
  bool has_failed = false;
};
// A pod of another scheduler uses part of a machine.
struct AddForeignPod {
  std::string name;
  std::string machine_uuid;
  NamedAmounts usage;  // Without the pod itself.
};
struct RemoveForeignPod {
  std::string name;
  std::string machine_uuid = {};  // Where it is; empty: anywhere.
};
// Samples.  They count as taken when they arrive.
struct ReportTaskUsage {
  TaskUid uid;
  TaskUsage usage = {};
};
struct ReportMachineUsage {
  std::string machine_uuid;
  MachineUsage usage = {};
};

// A client begins anew.  What it does not mention again is stale.
struct BeginAnnouncement {
  // If false, it only might: the announcement opens once something known is
  // submitted or added again.  Until then nothing becomes stale.
  bool is_certain = true;
};
// The client has announced everything.  If it mentioned hardly any machine, it
// did not begin anew after all, and this announcement makes nothing stale.  If
// it only might have begun anew, it has not.
struct EndAnnouncement {};
// Forgets what is stale, and displaced tasks that no client will mention.
struct ForgetStale {};
// An operator starts or stops draining the machine.  kNotFound if it is
// unknown, or if it is to start and has departed.
struct SetDraining {
  std::string machine_uuid;
  bool is_draining = true;
};

using Command =
    std::variant<SubmitTask, UpdateTask, CompleteTask, FailTask, RemoveTask,
                 AddMachine, UpdateMachine, RemoveMachine, AddForeignPod,
                 RemoveForeignPod, ReportTaskUsage, ReportMachineUsage,
                 MuteTask, BeginAnnouncement, EndAnnouncement, ForgetStale,
                 SetDraining>;

// True for samples.  They change nothing that is stored, and nothing that a
// round reads unless tasks are placed by measured use.
inline bool IsSample(const Command& command) {
  return std::holds_alternative<ReportTaskUsage>(command) ||
         std::holds_alternative<ReportMachineUsage>(command);
}

// The outcome of a command.
enum class Ack {
  kOk,
  kNotFound,       // Never known, or removed as often as it was submitted.
  kAlreadyExists,  // Machine known; or task known and reject_if_known set.
};

}  // namespace sluice

#endif  // SLUICE_STATE_COMMAND_H_
