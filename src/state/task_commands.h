// Commands about tasks: whom a uid means, and what becomes of those whom it
// meant before (docs/decisions/0001, 0021).
//
// Threads: none; confined to the core thread.

#ifndef SLUICE_STATE_TASK_COMMANDS_H_
#define SLUICE_STATE_TASK_COMMANDS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "sluice/state/task.h"
#include "state/cluster_state.h"
#include "state/command.h"

namespace sluice {

class TaskCommands {
 public:
  TaskCommands(int64_t now_ms, ClusterState* state)
      : now_ms_(now_ms), state_(*state) {}

  Ack Apply(const SubmitTask& command);
  Ack Apply(const UpdateTask& command);
  Ack Apply(const CompleteTask& command) {
    NoteSpeed(command);
    NoteCacheUse(command);
    return FinishTaskOfClient(command.task, TaskState::kCompleted,
                              command.run_ms);
  }
  Ack Apply(const FailTask& command) {
    return FinishTaskOfClient(command.task, TaskState::kFailed);
  }
  Ack Apply(const RemoveTask& command);
  Ack Apply(const MuteTask& command);
  Ack Apply(const ReportTaskUsage& command);

  // As if it had never been.
  void Forget(TaskId id);

  // For feeds, whose tasks live as those of the contract do:
  // No-op where it does not run.
  void NoteUsage(Task* task, const TaskUsage& usage) const;
  // `run_ms` as in CompleteTask.
  void Finish(Task* task, TaskState state,
              std::optional<int64_t> run_ms = std::nullopt);
  // Tells its client again where it runs; on a machine that is out of order it
  // waits again.  REQUIRES: it runs.
  void Repeat(Task* task);
  // REQUIRES: it is in no queue.
  void ChangeJob(Task* task, const std::string& uuid, const std::string& name,
                 const Gang& gang);
  void SetBudget(JobId id, const std::optional<DisruptionBudget>& budget);

 private:
  const Task* FindTaskOfClient(TaskId id) const;  // Live, no own id.
  Task* MutableTaskOfClient(TaskId id);
  // Who is meant, be it under another uid; null where it is somebody new.
  Task* FindSame(const SubmitTask& command) const;
  // Whether it runs already is settled afterwards.
  Ack Submit(const SubmitTask& command);
  void Resubmit(Task* task, const SubmitTask& command);
  // Whoever was made for a machine stays bound to it.
  void Describe(Task* task, const TaskSpec& spec);
  // What the message says of the job of its task.
  void DescribeJob(JobId id, const SubmitTask& command);
  // Makes way for another task of its uid.
  void Displace(Task* task);
  // Ends what ties it to those it shares a uid with.
  void LoseUid(Task* task);
  // REQUIRES: it is in no queue.
  void Rename(Task* task, TaskId id);
  void RemoveHolder(Task* task);
  void Bury(Task* task);  // Keeps it for the removals that are expected.
  // One of several holders of its uid, of whom another may be meant.
  void RemoveByGuess(Task* task);
  // Where a client that begins anew has the task that it submits, though a
  // removal was taken for its own.
  std::optional<MachineId> TakeGuessed(const SubmitTask& command);
  // A client that restarted asks again for a placement that it was told.
  void PutBack(Task* task, MachineId id);
  // Nothing may be told of it any more.
  void Mute(Task* task);
  void NoteCompleted(JobId id);
  void NoteRemoved(const Task& task);  // Before it is.
  // For the history of its kind of work.  REQUIRES: it has not finished.
  void NoteRun(const Task& task, std::optional<int64_t> run_ms);
  // The same of how fast it ran on its machine.  No-op where that is not known,
  // or nobody asks.
  void NoteSpeed(const CompleteTask& command);
  // The same of what it made of the cache, wherever it ran.
  void NoteCacheUse(const CompleteTask& command);
  Ack FinishTaskOfClient(TaskId id, TaskState state,
                         std::optional<int64_t> run_ms = std::nullopt);

  const int64_t now_ms_;
  ClusterState& state_;
};

}  // namespace sluice

#endif  // SLUICE_STATE_TASK_COMMANDS_H_
