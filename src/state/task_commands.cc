#include "state/task_commands.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "sluice/state/task.h"
#include "state/announcements.h"
#include "state/job_groups.h"
#include "state/requeues.h"

namespace sluice {

const Task* TaskCommands::FindTaskOfClient(TaskUid uid) const {
  const Task* task = state_.FindHolder(uid);
  return task == nullptr || task->state == TaskState::kRemoved ? nullptr : task;
}

Task* TaskCommands::MutableTaskOfClient(TaskUid uid) {
  const Task* task = FindTaskOfClient(uid);
  return task == nullptr ? nullptr : state_.MutableTask(task->id);
}

Ack TaskCommands::Apply(const ReportTaskUsage& command) {
  const Task* task = FindTaskOfClient(command.uid);
  if (task == nullptr) return Ack::kNotFound;
  // Not MutableTask(): nothing that is stored changes.
  NoteUsage(state_.tasks_.Find(task->id), command.usage);
  return Ack::kOk;
}

void TaskCommands::NoteUsage(Task* task, const TaskUsage& usage) const {
  if (task->state != TaskState::kRunning) return;
  task->usage = usage;
  task->usage.at_ms = now_ms_;
}

Task* TaskCommands::FindSame(const SubmitTask& command) const {
  const std::string& name = command.spec.name;
  const Task* of_uid = state_.FindHolder(command.uid);
  if (of_uid != nullptr &&
      (of_uid->name != name || of_uid->state == TaskState::kRemoved)) {
    of_uid = nullptr;
  }
  const Task* same = of_uid;
  const auto named = state_.named_tasks_.find(name);
  if ((of_uid == nullptr || !of_uid->IsLive()) && !command.reject_if_known &&
      named != state_.named_tasks_.end() &&
      state_.FindTask(named->second)->IsLive()) {
    same = state_.FindTask(named->second);
  }
  return same == nullptr ? nullptr : state_.tasks_.Find(same->id);
}

Ack TaskCommands::Apply(const SubmitTask& command) {
  const Ack ack = Submit(command);
  if (ack != Ack::kOk) return ack;
  Adoptions(now_ms_, &state_)
      .Adopt(state_.MutableHolder(command.uid), command.runs_on);
  return ack;
}

Ack TaskCommands::Submit(const SubmitTask& command) {
  Task* holder = state_.MutableHolder(command.uid);
  const bool is_known =
      holder != nullptr && holder->state != TaskState::kRemoved;
  if (is_known && command.reject_if_known) return Ack::kAlreadyExists;
  if (is_known) ++state_.reused_uid_count_;
  Task* same = FindSame(command);
  if (same != nullptr) {
    Announcements(now_ms_, &state_).NoteAgain(same->client.announcement);
  }
  if (same != nullptr && same == holder && !same->client.is_stale) {
    ++same->client.expected_removals;
    Resubmit(same, command);
    return Ack::kOk;
  }
  if (same != nullptr) LoseUid(same);
  if (same != nullptr && same == holder) {
    same->client.expected_removals = 1;  // Nobody knows of others any more.
    Resubmit(same, command);
    return Ack::kOk;
  }
  int32_t removals = 1;
  std::vector<TaskId> earlier_holders;
  if (holder != nullptr) {
    if (holder->client.is_stale) {
      // Its client knows neither it nor those before it.
      LoseUid(holder);
      Displace(holder);
    } else if (is_known) {
      removals += holder->client.expected_removals;
      earlier_holders = std::exchange(holder->client.earlier_holders, {});
      Displace(holder);
      earlier_holders.push_back(holder->id);
    } else {
      removals += holder->client.expected_removals;
      state_.Erase(holder);
    }
  }
  if (same == nullptr) {
    const std::optional<MachineId> machine = TakeGuessed(command);
    auto owned = std::make_unique<Task>();
    same = owned.get();
    same->id = state_.NewTaskId(command.uid);
    state_.tasks_.Add(same->id, std::move(owned));
    TakeUid(same, command.uid);
    same->submitted_ms = now_ms_;
    same->sequence = state_.counters_.next_task_sequence++;
    same->job = state_.JobFor(command.job_uuid, command.job_name, command.gang);
    DescribeJob(same->job, command);
    Announcements(now_ms_, &state_).Mention(same);
    state_.Describe(same, command.spec);
    same->may_succeed = !machine.has_value();
    state_.EnterQueue(same);
    if (machine.has_value()) PutBack(same, *machine);
  } else {
    const bool is_untold = state_.IsUntold(same->id);
    state_.LeaveQueue(*same);
    // What it was told by the former uid.
    state_.DeleteDeltas(same->id);
    TakeUid(same, command.uid);
    if (is_untold) state_.AppendDelta(*same, /*is_repeat=*/false);
    Resubmit(same, command);
  }
  for (const TaskId id : earlier_holders) {
    state_.MutableTask(id)->client.successor = same->id;
  }
  same->client.expected_removals = removals;
  same->client.earlier_holders = std::move(earlier_holders);
  return Ack::kOk;
}

void TaskCommands::Resubmit(Task* task, const SubmitTask& command) {
  state_.LeaveQueue(*task);
  Announcements(now_ms_, &state_).Mention(task);
  task->client.uid_standing = UidStanding::kKnown;
  task->client.successor.reset();
  if (task->state == TaskState::kRunning) {
    Repeat(task);
  } else if (task->state != TaskState::kPending) {
    task->submitted_ms = now_ms_;
    task->sequence = state_.counters_.next_task_sequence++;
    state_.BecomePending(task);
    task->may_succeed = true;
    task->disturbances = 0;  // Inherited again if it succeeds itself.
    task->runs_again = RunsAgain::kNo;
    task->failures = 0;
  }
  ChangeJob(task, command.job_uuid, command.job_name, command.gang);
  DescribeJob(task->job, command);
  Describe(task, command.spec);
  state_.EnterQueue(task);
  Templates(now_ms_, &state_).Follow(*task, /*tells_again=*/true);
}

void TaskCommands::Describe(Task* task, const TaskSpec& spec) {
  const Machine* machine = task->made_from.has_value()
                               ? state_.FindMachine(task->made_for)
                               : nullptr;
  if (machine == nullptr) {
    state_.Describe(task, spec);
    return;
  }
  TaskSpec bound = spec;
  DemandMachine(machine->uuid, &bound.rules.required);
  state_.Describe(task, bound);
}

void TaskCommands::Repeat(Task* task) {
  if (!state_.FindMachine(task->machine)->IsSound()) {
    state_.BecomePending(task);
  } else if (state_.outbox_.Waiting(task->id) == nullptr) {
    // A restarted client asks again for what it was told before.
    state_.AppendDelta(*task, /*is_repeat=*/true);
  }
}

void TaskCommands::ChangeJob(Task* task, const std::string& uuid,
                             const std::string& name, const Gang& gang) {
  const JobId former = task->job;
  const bool is_counted =
      task->state == TaskState::kRunning && !task->is_evicted;
  if (is_counted) {
    ForJobAndGroup(former, &state_.jobs_,
                   [](Job* job) { --job->running_count; });
    state_.machines_.At(task->machine).jobs.Add(former, -1);
  }
  task->job = state_.JobFor(uuid, name, gang);
  if (is_counted) {
    ForJobAndGroup(task->job, &state_.jobs_,
                   [](Job* job) { ++job->running_count; });
    state_.machines_.At(task->machine).jobs.Add(task->job, 1);
  }
  state_.LeaveJob(former);
}

void TaskCommands::DescribeJob(JobId id, const SubmitTask& command) {
  if (!command.keeps_budget) SetBudget(id, command.budget);
  Job& job = state_.jobs_.At(id);
  if (job.on_failure == command.on_failure.value_or(job.on_failure)) return;
  job.on_failure = *command.on_failure;
  state_.changes_.jobs.insert(id);
}

void TaskCommands::SetBudget(JobId id,
                             const std::optional<DisruptionBudget>& budget) {
  Job& job = state_.jobs_.At(id);
  if (job.budget == budget) return;
  job.budget = budget;
  state_.changes_.jobs.insert(id);
}

void TaskCommands::Displace(Task* task) {
  state_.LeaveQueue(*task);
  if (state_.IsUntold(task->id)) state_.BecomePending(task);
  state_.DeleteDeltas(task->id);
  state_.uids_.Erase(*task);
  task->client.uid_standing = UidStanding::kDisplaced;
  task->client.is_stale = false;
  task->client.expected_removals = 1;
  state_.Touch(*task);
}

void TaskCommands::TakeUid(Task* task, TaskUid uid) {
  if (task->client.HoldsUid()) state_.uids_.Erase(*task);
  task->client.uid = uid;
  task->client.uid_standing = UidStanding::kKnown;
  state_.uids_.Add(*task);
  state_.Touch(*task);
}

void TaskCommands::LoseUid(Task* task) {
  for (const TaskId id : std::exchange(task->client.earlier_holders, {})) {
    Task* other = state_.MutableTask(id);
    other->client.successor.reset();
    state_.Touch(*other);
  }
  if (!task->client.successor.has_value()) return;
  Task* successor = state_.MutableTask(*task->client.successor);
  std::erase(successor->client.earlier_holders, task->id);
  --successor->client.expected_removals;
  state_.Touch(*successor);
  task->client.successor.reset();
}

Ack TaskCommands::Apply(const UpdateTask& command) {
  Task* task = MutableTaskOfClient(command.uid);
  if (task == nullptr) return Ack::kNotFound;
  // The update is about an earlier holder of the uid.
  if (!task->client.earlier_holders.empty() &&
      task->name != command.spec.name) {
    return Ack::kOk;
  }
  state_.LeaveQueue(*task);
  Announcements(now_ms_, &state_).Mention(task);
  Describe(task, command.spec);
  state_.EnterQueue(task);
  Templates(now_ms_, &state_).Follow(*task, /*tells_again=*/false);
  return Ack::kOk;
}

Ack TaskCommands::FinishTaskOfClient(TaskUid uid, TaskState state,
                                     std::optional<int64_t> run_ms) {
  Adoptions(now_ms_, &state_).DropClaim(uid);
  Task* task = MutableTaskOfClient(uid);
  if (task == nullptr) return Ack::kNotFound;
  // Nobody knows whose report it is.
  if (!task->client.earlier_holders.empty()) return Ack::kOk;
  if (state == TaskState::kFailed && Requeues(now_ms_, &state_).TryAgain(task))
    return Ack::kOk;
  Finish(task, state, run_ms);
  return Ack::kOk;
}

void TaskCommands::Finish(Task* task, TaskState state,
                          std::optional<int64_t> run_ms) {
  const bool completes =
      state == TaskState::kCompleted && task->state != TaskState::kCompleted;
  if (completes) NoteRun(*task, run_ms);
  state_.BecomeEnded(task, state);
  if (completes) NoteCompleted(task->job);
  state_.SetName(task, task->name);
}

void TaskCommands::NoteRun(const Task& task, std::optional<int64_t> run_ms) {
  if (!state_.peers_.needs().run_times) return;
  // Without a valid description it is of no kind.
  if (!task.IsLive() || !task.quarantine_reason.empty()) return;
  // The daemon does not know when a task started that nobody was told to start,
  // or that ran before the daemon heard of it.  One told to leave was cut
  // short.
  if (!run_ms.has_value() && task.state == TaskState::kRunning &&
      task.is_start_known && !task.is_evicted && !state_.IsUntold(task.id)) {
    run_ms = now_ms_ - task.placed_ms;
  }
  if (run_ms.has_value()) state_.histories_.Note(task.work_kind, *run_ms);
}

void TaskCommands::NoteSpeed(const CompleteTask& command) {
  if (!command.run_ms.has_value() || command.instructions == 0) return;
  const Task* task = FindTaskOfClient(command.uid);
  // As in NoteRun().  It must also be known which task the report is about, and
  // where that task ran.
  if (task == nullptr || !task->client.earlier_holders.empty() ||
      !task->quarantine_reason.empty() || task->state != TaskState::kRunning ||
      state_.IsUntold(task->id)) {
    return;
  }
  const Machine* machine = state_.FindMachine(task->machine);
  if (machine == nullptr || machine->type == MachineTypeId()) return;
  state_.histories_.speeds().Note({task->work_kind, machine->type},
                                  *command.run_ms, command.instructions);
}

void TaskCommands::NoteCacheUse(const CompleteTask& command) {
  const bool is_asked_for = state_.peers_.needs().kinds.has_value();
  if (!is_asked_for || !command.cache.has_value()) return;
  const Task* task = FindTaskOfClient(command.uid);
  // As in NoteRun().  It must also be known which task the report is about.
  if (task == nullptr || !task->IsLive() ||
      !task->client.earlier_holders.empty() ||
      !task->quarantine_reason.empty()) {
    return;
  }
  state_.histories_.cache().Note(task->work_kind, *command.cache);
}

void TaskCommands::NoteCompleted(JobId id) {
  state_.NoteStarted(id);
  ForJobAndGroup(id, &state_.jobs_, [this](Job* job) {
    if (job->gang.minimum == 0) return;
    ++job->completed_count;
    state_.changes_.jobs.insert(job->id);
  });
}

Ack TaskCommands::Apply(const RemoveTask& command) {
  Adoptions(now_ms_, &state_).DropClaim(command.uid);
  Task* task = state_.MutableHolder(command.uid);
  if (task == nullptr) return Ack::kNotFound;
  --task->client.expected_removals;
  state_.Touch(*task);
  if (task->state == TaskState::kRemoved) {
    if (task->client.expected_removals == 0) state_.Erase(task);
    return Ack::kOk;
  }
  auto& earlier = task->client.earlier_holders;
  if (!earlier.empty()) {
    // Prefer one that holds nothing: the removal may have been meant for it.
    auto oldest = std::ranges::find_if(earlier, [this](TaskId id) {
      return state_.FindTask(id)->state != TaskState::kRunning;
    });
    if (oldest == earlier.end()) oldest = earlier.begin();
    Task* holder = state_.MutableTask(*oldest);
    earlier.erase(oldest);
    RemoveByGuess(holder);
    if (!command.keeps_uid) Mute(task);
    return Ack::kOk;
  }
  state_.LeaveQueue(*task);
  state_.DeleteDeltas(task->id);
  if (task->client.expected_removals == 0) {
    RemoveHolder(task);
    return Ack::kOk;
  }
  // The task was submitted more than once under one name.  A restarted client
  // removes it once; one that repeats itself removes it as often as it
  // submitted it.
  NoteRemoved(*task);
  state_.BecomeEnded(task, TaskState::kRemoved);
  state_.SetName(task, "");
  Bury(*task);
  return Ack::kOk;
}

void TaskCommands::NoteRemoved(const Task& task) {
  if (!task.IsLive()) return;
  ForJobAndGroup(task.job, &state_.jobs_, [this](Job* job) {
    ++job->aborted_count;
    state_.changes_.jobs.insert(job->id);
  });
}

void TaskCommands::Bury(const Task& task) {
  state_.LeaveJob(task.job);
  state_.removed_.insert(task.id);
  if (state_.removed_.size() > kRemovedTasksMax) {
    state_.Erase(state_.MutableTask(*state_.removed_.begin()));
  }
}

void TaskCommands::RemoveByGuess(Task* task) {
  const auto named = state_.named_tasks_.find(task->name);
  const bool is_named =
      named != state_.named_tasks_.end() && named->second == task->id;
  if (task->state != TaskState::kRunning || !is_named) {
    RemoveHolder(task);
    return;
  }
  const MachineId machine = task->machine;
  state_.BecomeEnded(task, TaskState::kRemoved);
  task->client.successor.reset();
  task->machine = machine;
  state_.SetName(task, task->name);
  Bury(*task);
}

std::optional<MachineId> TaskCommands::TakeGuessed(const SubmitTask& command) {
  const auto named = state_.named_tasks_.find(command.spec.name);
  if (named == state_.named_tasks_.end()) return std::nullopt;
  Task* guessed = state_.MutableTask(named->second);
  if (!guessed->IsRemovedByGuess()) return std::nullopt;
  const StateCounters& counters = state_.counters_;
  // Otherwise it is a new task of that name.
  const bool is_again = counters.former_stale_below.has_value() &&
                        guessed->client.announcement < counters.stale_below;
  const MachineId machine = guessed->machine;
  state_.Erase(guessed);
  return is_again ? std::make_optional(machine) : std::nullopt;
}

void TaskCommands::PutBack(Task* task, MachineId id) {
  Machine* machine = state_.MutableMachine(id);
  const ClassKey& key = task->class_key;
  if (!task->MayRun() || machine == nullptr || !machine->IsSound() ||
      !key.request.FitsIn(machine->Free()) || !key.rules->host_ports.empty()) {
    return;  // It is placed like any other.
  }
  state_.BecomeRunning(task, machine, now_ms_);
  Repeat(task);
}

Ack TaskCommands::Apply(const MuteTask& command) {
  Task* task = MutableTaskOfClient(command.uid);
  if (task == nullptr) return Ack::kNotFound;
  Mute(task);
  return Ack::kOk;
}

void TaskCommands::Forget(TaskId id) {
  Task* task = state_.MutableTask(id);
  LoseUid(task);
  state_.LeaveQueue(*task);
  state_.DeleteDeltas(id);
  RemoveHolder(task);
}

void TaskCommands::RemoveHolder(Task* task) {
  NoteRemoved(*task);
  if (task->state == TaskState::kRunning) state_.Vacate(task);
  state_.LeaveJob(task->job);
  state_.Erase(task);
}

void TaskCommands::Mute(Task* task) {
  state_.LeaveQueue(*task);
  // The client has forgotten the uid, and with it what it may have been told.
  const Delta* waiting = state_.outbox_.Waiting(task->id);
  if (waiting != nullptr && waiting->type == DeltaType::kPlace &&
      !waiting->is_repeat) {
    state_.BecomePending(task);
  }
  state_.DeleteDeltas(task->id);
  if (!task->client.IsMuted()) task->client.uid_standing = UidStanding::kMuted;
  state_.Touch(*task);
}

}  // namespace sluice
