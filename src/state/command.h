// Commands: all that can happen to the cluster, as values.
//
// The edge (rpc/) has checked and converted what it could: amounts are in
// range, ids are of bounded length, and a description that makes no sense
// comes with `quarantine_reason` set.  Nothing here refers to a wire format.
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
  NamedAmounts request;  // Without the one pod that every task is.
  uint32_t priority = 0;
  LabelPairs labels;
  LabelPairs namespace_labels;  // Of its namespace, as far as they are known.
  PlacementRules rules;         // Without the owner.
  Owner owner;
  int32_t task_type = 0;
  std::string binary = {};  // Path of its program; empty: nobody says.
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
    int32_t numa_node = -1;  // An index; -1: it is in none.
  };
  struct Numa {
    std::string uuid;
    NamedAmounts capacity;
    LabelPairs labels = {};
  };
  std::string uuid;
  std::string name;
  // "pods" included.  Both empty in an update that says nothing of them.
  NamedAmounts allocatable;
  NamedAmounts capacity;
  LabelPairs labels;
  std::vector<Taint> taints;  // Ascending, none twice.
  std::vector<Owner> avoids;  // Ascending, none twice.
  std::vector<Pu> pus;
  std::vector<Numa> numa_nodes;  // Their uuids are among the others.
  std::vector<std::string> other_uuids;
  std::string quarantine_reason;
};

struct SubmitTask {
  TaskId task;
  std::string job_uuid;
  std::string job_name;
  Gang gang;
  std::optional<DisruptionBudget> budget = {};  // Of the job.
  // One was stated that makes no sense: the job's former one stays.
  bool keeps_budget = false;
  // Of the job; nothing: what was stated makes no sense, and it keeps its own.
  std::optional<OnFailure> on_failure = OnFailure();
  TaskSpec spec;
  // The uuid of the machine, or of a part of it, on which it runs already;
  // empty: it is to be placed.
  std::string runs_on = {};
  // Answer kAlreadyExists for a uid that is known, instead of counting it, and
  // take a known "namespace/name" under a new uid for another task.
  bool reject_if_known = false;
};
struct UpdateTask {
  TaskId task;
  TaskSpec spec;
};
struct CompleteTask {
  TaskId task;
  // How long it ran as its client reports it; the state's own account counts
  // where that says nothing.  Not negative.
  std::optional<int64_t> run_ms = {};
  // How many it retired in that time, by the same report; 0: nobody says.
  uint64_t instructions = 0;
  // What they made of the cache, by the same report; nothing: nobody says.
  std::optional<CacheUse> cache = {};
};
struct FailTask {
  TaskId task;
};
struct RemoveTask {
  TaskId task;
  // The client knows the uid until it is told that it was removed: for now the
  // one that has it since may be placed.
  bool keeps_uid = false;
};
// The client knows the uid no more.
struct MuteTask {
  TaskId task;
};
struct AddMachine {
  MachineSpec spec;
  std::vector<TaskId> running = {};  // The uids of what it runs already.
  // A machine that is known, and was mentioned since the last announcement
  // began, says that its client begins anew.
  bool may_begin_anew = false;
};
// Changes labels, taints and avoids, and amounts where the spec states them.
struct UpdateMachine {
  MachineSpec spec;
};
struct RemoveMachine {
  std::string uuid;
  // What ran there has ended, which concerns tasks that are to run again
  // (state/requeues.h).
  bool has_failed = false;
};
// A pod of another scheduler uses something of a machine.
struct AddForeignPod {
  std::string name;
  std::string machine_uuid;
  NamedAmounts usage;  // Without the one pod that it is.
};
struct RemoveForeignPod {
  std::string name;
  std::string machine_uuid = {};  // Where it is; empty: wherever.
};
// Samples; when they were taken is when they arrive.
struct ReportTaskUsage {
  TaskId task;
  TaskUsage usage = {};
};
struct ReportMachineUsage {
  std::string machine_uuid;
  MachineUsage usage = {};
};

// A client begins anew.  What it does not mention again is stale.
struct BeginAnnouncement {};
// It says no more.  Where it mentioned hardly any machine it did not begin anew
// after all, and nothing is stale.
struct EndAnnouncement {};
// Forgets what is stale, and displaced tasks of which nobody will speak.
struct ForgetStale {};
// An operator wants the machine emptied, or not any more.  kNotFound for one
// that is not known, or has departed and is to begin.
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

// Whether it changes nothing that is stored or that a round looks at.
inline bool IsSample(const Command& command) {
  return std::holds_alternative<ReportTaskUsage>(command) ||
         std::holds_alternative<ReportMachineUsage>(command);
}

// What became of a command.
enum class Ack {
  kOk,
  kNotFound,       // Never known, or removed as often as it was submitted.
  kAlreadyExists,  // Machine known; or task known and reject_if_known set.
};

}  // namespace sluice

#endif  // SLUICE_STATE_COMMAND_H_
