#include "state/cluster_state.h"

#include <glog/logging.h>

#include <algorithm>
#include <ranges>
#include <utility>

#include "base/limits.h"
#include "base/strings.h"
#include "state/announcements.h"
#include "state/feed_events.h"
#include "state/job_groups.h"
#include "state/machine_commands.h"
#include "state/machine_parts.h"
#include "state/task_commands.h"

namespace sluice {
namespace {

// Takes the task, which has left the machine, off its processing unit.
void ReleaseUnit(const Task& task, const ClusterState::TaskMap& tasks,
                 Machine* machine) {
  ProcessingUnit& unit = machine->pus[static_cast<size_t>(task.pu)];
  --unit.task_count;
  Bind(task.class_key, task.pu, -1, machine);
  const bool is_exact = !unit.used.IsSaturated();
  unit.used -= task.class_key.request;
  if (is_exact) return;
  // Add up anew, as for the machine itself.
  unit.used = Resources();
  for (const TaskId id : machine->tasks) {
    const Task& other = *tasks.Find(id);
    if (other.pu == task.pu) unit.used += other.class_key.request;
  }
}

// Bridges name pods "namespace/name", which no two have at the same time.
bool IsPodName(const std::string& name) {
  const size_t slash = name.find('/');
  return slash != std::string::npos && slash > 0 && slash + 1 < name.size();
}

}  // namespace

// ---------------------------------------------------------------------------
// Commands

// Not inline: every file with a state would compile both.
ClusterState::ClusterState() : class_names_(kRecentClassesMax) {}
ClusterState::~ClusterState() = default;

FeedOutcome ClusterState::Apply(FeedId feed, const FeedEvent& event,
                                int64_t now_ms) {
  FeedEvents events(feed, now_ms, this);
  const FeedOutcome outcome =
      std::visit([&](const auto& one) { return events.Apply(one); }, event);
  resources_.FreeUnused();
  return outcome;
}

FeedId ClusterState::OpenFeed(const std::string& name) {
  for (const auto& [id, feed] : feeds_) {
    if (feed.name == name) return id;
  }
  const FeedId id = {counters_.next_feed_id++};
  feeds_.emplace(id, Feed{.id = id, .name = name});
  changes_.counters = true;
  return id;
}

void ClusterState::CloseFeed(FeedId id) {
  FeedEvents(id, /*now_ms=*/0, this).Close();
  const auto is_of_it = [id](const auto& entry) {
    return entry.second->feed == id;
  };
  if (!feeds_.at(id).tasks.empty() || std::ranges::any_of(machines_, is_of_it))
    return;
  feeds_.erase(id);
  changes_.counters = true;
}

void ClusterState::SettleFeed(FeedId id, int64_t now_ms) {
  FeedEvents(id, now_ms, this).Settle();
  resources_.FreeUnused();
}

Ack ClusterState::Apply(const Command& command, int64_t now_ms) {
  TaskCommands about_tasks(now_ms, this);
  MachineCommands about_machines(now_ms, this);
  Announcements announcements(now_ms, this);
  const Ack ack = std::visit(
      [&](const auto& one) {
        if constexpr (requires { about_tasks.Apply(one); }) {
          return about_tasks.Apply(one);
        } else if constexpr (requires { about_machines.Apply(one); }) {
          return about_machines.Apply(one);
        } else {
          return announcements.Apply(one);
        }
      },
      command);
  resources_.FreeUnused();
  return ack;
}

// ---------------------------------------------------------------------------
// Placements and their delivery

void ClusterState::Place(TaskId id, MachineId machine_id, int64_t now_ms) {
  const Task* task = FindTask(id);
  const Machine* machine = FindMachine(machine_id);
  CHECK(task != nullptr && task->IsSchedulable());
  CHECK(machine != nullptr && machine->IsUsable());
  CHECK(task->class_key.request.FitsIn(machine->Free()));
  PlaceInstead(id, machine_id, now_ms);
}

void ClusterState::PlaceInstead(TaskId id, MachineId machine_id,
                                int64_t now_ms) {
  Task* task = MutableTask(id);
  Machine* machine = MutableMachine(machine_id);
  CHECK(task != nullptr && task->IsSchedulable());
  CHECK(machine != nullptr && machine->IsUsable());
  BecomeRunning(task, machine, now_ms);
  task->is_start_known = true;
  AppendDelta(*task, /*is_repeat=*/false);
}

bool ClusterState::CanPreempt(const Task& task) const {
  // While a uid has several holders, an acknowledged end may have been this
  // task's.  After a removal the client no longer knows the uid.
  if (task.is_evicted || !task.client.earlier_holders.empty() ||
      !task.client.IsListening() || task.is_foreign) {
    return false;
  }
  // Nobody knows whether a placement in flight will arrive, or whether one
  // whose call broke off did arrive.
  return std::ranges::all_of(
      outbox_.SequencesOf(task.id), [this](uint64_t sequence) {
        const Delta& delta = outbox_.deltas().at(sequence);
        return !delta.is_in_flight && (delta.is_repeat || !delta.may_be_known);
      });
}

bool ClusterState::Preempt(TaskId id) {
  return Evict(id, DeltaType::kPreempt, /*target=*/nullptr);
}

void ClusterState::Migrate(TaskId id, MachineId target) {
  Machine* machine = MutableMachine(target);
  CHECK(machine != nullptr && machine->IsUsable());
  CHECK(target != FindTask(id)->machine);
  Evict(id, DeltaType::kMigrate, machine);
}

bool ClusterState::Evict(TaskId id, DeltaType type, Machine* target) {
  Task* task = MutableTask(id);
  CHECK(task != nullptr && task->state == TaskState::kRunning);
  CHECK(CanPreempt(*task) && !IsUntold(id));
  // This replaces a waiting repetition for good, so it cannot be undone.
  const bool can_be_undone = outbox_.SequencesOf(id).empty();
  DeleteDeltas(id);
  SetEvicted(task, true);
  NoteEnded(task->job);
  const uint64_t sequence = counters_.next_delta_sequence;
  AppendDelta(*task, type, /*is_repeat=*/false);
  const Resources& request = task->class_key.request;
  resources_.Acquire(request);
  nominations_.AddSuccession(
      sequence,
      {.predecessor = id,
       .predecessor_sequence = task->sequence,
       .job_uuid = FindJob(task->job)->uuid,
       .priority = task->class_key.priority,
       .request = request,
       .rules = rules_.Acquire(*task->class_key.rules),
       .machine = target == nullptr ? std::nullopt : std::optional(target->id),
       .disturbances = task->disturbances + 1},
      target);
  return can_be_undone;
}

bool ClusterState::Spare(TaskId id) {
  const Delta* waiting = outbox_.Waiting(id);
  if (waiting == nullptr || waiting->type == DeltaType::kPlace ||
      waiting->is_repeat || waiting->may_be_known) {
    return false;
  }
  Revoke(Delta(*waiting));
  return true;
}

void ClusterState::SetEvicted(Task* task, bool is_evicted) {
  CountRunning(*task, -1);
  task->is_evicted = is_evicted;
  CountRunning(*task, 1);
  Touch(*task);
  nominations_.UpdateReserved(machines_.Find(task->machine));
}

void ClusterState::CountRunning(const Task& task, int32_t sign) {
  if (sign > 0) {
    peers_.Add(task);
  } else {
    peers_.Remove(task);
  }
  Machine& machine = machines_.At(task.machine);
  if (task.is_evicted) {
    machine.leaving_count += sign;
  } else {
    machine.jobs.Add(task.job, sign);
    ForJobAndGroup(task.job, &jobs_,
                   [sign](Job* job) { job->running_count += sign; });
  }
}

void ClusterState::AppendDelta(const Task& task, bool is_repeat) {
  AppendDelta(task, task.is_evicted ? DeltaType::kPreempt : DeltaType::kPlace,
              is_repeat);
}

void ClusterState::AppendDelta(const Task& task, DeltaType type,
                               bool is_repeat) {
  const uint64_t sequence = counters_.next_delta_sequence++;
  outbox_.Add({.sequence = sequence,
               .task = task.id,
               .type = type,
               .machine = task.machine,
               .feed = task.client.feed,
               .is_repeat = is_repeat});
  changes_.deltas.insert(changes_.deltas.end(), sequence);
  changes_.counters = true;
}

const Outbox::Sequences& ClusterState::SequencesOf(FeedId feed) const {
  return outbox_.SequencesOf(feed);
}

void ClusterState::BeginDelivery(uint64_t sequence) {
  Delta* delta = outbox_.Find(sequence);
  CHECK(delta != nullptr);
  delta->is_in_flight = true;
  if (delta->may_be_known) return;
  delta->may_be_known = true;
  // A feed itself states what it has carried out.
  if (delta->feed == FeedId()) changes_.deltas.insert(sequence);
}

void ClusterState::EndDelivery(uint64_t sequence, bool is_delivered) {
  Delta* found = outbox_.Find(sequence);
  if (found == nullptr) return;
  found->is_in_flight = false;
  const Delta delta = *found;  // Deleting others moves it.
  if (is_delivered) {
    if (delta.type == DeltaType::kPlace) NoteStarted(FindTask(delta.task)->job);
    DeleteDelta(sequence);
    return;
  }
  // It is told again, so a requested repetition would say the same.
  const auto& sequences = outbox_.SequencesOf(delta.task);
  while (sequences.back() != sequence) DeleteDelta(sequences.back());
  if (!FindMachine(delta.machine)->is_present) Revoke(delta);
}

void ClusterState::Revoke(const Delta& delta) {
  Task* task = MutableTask(delta.task);
  if (delta.type != DeltaType::kPlace && !delta.is_repeat) {
    // The task goes on running there, like the others.
    if (nominations_.successions().Find(delta.sequence) != nullptr) {
      EndSuccession(delta.sequence);
    }
    DeleteDeltas(task->id);
    SetEvicted(task, false);
    NoteStarted(task->job);
    return;
  }
  // A repeated delta, too: the client asked for a machine, and this one is
  // gone.
  BecomePending(task);
  replacements_.SetHeld(task, replacements_.Concern(*task));
  EnterQueue(task);
}

void ClusterState::DeleteDelta(uint64_t sequence) {
  outbox_.Erase(sequence);
  changes_.deltas.insert(sequence);
}

void ClusterState::DeleteDeltas(TaskId task) {
  while (!outbox_.SequencesOf(task).empty()) {
    DeleteDelta(outbox_.SequencesOf(task).back());
  }
}

bool ClusterState::IsUntold(TaskId task) const {
  const Delta* waiting = outbox_.Waiting(task);
  return waiting != nullptr && waiting->IsUntold();
}

void ClusterState::Withdraw(TaskId id) {
  Task* task = MutableTask(id);
  CHECK(task != nullptr && task->state == TaskState::kRunning && IsUntold(id));
  BecomePending(task);
  EnterQueue(task);
}

// ---------------------------------------------------------------------------
// A task's life

void ClusterState::BecomeRunning(Task* task, Machine* machine, int64_t now_ms) {
  LeaveQueue(*task);
  replacements_.SetHeld(task, false);
  task->state = TaskState::kRunning;
  task->placed_ms = now_ms;
  task->is_start_known = false;
  task->usage = {};
  Occupy(task, machine, UnitFor(task->class_key, *machine));
}

void ClusterState::BecomePending(Task* task) {
  DeleteDeltas(task->id);
  if (task->state == TaskState::kRunning) Vacate(task);
  task->state = TaskState::kPending;
  Touch(*task);
}

void ClusterState::BecomeEnded(Task* task, TaskState state) {
  LeaveQueue(*task);
  DeleteDeltas(task->id);
  if (task->state == TaskState::kRunning) Vacate(task);
  requeues_.SetRetry(task, 0);
  adoptions_.SetRunsOn(task, "");
  task->state = state;
  Touch(*task);
}

void ClusterState::Occupy(Task* task, Machine* machine, int32_t pu) {
  task->machine = machine->id;
  task->pu = pu;
  task->may_succeed = false;
  machine->AddLoad(task->class_key.request, task->class_key.rules->host_ports);
  machine->tasks.insert(task->id);
  if (pu != kNoPu) {
    ProcessingUnit& unit = machine->pus[static_cast<size_t>(pu)];
    unit.used += task->class_key.request;
    ++unit.task_count;
    Bind(task->class_key, pu, 1, machine);
  }
  CountRunning(*task, 1);
  nominations_.UpdateReserved(machine);
  Touch(*task);
  NoteIfNoExecute(*machine);
}

void ClusterState::Vacate(Task* task) {
  CountRunning(*task, -1);
  Machine* machine = MutableMachine(task->machine);
  machine->tasks.erase(task->id);
  if (task->pu != kNoPu) ReleaseUnit(*task, tasks_, machine);
  machine->ReleasePorts(task->class_key.rules->host_ports);
  Release(task->class_key.request, machine);
  task->machine = MachineId{};
  task->pu = kNoPu;
  task->is_evicted = false;
  Touch(*task);
}

void ClusterState::Release(const Resources& load, Machine* machine) {
  const bool is_exact = !machine->used.IsSaturated();
  machine->used -= load;
  if (!is_exact) {
    // A saturated sum would give back more than it took: add up anew.
    Resources sum;
    for (const auto& [name, usage] : machine->foreign_pods) sum += usage;
    for (const TaskId id : machine->tasks) {
      sum += FindTask(id)->class_key.request;
    }
    machine->used = sum;
  }
  measured_use_.NoteLoad(machine);
  nominations_.UpdateReserved(machine);
}

void ClusterState::DropStaleSamples(int64_t now_ms) {
  for (const MachineId id : measured_use_.FindStale(now_ms)) {
    if (!measured_use_.Drop(machines_.Find(id))) continue;
    nominations_.UpdateReserved(MutableMachine(id));
  }
}

// ---------------------------------------------------------------------------
// Queue, jobs, look-ups

void ClusterState::LeaveQueue(const Task& task) {
  if (unscheduled_.erase(task.id) == 0) return;
  ForJobAndGroup(task.job, &jobs_, [](Job* job) { --job->pending_count; });
  if (!task.IsSchedulable()) return;
  --pending_count_;
  if (task.client.IsOfFeed()) --feed_pending_count_;
  const auto nominated = nominations_.machines().find(task.id);
  if (nominated == nominations_.machines().end()) {
    RemovePending(task);
  } else {
    nominations_.Drop(task.id, MutableMachine(nominated->second));
  }
}

void ClusterState::EnterQueue(Task* task) {
  if (!task->IsUnscheduled()) return;
  unscheduled_.insert(task->id);
  ForJobAndGroup(task->job, &jobs_, [](Job* job) { ++job->pending_count; });
  if (!task->IsSchedulable()) return;
  ++pending_count_;
  if (task->client.IsOfFeed()) ++feed_pending_count_;
  AddPending(task);
  if (!std::exchange(task->may_succeed, false)) return;
  const Successions& successions = nominations_.successions();
  if (successions.all().empty()) return;
  const std::optional<uint64_t> sequence =
      successions.FindFor(jobs_.At(task->job).uuid, task->class_key);
  if (!sequence.has_value()) return;
  const Succession& succession = *successions.Find(*sequence);
  const std::optional<MachineId> machine = succession.machine;
  task->disturbances = std::max(task->disturbances, succession.disturbances);
  Touch(*task);
  EndSuccession(*sequence);
  if (!machine.has_value()) return;
  Nominate(task->id, *machine);
  nominations_.NoteSuccessor(task->id);
}

void ClusterState::SetHeld(TaskId id, bool is_held) {
  Task* task = MutableTask(id);
  LeaveQueue(*task);
  replacements_.SetHeld(task, is_held);
  EnterQueue(task);
}

void ClusterState::EndSuccession(uint64_t sequence) {
  const Succession& one = *nominations_.successions().Find(sequence);
  resources_.Release(one.request);
  const PlacementRules* rules = one.rules;
  nominations_.DropSuccession(sequence, one.machine.has_value()
                                            ? MutableMachine(*one.machine)
                                            : nullptr);
  rules_.Release(rules);
}

void ClusterState::EndSuccessionsOn(const Machine& machine) {
  while (!machine.successions.empty()) {
    EndSuccession(*machine.successions.begin());
  }
}

void ClusterState::EndSuccessions(int64_t now_ms) {
  Successions& successions = nominations_.mutable_successions();
  if (successions.all().empty()) return;
  for (const uint64_t sequence : successions.FindOver(now_ms, *this)) {
    EndSuccession(sequence);
  }
  std::vector<std::pair<uint64_t, MachineId>> left;
  for (const auto& [sequence, one] : successions.all()) {
    if (one.machine.has_value()) left.emplace_back(sequence, *one.machine);
  }
  // The last to be promised room loses it first.
  for (const auto& [sequence, machine] : left | std::views::reverse) {
    if (!nominations_.CanBeHeldBy(*FindMachine(machine))) {
      EndSuccession(sequence);
    }
  }
  resources_.FreeUnused();
}

void ClusterState::Nominate(TaskId id, MachineId machine_id, bool is_final) {
  const Task* task = MutableTask(id);
  Machine* machine = MutableMachine(machine_id);
  CHECK(task != nullptr && task->IsSchedulable());
  CHECK(machine != nullptr && machine->IsUsable());
  RemovePending(*task);
  nominations_.Add(id, machine, is_final);
}

void ClusterState::Reserve(TaskId id, MachineId machine) {
  Nominate(id, machine, /*is_final=*/true);
  nominations_.NoteReservation(id, MutableMachine(machine));
}

void ClusterState::EndNomination(TaskId id) {
  Task* task = MutableTask(id);
  nominations_.Drop(id, MutableMachine(nominations_.machines().at(id)));
  AddPending(task);
}

void ClusterState::RemovePending(const Task& task) {
  const auto it = pending_.find(task.class_key);
  it->second.erase(task.sequence);
  if (it->second.empty()) pending_.erase(it);
}

void ClusterState::AddPending(Task* task) {
  auto it = pending_.find(task->class_key);
  if (it == pending_.end()) {
    ClassKey key = task->class_key;
    key.name = class_names_.NameOf(key, resources_);
    it = pending_.emplace(std::move(key), PendingTasks()).first;
  }
  task->class_key.name = it->first.name;
  it->second.emplace(task->sequence, task);
}

JobId ClusterState::JobFor(const std::string& uuid, const std::string& name,
                           const Gang& gang) {
  const auto enter = [this](Job job) {
    const auto [it, is_new] =
        job_ids_.try_emplace(std::pair(job.is_group, job.uuid));
    const JobId id = is_new ? JobId{counters_.next_job_id++} : it->second;
    it->second = job.id = id;
    if (is_new) {
      jobs_.Add(id, std::make_unique<Job>(std::move(job)));
      changes_.jobs.insert(id);
      changes_.counters = true;
    }
    ++jobs_.At(id).task_count;
    return id;
  };
  Job job{.id = {}, .uuid = uuid, .name = name, .gang = gang};
  // A group is known, and so stored, before its jobs.
  if (!gang.group.empty() && !job_ids_.contains(std::pair(false, uuid))) {
    job.group = enter({.id = {},
                       .uuid = gang.group,
                       .name = gang.group,
                       .gang = std::exchange(job.gang, {}),
                       .is_group = true});
  }
  return enter(std::move(job));
}

void ClusterState::NoteStarted(JobId id) {
  ForJobAndGroup(id, &jobs_, [this](Job* job) {
    if (job->gang.minimum == 0 || job->was_started) return;
    job->was_started = true;
    changes_.jobs.insert(job->id);
  });
}

void ClusterState::NoteEnded(JobId id) {
  ForJobAndGroup(id, &jobs_, [this](Job* job) {
    if (!job->was_started || job->running_count > 0 ||
        static_cast<uint64_t>(job->completed_count) >= job->gang.minimum) {
      return;
    }
    job->was_started = false;
    changes_.jobs.insert(job->id);
  });
}

void ClusterState::LeaveJob(JobId id) {
  Job& job = jobs_.At(id);
  if (--job.task_count > 0) return;
  const std::optional<JobId> group = job.group;
  job_ids_.erase(std::pair(job.is_group, job.uuid));
  jobs_.Take(id);
  changes_.jobs.insert(id);
  if (group.has_value()) LeaveJob(*group);
}

TaskId ClusterState::NewTaskId(std::optional<TaskUid> uid) {
  if (uid.has_value() && !tasks_.contains({uid->value})) return {uid->value};
  changes_.counters = true;
  do {
    --counters_.last_own_task_id;
  } while (tasks_.contains({counters_.last_own_task_id}));
  return {counters_.last_own_task_id};
}

void ClusterState::SetName(Task* task, const std::string& name) {
  const auto it = named_tasks_.find(task->name);
  if (it != named_tasks_.end() && it->second == task->id) {
    named_tasks_.erase(it);
  }
  task->name = name;
  // Feeds know their tasks by id.
  if (task->client.IsOfFeed() || !IsPodName(name)) return;
  if (task->IsLive()) {
    const auto [named, is_new] = named_tasks_.try_emplace(name, task->id);
    if (!is_new && !tasks_.Find(named->second)->IsLive()) {
      named->second = task->id;
    }
  } else if (task->IsRemovedByGuess()) {
    named_tasks_.try_emplace(name, task->id);
  }
}

const Task* ClusterState::FindTask(TaskId id) const { return tasks_.Find(id); }

const Task* ClusterState::FindHolder(TaskUid uid) const {
  const Task* task = tasks_.Find(uids_.Find(uid));
  return task != nullptr && task->client.HoldsUid() && task->client.uid == uid
             ? task
             : nullptr;
}

const Job* ClusterState::FindJob(JobId id) const { return jobs_.Find(id); }

const Machine* ClusterState::FindMachine(MachineId id) const {
  return machines_.Find(id);
}

const Machine* ClusterState::FindMachine(std::string_view uuid) const {
  const auto it = machine_ids_.find(std::string(uuid));
  if (it == machine_ids_.end()) return nullptr;
  const Machine* machine = FindMachine(it->second);
  return machine->uuid == uuid ? machine : nullptr;
}

const std::string& ClusterState::ResourceName(ResourceIndex index) const {
  return resources_.NameOf(index);
}

int64_t ClusterState::departed_count() const {
  return static_cast<int64_t>(departed_.size());
}

Task* ClusterState::MutableTask(TaskId id) {
  Task* task = tasks_.Find(id);
  if (task != nullptr) {
    ++counters_.version;
    changes_.counters = true;
  }
  return task;
}

Task* ClusterState::MutableHolder(TaskUid uid) {
  const Task* task = FindHolder(uid);
  return task == nullptr ? nullptr : MutableTask(task->id);
}

Machine* ClusterState::MutableMachine(MachineId id) {
  Machine* machine = machines_.Find(id);
  if (machine != nullptr) {
    ++machine->revision;
    ++counters_.version;
    changes_.counters = true;
  }
  return machine;
}

ChangeSet ClusterState::TakeChanges() {
  return std::exchange(changes_, ChangeSet());
}

std::vector<uint32_t> ClusterState::CollectRules() {
  std::vector<uint32_t> ids = rules_.Collect();
  Reclassify(peers_.Collect(ids));
  return ids;
}

void ClusterState::Reclassify(const std::vector<TaskId>& tasks) {
  for (const TaskId id : tasks) {
    Task* task = tasks_.Find(id);
    const auto it = nominations_.machines().find(id);
    const bool is_nominated = it != nominations_.machines().end();
    const MachineId machine = is_nominated ? it->second : MachineId();
    const bool is_successor = nominations_.IsSuccessor(id);
    const bool is_final = nominations_.IsFinal(id);
    const bool is_reservation = nominations_.IsReservation(id);
    LeaveQueue(*task);
    task->class_key.meant_by = peers_.MeaningOf(id);
    task->class_key.name = 0;
    EnterQueue(task);
    // Nothing about the task itself has changed.
    if (!is_nominated || !FindMachine(machine)->IsUsable()) continue;
    Nominate(id, machine, is_final);
    if (is_successor) nominations_.NoteSuccessor(id);
    if (is_reservation) {
      nominations_.NoteReservation(id, MutableMachine(machine));
    }
  }
}

absl::btree_map<MachineId, MachineFields>
ClusterState::TakeDescribedMachines() {
  return std::exchange(described_machines_, {});
}

absl::btree_set<MachineId> ClusterState::TakeNoExecuteMachines() {
  return std::exchange(no_execute_machines_, {});
}

void ClusterState::NoteIfNoExecute(const Machine& machine) {
  const auto is_no_execute = [](const MachineTaint& one) {
    return one.taint.effect == TaintEffect::kNoExecute;
  };
  if (std::ranges::any_of(machine.taints, is_no_execute)) {
    no_execute_machines_.insert(machine.id);
  }
}

}  // namespace sluice
