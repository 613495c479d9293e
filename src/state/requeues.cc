#include "state/requeues.h"

#include <algorithm>
#include <vector>

#include "state/cluster_state.h"
#include "state/task_commands.h"

namespace sluice {
namespace {

using Action = OnFailure::Action;

int64_t BackoffMs(const OnFailure& on_failure, int32_t failures) {
  int64_t backoff_ms = on_failure.backoff_ms;
  for (int32_t i = 1; i < failures && backoff_ms < kBackoffMaxMs; ++i) {
    backoff_ms *= 2;
  }
  return std::min(backoff_ms, kBackoffMaxMs);
}

}  // namespace

void RequeueRecord::SetRetry(Task* task, int64_t retry_ms) {
  if (task->retry_ms != 0) backoffs.erase({task->retry_ms, task->id});
  task->retry_ms = retry_ms;
  if (retry_ms != 0) backoffs.emplace(retry_ms, task->id);
}

void Requeues::SetOptions(const RequeueOptions& options) {
  state_.requeues_.options = options;
}

void Requeues::LoseTasksOf(const Machine& machine) {
  const std::vector<TaskId> tasks(machine.tasks.begin(), machine.tasks.end());
  for (const TaskId id : tasks) {
    const Task& running = *state_.FindTask(id);
    const Action action = state_.FindJob(running.job)->on_failure.action;
    if (running.client.IsOfFeed() ||
        (!state_.requeues_.options.from_failed_machines &&
         action != Action::kRequeue)) {
      continue;
    }
    // Only the end of the reply says whether its client was told.
    if (action == Action::kNever && IsPlaceUnderWay(id)) continue;
    Task* task = state_.MutableTask(id);
    // A task that was told to leave has left, and its client replaces it.
    const bool has_left =
        task->is_evicted && state_.outbox_.SequencesOf(id).empty();
    if (action == Action::kNever || (has_left && !WantsEvicted(*task))) {
      TaskCommands(now_ms_, &state_).Finish(task, TaskState::kFailed);
    } else {
      Requeue(task, RunsAgain::kMachineFailed);
      ++state_.requeues_.lost_count;
    }
  }
}

bool Requeues::TryAgain(Task* task) {
  if (task->state == TaskState::kPending || state_.IsUntold(task->id)) {
    // The report is about its former run, if there was one.
    if (task->runs_again != RunsAgain::kNo) return true;
  }
  if (task->state != TaskState::kRunning) return false;
  const Delta* waiting = state_.outbox_.Waiting(task->id);
  const bool was_told =
      waiting == nullptr || waiting->is_repeat || waiting->may_be_known;
  if (task->is_evicted && was_told && WantsEvicted(*task)) {
    Requeue(task, RunsAgain::kEvicted);
    ++state_.requeues_.evicted_count;
    return true;
  }
  const OnFailure& on_failure = state_.FindJob(task->job)->on_failure;
  if (on_failure.action != Action::kRequeue ||
      task->failures >= on_failure.failures_max) {
    return false;
  }
  ++task->failures;
  const int64_t backoff_ms = BackoffMs(on_failure, task->failures);
  if (backoff_ms > 0) {
    state_.requeues_.SetRetry(task, now_ms_ + backoff_ms);
  }
  Requeue(task, RunsAgain::kFailed);
  ++state_.requeues_.failed_count;
  return true;
}

void Requeues::EndBackoffs() {
  auto& backoffs = state_.requeues_.backoffs;
  // If the clock was set back, nobody waits for that much longer.
  while (!backoffs.empty() &&
         backoffs.rbegin()->first > now_ms_ + kBackoffMaxMs) {
    Task* task = state_.MutableTask(backoffs.rbegin()->second);
    state_.requeues_.SetRetry(task, now_ms_ + kBackoffMaxMs);
    state_.Touch(*task);
  }
  while (!backoffs.empty() && backoffs.begin()->first <= now_ms_) {
    Task* task = state_.MutableTask(backoffs.begin()->second);
    state_.requeues_.SetRetry(task, 0);
    state_.Touch(*task);
    state_.EnterQueue(task);
  }
}

bool Requeues::IsPlaceUnderWay(TaskId id) const {
  const Outbox::TaskSequences& sequences = state_.outbox_.SequencesOf(id);
  if (sequences.empty()) return false;
  const Delta& first = state_.outbox_.deltas().at(sequences.front());
  return first.type == DeltaType::kPlace && first.is_in_flight &&
         !first.is_repeat;
}

bool Requeues::WantsEvicted(const Task& task) const {
  const Action action = state_.FindJob(task.job)->on_failure.action;
  return action == Action::kRequeue ||
         (action == Action::kUnset && state_.requeues_.options.evicted);
}

void Requeues::Requeue(Task* task, RunsAgain reason) {
  // If so, room may be kept for it where it was to go on.
  const bool was_evicted = task->is_evicted;
  task->lost_on =
      reason == RunsAgain::kMachineFailed ? task->machine : MachineId();
  state_.BecomePending(task);
  task->runs_again = reason;
  task->may_succeed = was_evicted;
  state_.replacements_.SetHeld(task, state_.replacements_.Concern(*task));
  state_.EnterQueue(task);
  // A gang of which nothing runs any more starts again as a whole.
  state_.NoteEnded(task->job);
}

}  // namespace sluice
