#include "state/feed_events.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "base/strings.h"

namespace sluice {

FeedEvents::FeedEvents(FeedId feed, int64_t now_ms, ClusterState* state)
    : now_ms_(now_ms),
      state_(*state),
      feed_(state->feeds_.at(feed)),
      tasks_(now_ms, state),
      machines_(now_ms, state) {}

void FeedEvents::Close() { SetPhase(FeedPhase::kAway); }

void FeedEvents::Settle() {
  feed_.is_settling = false;
  feed_.is_held_back = false;
  if (feed_.phase == FeedPhase::kStated) ForgetUnstated();
  SetPhase(feed_.phase);
}

void FeedEvents::SetPhase(FeedPhase phase) {
  feed_.phase = phase;
  const bool is_live =
      phase == FeedPhase::kStated && !feed_.is_held_back && !feed_.is_standby;
  if (feed_.is_live == is_live) return;
  feed_.is_live = is_live;
  // In the order of the ids, so that the queue is the same in every run.
  std::vector<TaskId> ids;
  ids.reserve(feed_.tasks.size());
  for (const auto& [id, task] : feed_.tasks) ids.push_back(task);
  std::ranges::sort(ids);
  for (const TaskId id : ids) {
    Task* task = state_.MutableTask(id);
    state_.LeaveQueue(*task);
    task->client.is_stale = !is_live || !IsStated(*task);
    state_.EnterQueue(task);
  }
}

FeedOutcome FeedEvents::Apply(const SnapshotBegan& event) {
  if (event.is_standby) {
    feed_.is_settling = feed_.is_held_back = false;
    // Keeps the term: an older leader is still refused.
    SetTerm(feed_.term, /*is_standby=*/true);
  } else {
    if (event.settle_ms > 0) {
      feed_.is_settling = true;
      const bool is_first = feed_.snapshot == 0;
      if ((is_first && feed_.tasks.empty()) || feed_.is_standby) {
        feed_.is_held_back = true;
      }
    }
    SetTerm(event.term, /*is_standby=*/false);
  }
  feed_.priority_zero = event.priority_zero;
  ++feed_.snapshot;
  SetPhase(FeedPhase::kInSnapshot);
  return FeedOutcome::kApplied;
}

FeedOutcome FeedEvents::Apply(const FeedLed& event) {
  if (feed_.is_standby && event.settle_ms > 0) {
    feed_.is_settling = feed_.is_held_back = true;
  }
  SetTerm(event.term, /*is_standby=*/false);
  SetPhase(feed_.phase);
  return FeedOutcome::kApplied;
}

void FeedEvents::SetTerm(const FeedTerm& term, bool is_standby) {
  if (term == feed_.term && is_standby == feed_.is_standby) return;
  feed_.term = term;
  feed_.is_standby = is_standby;
  state_.changes_.counters = true;
}

FeedOutcome FeedEvents::Apply(const SnapshotEnded& /*event*/) {
  ForgetUnstated();
  std::vector<MachineId> departed;
  for (const auto& [id, machine] : state_.machines_) {
    if (machine->feed == feed_.id && machine->is_present &&
        machine->announcement != feed_.snapshot) {
      departed.push_back(id);
    }
  }
  for (const MachineId id : departed) machines_.Remove(id);
  SetPhase(FeedPhase::kStated);
  return FeedOutcome::kApplied;
}

void FeedEvents::ForgetUnstated() {
  std::vector<TaskId> gone;
  for (const auto& [id, task_id] : feed_.tasks) {
    const Task& task = *state_.FindTask(task_id);
    // A former client may still run what it was told to place.
    const bool may_run = feed_.is_settling && !task.is_foreign &&
                         task.state == TaskState::kRunning;
    if (!IsStated(task) && !may_run) gone.push_back(task_id);
  }
  std::ranges::sort(gone);
  for (const TaskId id : gone) tasks_.Forget(id);
  const auto dropped = absl::erase_if(feed_.budgets, [this](const auto& entry) {
    return entry.second.snapshot != feed_.snapshot;
  });
  if (dropped > 0) NoteChange();
}

FeedOutcome FeedEvents::Apply(const MachineStated& event) {
  const Machine* known = state_.FindMachine(event.spec.uuid);
  if (known != nullptr && known->is_present && known->feed != feed_.id) {
    return FeedOutcome::kNotYours;
  }
  Machine* machine = machines_.Put(event.spec, feed_.id);
  if (machine == nullptr) return FeedOutcome::kNotYours;
  machine->announcement = feed_.snapshot;
  machine->is_stale = false;
  return FeedOutcome::kApplied;
}

FeedOutcome FeedEvents::Apply(const MachineGone& event) {
  const Machine* known = state_.FindMachine(event.uuid);
  if (known == nullptr || !known->is_present) {
    return FeedOutcome::kUnknownMachine;
  }
  if (known->feed != feed_.id) return FeedOutcome::kNotYours;
  machines_.Remove(known->id);
  return FeedOutcome::kApplied;
}

FeedOutcome FeedEvents::Apply(const TaskStated& event) {
  const bool runs = !event.machine_uuid.empty();
  const Machine* machine =
      runs ? state_.FindMachine(event.machine_uuid) : nullptr;
  Task* task = FindTask(event.id);
  if (task == nullptr) task = AddTask(event);
  // If not, its client may not know where it was placed.
  const bool was_stated = IsStated(*task);
  task->client.announcement = feed_.snapshot;
  // An end is final, even if a client that states everything states the task.
  if (!task->IsLive()) return FeedOutcome::kApplied;
  state_.LeaveQueue(*task);
  task->client.is_stale = !feed_.is_live;
  if (runs && machine == nullptr) {
    if (task->state == TaskState::kRunning) state_.BecomePending(task);
    TaskStated quarantined = event;
    quarantined.fingerprint = 0;
    quarantined.spec.quarantine_reason =
        StrCat("runs on machine '", event.machine_uuid, "', which is unknown");
    Describe(task, quarantined);
    state_.EnterQueue(task);
    return FeedOutcome::kRunsOnUnknownMachine;
  }
  // Most of a snapshot, and every binding, says nothing new about the task.
  if (event.fingerprint == 0 ||
      event.fingerprint != task->client.feed_fingerprint) {
    Describe(task, event);
  }
  if (runs) {
    Adoptions(now_ms_, &state_)
        .PutWhereItRuns(task, state_.MutableMachine(machine->id));
    task->client.is_ending = event.is_terminating;
    if (event.is_terminating) {
      state_.DeleteDeltas(task->id);
      if (!task->is_evicted) state_.SetEvicted(task, true);
    } else if (task->is_evicted && feed_.is_standby) {
      Spare(task);
    } else if (task->is_evicted && !was_stated &&
               state_.outbox_.Waiting(task->id) == nullptr) {
      // A former client confirmed that the task is to stop, but may have done
      // nothing.
      state_.AppendDelta(*task, /*is_repeat=*/true);
    }
  } else if (task->state == TaskState::kRunning && feed_.is_standby) {
    // Placed here but not bound: another daemon may place it now.
    state_.BecomePending(task);
  } else if (task->state == TaskState::kRunning && !was_stated) {
    tasks_.Repeat(task);
  }
  state_.EnterQueue(task);
  return FeedOutcome::kApplied;
}

void FeedEvents::Spare(Task* task) {
  std::vector<uint64_t> over;
  for (const auto& [sequence, one] : state_.nominations().successions().all()) {
    if (one.predecessor == task->id) over.push_back(sequence);
  }
  for (const uint64_t sequence : over) state_.EndSuccession(sequence);
  state_.DeleteDeltas(task->id);
  state_.SetEvicted(task, false);
  state_.NoteStarted(task->job);
}

void FeedEvents::Describe(Task* task, const TaskStated& event) {
  if (state_.FindJob(task->job)->uuid != event.job_uuid) {
    tasks_.ChangeJob(task, event.job_uuid, event.job_name, event.gang);
  }
  if (!event.keeps_budget) tasks_.SetBudget(task->job, event.budget);
  task->is_foreign = event.is_foreign;
  state_.Describe(task, event.spec);
  // An invalid description may become valid later.
  task->client.feed_fingerprint =
      task->quarantine_reason.empty() ? event.fingerprint : 0;
}

Task* FeedEvents::AddTask(const TaskStated& event) {
  auto owned = std::make_unique<Task>();
  Task* task = owned.get();
  task->id = state_.NewTaskId();
  state_.tasks_.Add(task->id, std::move(owned));
  feed_.tasks.emplace(event.id, task->id);
  task->client.feed = feed_.id;
  task->client.feed_task_id = event.id;
  task->client.is_stale = !feed_.is_live;
  task->may_succeed = true;
  task->submitted_ms = now_ms_;
  task->sequence = state_.counters_.next_task_sequence++;
  task->job = state_.JobFor(event.job_uuid, event.job_name, event.gang);
  return task;
}

FeedOutcome FeedEvents::Apply(const TaskEnded& event) {
  Task* task = FindTask(event.id);
  if (task == nullptr) return FeedOutcome::kUnknownTask;
  tasks_.Finish(task,
                event.is_failure ? TaskState::kFailed : TaskState::kCompleted);
  return FeedOutcome::kApplied;
}

FeedOutcome FeedEvents::Apply(const TaskGone& event) {
  Task* task = FindTask(event.id);
  if (task == nullptr) return FeedOutcome::kUnknownTask;
  tasks_.Forget(task->id);
  return FeedOutcome::kApplied;
}

FeedOutcome FeedEvents::Apply(const BindFailed& event) {
  Task* task = FindTask(event.id);
  if (task == nullptr) return FeedOutcome::kUnknownTask;
  if (task->state != TaskState::kRunning || task->is_foreign ||
      state_.FindMachine(task->machine)->uuid != event.machine_uuid) {
    return FeedOutcome::kNotPlacedThere;
  }
  state_.BecomePending(task);
  state_.EnterQueue(task);
  return FeedOutcome::kApplied;
}

void FeedEvents::NoteChange() {
  ++state_.counters_.version;
  state_.changes_.counters = true;
}

FeedOutcome FeedEvents::Apply(const BudgetStated& event) {
  const auto it = feed_.budgets.find(event.id);
  if (it == feed_.budgets.end() && feed_.budgets.size() >= kBudgetsMax) {
    return FeedOutcome::kTooManyBudgets;
  }
  if (it == feed_.budgets.end() || it->second.budget != event.budget) {
    NoteChange();
  }
  feed_.budgets[event.id] = {event.budget, feed_.snapshot};
  return FeedOutcome::kApplied;
}

FeedOutcome FeedEvents::Apply(const BudgetKept& event) {
  const auto it = feed_.budgets.find(event.id);
  if (it != feed_.budgets.end()) it->second.snapshot = feed_.snapshot;
  return FeedOutcome::kApplied;
}

FeedOutcome FeedEvents::Apply(const BudgetGone& event) {
  if (feed_.budgets.erase(event.id) == 0) return FeedOutcome::kUnknownBudget;
  NoteChange();
  return FeedOutcome::kApplied;
}

FeedOutcome FeedEvents::Apply(const TaskMeasured& event) {
  const auto it = feed_.tasks.find(event.id);
  if (it == feed_.tasks.end()) return FeedOutcome::kUnknownTask;
  // Not MutableTask(): nothing that is stored changes.
  tasks_.NoteUsage(state_.tasks_.Find(it->second), event.usage);
  return FeedOutcome::kApplied;
}

Task* FeedEvents::FindTask(const std::string& id) {
  const auto it = feed_.tasks.find(id);
  return it == feed_.tasks.end() ? nullptr : state_.MutableTask(it->second);
}

}  // namespace sluice
