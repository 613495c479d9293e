// Tasks that already run when the daemon hears of them.
//
// A client says so of a task (SubmitTask::runs_on) or of a machine
// (AddMachine::running).  The task and the machine may arrive in either order.
// The task counts as placed there whether it fits or not, and no delta tells
// of it.  Until both are known:
//
//   A task on a machine that nobody has announced waits for that machine, in no
//   queue: placed elsewhere it would run twice.
//   A machine keeps the uid that it names and that nobody has submitted, until
//   somebody submits it or reports its end, or the machine departs.
//
// Both are stored.
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_STATE_ADOPTIONS_H_
#define SLUICE_STATE_ADOPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "sluice/base/ids.h"
#include "sluice/state/machine.h"
#include "sluice/state/task.h"

namespace sluice {

class ClusterState;

// The state's index, derived from Task::runs_on and Machine::claimed.
struct AdoptionIndex {
  absl::flat_hash_map<std::string, absl::btree_set<TaskId>> awaiting;
  absl::flat_hash_map<TaskUid, MachineId> claimants;

  // An empty `uuid` ends the wait.
  void SetRunsOn(Task* task, const std::string& uuid);
  // No-op if the machine names it already.  REQUIRES: no other machine does.
  void AddClaim(TaskUid uid, Machine* machine);
};

class Adoptions {
 public:
  Adoptions(int64_t now_ms, ClusterState* state)
      : now_ms_(now_ms), state_(*state) {}

  // Call after the task was submitted.  Puts it where its client, or a machine,
  // says that it runs.
  void Adopt(Task* task, const std::string& runs_on);
  // Call after the machine was announced.  Puts the tasks there that run on it.
  void Adopt(Machine* machine, const std::vector<TaskUid>& running);
  // Records that the task runs there, whatever was recorded before.
  // Call between LeaveQueue() and EnterQueue().
  void PutWhereItRuns(Task* task, Machine* machine);
  // Call when the uid was submitted, or when nobody will submit it.
  void DropClaim(TaskUid uid);
  void DropClaimsOf(Machine* machine);

 private:
  // REQUIRES: the task is live.
  void Put(Task* task, MachineId id);

  const int64_t now_ms_;
  ClusterState& state_;
};

}  // namespace sluice

#endif  // SLUICE_STATE_ADOPTIONS_H_
