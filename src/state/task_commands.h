// Commands about tasks: which task a uid means, and what becomes of the tasks
// that it meant before (docs/decisions/0001, 0021).
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
    return FinishTaskOfClient(command.uid, TaskState::kCompleted,
                              command.run_ms);
  }
  Ack Apply(const FailTask& command) {
    return FinishTaskOfClient(command.uid, TaskState::kFailed);
  }
  Ack Apply(const RemoveTask& command);
  Ack Apply(const MuteTask& command);
  Ack Apply(const ReportTaskUsage& command);

  // Erases the task, whatever its state.
  void Forget(TaskId id);

  // Also for feeds: their tasks go through the same states.
  //
  // No-op unless it runs.
  void NoteUsage(Task* task, const TaskUsage& usage) const;
  // `run_ms` as in CompleteTask.
  void Finish(Task* task, TaskState state,
              std::optional<int64_t> run_ms = std::nullopt);
  // Tells its client again where it runs.  On an unsound machine it waits again
  // instead.  REQUIRES: it runs.
  void Repeat(Task* task);
  // REQUIRES: it is in no queue.
  void ChangeJob(Task* task, const std::string& uuid, const std::string& name,
                 const Gang& gang);
  void SetBudget(JobId id, const std::optional<DisruptionBudget>& budget);

 private:
  const Task* FindTaskOfClient(TaskUid uid) const;  // Unless it was removed.
  Task* MutableTaskOfClient(TaskUid uid);
  // The task that is meant, maybe under another uid; null if it is a new one.
  Task* FindSame(const SubmitTask& command) const;
  // Ignores `runs_on`, which Adoptions handles afterwards.
  Ack Submit(const SubmitTask& command);
  void Resubmit(Task* task, const SubmitTask& command);
  // A task made for a machine stays bound to it.
  void Describe(Task* task, const TaskSpec& spec);
  // Applies what the message says about the job of its task.
  void DescribeJob(JobId id, const SubmitTask& command);
  // Leaves its uid to a newer task.
  void Displace(Task* task);
  // REQUIRES: no other task holds the uid.
  void TakeUid(Task* task, TaskUid uid);
  // Unlinks it from the tasks that it shares a uid with.
  void LoseUid(Task* task);
  void RemoveHolder(Task* task);
  // Keeps it for the removals that are expected, unless there are too many.
  void Bury(const Task& task);
  // Removes one of several holders of a uid; another may be meant.
  void RemoveByGuess(Task* task);
  // Where a client that begins anew runs the task that it submits, if that was
  // removed by a wrong guess.
  std::optional<MachineId> TakeGuessed(const SubmitTask& command);
  // A restarted client asks again for a placement that it was told.
  void PutBack(Task* task, MachineId id);
  // Nothing may be told about it any more.
  void Mute(Task* task);
  void NoteCompleted(JobId id);
  void NoteRemoved(const Task& task);  // Call before it is removed.
  // Adds to the history of its kind of work.  REQUIRES: it has not finished.
  void NoteRun(const Task& task, std::optional<int64_t> run_ms);
  // The same for how fast it ran on its machine.  No-op if that is unknown, or
  // if no policy asks.
  void NoteSpeed(const CompleteTask& command);
  // The same for its use of the cache, wherever it ran.
  void NoteCacheUse(const CompleteTask& command);
  Ack FinishTaskOfClient(TaskUid uid, TaskState state,
                         std::optional<int64_t> run_ms = std::nullopt);

  const int64_t now_ms_;
  ClusterState& state_;
};

}  // namespace sluice

#endif  // SLUICE_STATE_TASK_COMMANDS_H_
