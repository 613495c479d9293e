// Tasks that run already when the daemon hears of them.
//
// A client says so of a task (SubmitTask::runs_on) or of a machine
// (AddMachine::running), and the machine and the task may come in any order.
// The task is taken as placed there, whether it fits or not, and nothing is
// told of it.  Until both are known
//
//   a task that runs on a machine nobody has announced waits for the machine,
//   in no queue: placed elsewhere it would run twice;
//   a machine is remembered with the uid that it names and nobody has
//   submitted, until somebody does, or reports an end of it, or the machine
//   departs.
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

// What the state keeps; derived from Task::runs_on and Machine::claimed.
struct AdoptionIndex {
  absl::flat_hash_map<std::string, absl::btree_set<TaskId>> awaiting;
  absl::flat_hash_map<TaskId, MachineId> claimants;

  // Empty: it waits for no machine any more.
  void SetRunsOn(Task* task, const std::string& uuid);
  // No-op where the machine names it already.  REQUIRES: no other machine does.
  void AddClaim(TaskId uid, Machine* machine);
};

class Adoptions {
 public:
  Adoptions(int64_t now_ms, ClusterState* state)
      : now_ms_(now_ms), state_(*state) {}

  // After the task was submitted: where it runs as its client says, or as a
  // machine says.
  void Adopt(Task* task, const std::string& runs_on);
  // After the machine was announced: who runs on it.
  void Adopt(Machine* machine, const std::vector<TaskId>& running);
  // The account of the task says that it runs there, whatever it said before.
  // Call between LeaveQueue() and EnterQueue().
  void PutWhereItRuns(Task* task, Machine* machine);
  // Nobody will submit it, or somebody has.
  void DropClaim(TaskId uid);
  void DropClaimsOf(Machine* machine);

 private:
  // Leaves alone what is not live.
  void Put(Task* task, MachineId id);

  const int64_t now_ms_;
  ClusterState& state_;
};

}  // namespace sluice

#endif  // SLUICE_STATE_ADOPTIONS_H_
