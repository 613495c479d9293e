#include "state/cluster_state.h"

#include <glog/logging.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/int128.h"
#include "base/limits.h"
#include "base/strings.h"

namespace sluice {
namespace {

template <class Map, class Key>
auto* FindIn(const Map& map, const Key& key) {
  const auto it = map.find(key);
  return it == map.end() ? nullptr : it->second.get();
}

Resources OnePod() { return Resources(0, 0, 0, 1); }

// Parts per million of `capacity` that `load` is in its scarcest resource.
int64_t DominantShare(const Resources& load, const Resources& capacity) {
  Int128 share = 0;
  for (ResourceIndex i = 0; i < capacity.size(); ++i) {
    if (capacity[i] <= 0) continue;
    share =
        std::max(share, static_cast<Int128>(load[i]) * 1000000 / capacity[i]);
  }
  return static_cast<int64_t>(
      std::min<Int128>(share, std::numeric_limits<int64_t>::max()));
}

// Takes the task, which is on the machine no more, off its processing unit.
void ReleaseUnit(const Task& task, const ClusterState::TaskMap& tasks,
                 Machine* machine) {
  ProcessingUnit& unit = machine->pus[static_cast<size_t>(task.pu)];
  --unit.task_count;
  const bool is_exact = !unit.used.IsSaturated();
  unit.used -= task.class_key.request;
  if (is_exact) return;
  // As with the machine itself: add up anew.
  unit.used = Resources();
  for (const TaskId id : machine->tasks) {
    const Task& other = *tasks.at(id);
    if (other.pu == task.pu) unit.used += other.class_key.request;
  }
}

}  // namespace

// ---------------------------------------------------------------------------
// Commands

// Not inline: every file with a state would compile both.
ClusterState::ClusterState() : class_names_(kRecentClassesMax) {}
ClusterState::~ClusterState() = default;

Ack ClusterState::Apply(const Command& command, int64_t now_ms) {
  const Ack ack = std::visit(
      [&](const auto& one) { return ApplyOne(one, now_ms); }, command);
  resources_.FreeUnused();
  return ack;
}

Ack ClusterState::ApplyOne(const SubmitTask& command, int64_t now_ms) {
  Task* task = MutableTask(command.task);
  if (task != nullptr && task->state != TaskState::kRemoved) {
    if (command.reject_if_known) return Ack::kAlreadyExists;
    Resubmit(task, command, now_ms);
    return Ack::kOk;
  }
  int32_t earlier_removals = 0;
  if (task != nullptr) {
    earlier_removals = task->expected_removals;
    Erase(task);
  }
  auto owned = std::make_unique<Task>();
  task = owned.get();
  task->id = command.task;
  tasks_.emplace(command.task, std::move(owned));
  task->expected_removals = earlier_removals + 1;
  task->submitted_ms = now_ms;
  task->sequence = counters_.next_task_sequence++;
  task->job = JobFor(command);
  Describe(task, command.spec);
  EnterQueue(task);
  return Ack::kOk;
}

void ClusterState::Resubmit(Task* task, const SubmitTask& command,
                            int64_t now_ms) {
  ++reused_uid_count_;
  LeaveQueue(*task);
  ++task->expected_removals;
  task->is_muted = false;
  const bool is_same_task = task->name == command.spec.name;
  if (task->state == TaskState::kRunning) {
    Machine* machine = MutableMachine(task->machine);
    if (!is_same_task && !IsUntold(task->id)) {
      // The earlier task goes on running: its load stays, without a name.
      resources_.Acquire(task->class_key.request);
      task->shared_loads.push_back({machine->id, task->class_key.request,
                                    task->class_key.rules->host_ports});
      machine->AddLoad(task->class_key.request,
                       task->class_key.rules->host_ports);
      ++machine->shared_load_count;
      Unplace(task);
    } else if (!is_same_task || !machine->IsUsable()) {
      Unplace(task);
    } else if (WaitingDelta(task->id) == nullptr) {
      // A client that restarted asks again for what it was told before.
      AppendDelta(*task, /*is_repeat=*/true);
    }
  }
  if (!is_same_task) ++task->holder_count;
  if (!is_same_task || task->state != TaskState::kRunning) {
    if (!is_same_task || task->state != TaskState::kPending) {
      task->submitted_ms = now_ms;
      task->sequence = counters_.next_task_sequence++;
    }
    task->state = TaskState::kPending;
  }
  const JobId former_job = task->job;
  const bool is_counted =
      task->state == TaskState::kRunning && !task->is_evicted;
  if (is_counted) --jobs_.at(former_job)->running_count;
  task->job = JobFor(command);
  if (is_counted) ++jobs_.at(task->job)->running_count;
  LeaveJob(former_job);
  Describe(task, command.spec);
  EnterQueue(task);
}

Ack ClusterState::ApplyOne(const UpdateTask& command, int64_t /*now_ms*/) {
  Task* task = MutableTask(command.task);
  if (task == nullptr || task->state == TaskState::kRemoved) {
    return Ack::kNotFound;
  }
  // About an earlier holder of the uid, of which only the load is known.
  if (task->holder_count > 1 && task->name != command.spec.name) {
    return Ack::kOk;
  }
  LeaveQueue(*task);
  Describe(task, command.spec);
  EnterQueue(task);
  return Ack::kOk;
}

Ack ClusterState::ApplyOne(const CompleteTask& command, int64_t /*now_ms*/) {
  return Finish(command.task, TaskState::kCompleted);
}

Ack ClusterState::ApplyOne(const FailTask& command, int64_t /*now_ms*/) {
  return Finish(command.task, TaskState::kFailed);
}

Ack ClusterState::Finish(TaskId id, TaskState state) {
  Task* task = MutableTask(id);
  if (task == nullptr || task->state == TaskState::kRemoved) {
    return Ack::kNotFound;
  }
  // Nobody knows whose report it is.
  if (task->holder_count > 1) return Ack::kOk;
  LeaveQueue(*task);
  DeleteDeltas(id);
  if (task->state == TaskState::kRunning) Vacate(task);
  const bool completes =
      state == TaskState::kCompleted && task->state != TaskState::kCompleted;
  if (completes) NoteCompleted(task->job);
  task->state = state;
  Touch(*task);
  return Ack::kOk;
}

Ack ClusterState::ApplyOne(const RemoveTask& command, int64_t /*now_ms*/) {
  Task* task = MutableTask(command.task);
  if (task == nullptr) return Ack::kNotFound;
  --task->expected_removals;
  Touch(*task);
  if (task->state == TaskState::kRemoved) {
    if (task->expected_removals == 0) Erase(task);
    return Ack::kOk;
  }
  LeaveQueue(*task);
  const bool is_untold = IsUntold(task->id);
  DeleteDeltas(task->id);
  if (--task->holder_count > 0) {
    if (is_untold && task->state == TaskState::kRunning) Unplace(task);
    task->is_muted = true;
    // As many loads may be left as there are earlier holders.
    while (std::ssize(task->shared_loads) >= task->holder_count) {
      FreeOldestSharedLoad(task);
    }
    return Ack::kOk;
  }
  if (task->state == TaskState::kRunning) Vacate(task);
  while (!task->shared_loads.empty()) FreeOldestSharedLoad(task);
  LeaveJob(task->job);
  if (task->expected_removals == 0) {
    Erase(task);
    return Ack::kOk;
  }
  // Submitted more than once under one name: a client that restarted removes
  // it once, one that repeats itself as often as it submitted.
  task->state = TaskState::kRemoved;
  task->holder_count = 0;
  removed_.insert(task->id);
  if (removed_.size() > kRemovedTasksMax) {
    Erase(MutableTask(*removed_.begin()));
  }
  return Ack::kOk;
}

Ack ClusterState::ApplyOne(const AddMachine& command, int64_t now_ms) {
  const MachineSpec& spec = command.spec;
  const Machine* known = FindMachine(spec.uuid);
  const bool returns = known != nullptr && !known->is_present;
  const auto is_taken = [&](const std::string& uuid) {
    const auto it = machine_ids_.find(uuid);
    return it != machine_ids_.end() && !(returns && it->second == known->id);
  };
  if (is_taken(spec.uuid) ||
      std::ranges::any_of(spec.pus, is_taken, &MachineSpec::Pu::uuid) ||
      std::ranges::any_of(spec.other_uuids, is_taken)) {
    return Ack::kAlreadyExists;
  }
  Machine* machine = nullptr;
  if (returns) {
    machine = MutableMachine(known->id);
    departed_.erase(machine->id);
  } else {
    auto owned = std::make_unique<Machine>();
    machine = owned.get();
    machine->id = {counters_.next_machine_id++};
    machine->uuid = spec.uuid;
    machines_.emplace(machine->id, std::move(owned));
  }
  machine->is_present = true;
  Describe(machine, spec, /*keep_tree=*/false, now_ms);
  return Ack::kOk;
}

Ack ClusterState::ApplyOne(const UpdateMachine& command, int64_t now_ms) {
  const Machine* known = FindMachine(command.spec.uuid);
  if (known == nullptr) return Ack::kNotFound;
  Describe(MutableMachine(known->id), command.spec, /*keep_tree=*/true, now_ms);
  return Ack::kOk;
}

Ack ClusterState::ApplyOne(const RemoveMachine& command, int64_t /*now_ms*/) {
  const Machine* known = FindMachine(command.uuid);
  if (known == nullptr) return Ack::kNotFound;
  if (!known->is_present) return Ack::kOk;
  Machine* machine = MutableMachine(known->id);
  machine->is_present = false;
  Touch(*machine);
  // What no client was told of never happened; the others may go on running.
  const std::vector<TaskId> tasks(machine->tasks.begin(), machine->tasks.end());
  for (const TaskId id : tasks) {
    const Delta* waiting = WaitingDelta(id);
    if (waiting != nullptr) Revoke(Delta(*waiting));
  }
  departed_.insert(machine->id);
  if (departed_.size() > kDepartedMachinesMax) {
    for (const MachineId id : departed_) {
      if (!FindMachine(id)->IsEmpty()) continue;
      DropMachine(id);
      break;
    }
  }
  return Ack::kOk;
}

Ack ClusterState::ApplyOne(const AddForeignPod& command, int64_t /*now_ms*/) {
  const auto it = machine_ids_.find(command.machine_uuid);
  if (it == machine_ids_.end()) return Ack::kNotFound;
  absl::StatusOr<Resources> usage = FromNamed(command.usage);
  if (!usage.ok()) return Ack::kNotFound;
  RemoveForeign(command.name);
  Machine* machine = MutableMachine(it->second);
  *usage += OnePod();
  resources_.Acquire(*usage);
  machine->used += *usage;
  machine->foreign_pods.emplace(command.name, *std::move(usage));
  Touch(*machine);
  foreign_pod_machines_[command.name] = machine->id;
  return Ack::kOk;
}

Ack ClusterState::ApplyOne(const RemoveForeignPod& command,
                           int64_t /*now_ms*/) {
  const auto it = foreign_pod_machines_.find(command.name);
  if (it == foreign_pod_machines_.end()) return Ack::kNotFound;
  // A late report about where the pod was before must not end where it is.
  const auto named = machine_ids_.find(command.machine_uuid);
  if (!command.machine_uuid.empty() &&
      (named == machine_ids_.end() || named->second != it->second)) {
    return Ack::kNotFound;
  }
  RemoveForeign(command.name);
  return Ack::kOk;
}

void ClusterState::RemoveForeign(const std::string& name) {
  const auto it = foreign_pod_machines_.find(name);
  if (it == foreign_pod_machines_.end()) return;
  Machine* machine = MutableMachine(it->second);
  const auto pod = machine->foreign_pods.find(name);
  const Resources usage = pod->second;
  machine->foreign_pods.erase(pod);
  Touch(*machine);
  foreign_pod_machines_.erase(it);
  resources_.Release(usage);
  Release(usage, machine);
}

Ack ClusterState::ApplyOne(const ReportTaskUsage& command, int64_t /*now_ms*/) {
  const Task* task = FindTask(command.task);
  return task == nullptr || task->state == TaskState::kRemoved ? Ack::kNotFound
                                                               : Ack::kOk;
}

Ack ClusterState::ApplyOne(const ReportMachineUsage& command,
                           int64_t /*now_ms*/) {
  return machine_ids_.contains(command.machine_uuid) ? Ack::kOk
                                                     : Ack::kNotFound;
}

// ---------------------------------------------------------------------------
// Placements and their delivery

void ClusterState::Place(TaskId id, MachineId machine_id, int64_t now_ms) {
  Task* task = MutableTask(id);
  Machine* machine = MutableMachine(machine_id);
  CHECK(task != nullptr && task->IsSchedulable());
  CHECK(machine != nullptr && machine->IsUsable());
  CHECK(task->class_key.request.FitsIn(machine->Free()));
  PlaceOn(task, machine, now_ms);
}

void ClusterState::PlaceInstead(TaskId id, MachineId machine_id,
                                int64_t now_ms) {
  Task* task = MutableTask(id);
  Machine* machine = MutableMachine(machine_id);
  CHECK(task != nullptr && task->IsSchedulable());
  CHECK(machine != nullptr && machine->IsUsable());
  PlaceOn(task, machine, now_ms);
}

void ClusterState::PlaceOn(Task* task, Machine* machine, int64_t now_ms) {
  LeaveQueue(*task);
  task->state = TaskState::kRunning;
  task->placed_ms = now_ms;
  Occupy(task, machine, RoomiestPu(*machine, task->class_key.request));
  AppendDelta(*task, /*is_repeat=*/false);
}

bool ClusterState::CanPreempt(const Task& task) const {
  // While a uid has several holders an end that was acknowledged may have been
  // this task's, and after a removal its client knows the uid no more.
  if (task.is_evicted || task.holder_count > 1 || task.is_muted) return false;
  // Of a placement under way it is not known whether it arrives.
  return WaitingDelta(task.id) != nullptr || !deltas_of_task_.contains(task.id);
}

void ClusterState::Preempt(TaskId id) {
  Task* task = MutableTask(id);
  CHECK(task != nullptr && task->state == TaskState::kRunning);
  CHECK(CanPreempt(*task) && !IsUntold(id));
  DeleteDeltas(id);
  SetEvicted(task, true);
  AppendDelta(*task, /*is_repeat=*/false);
}

void ClusterState::SetEvicted(Task* task, bool is_evicted) {
  CountRunning(*task, -1);
  task->is_evicted = is_evicted;
  CountRunning(*task, 1);
  Touch(*task);
}

void ClusterState::CountRunning(const Task& task, int64_t sign) {
  if (sign > 0) {
    peers_.Add(task);
  } else {
    peers_.Remove(task);
  }
  if (!task.is_evicted) jobs_.at(task.job)->running_count += sign;
}

void ClusterState::AppendDelta(const Task& task, bool is_repeat) {
  const uint64_t sequence = counters_.next_delta_sequence++;
  const DeltaType type =
      task.is_evicted ? DeltaType::kPreempt : DeltaType::kPlace;
  outbox_.emplace(sequence,
                  Delta{sequence, task.id, type, task.machine, is_repeat});
  deltas_of_task_[task.id].push_back(sequence);
  changes_.deltas.insert(sequence);
  changes_.counters = true;
}

void ClusterState::BeginDelivery(uint64_t sequence) {
  const auto it = outbox_.find(sequence);
  CHECK(it != outbox_.end());
  it->second.is_in_flight = true;
}

void ClusterState::EndDelivery(uint64_t sequence, bool is_delivered) {
  const auto it = outbox_.find(sequence);
  if (it == outbox_.end()) return;
  if (is_delivered) {
    if (it->second.type == DeltaType::kPlace) {
      NoteStarted(FindTask(it->second.task)->job);
    }
    DeleteDelta(sequence);
    return;
  }
  it->second.is_in_flight = false;
  const Delta delta = it->second;  // Deleting others invalidates the iterator.
  // It is to be told again: a repetition that was asked for says the same.
  const auto& sequences = deltas_of_task_.at(delta.task);
  while (sequences.back() != sequence) DeleteDelta(sequences.back());
  if (!FindMachine(delta.machine)->is_present) Revoke(delta);
}

void ClusterState::Revoke(const Delta& delta) {
  Task* task = MutableTask(delta.task);
  if (delta.type == DeltaType::kPreempt && !delta.is_repeat) {
    // It goes on running there, as the others do.
    DeleteDeltas(task->id);
    SetEvicted(task, false);
    return;
  }
  // Also where it is told a second time: its client asked for a machine, and
  // this one is gone.
  Unplace(task);
  EnterQueue(task);
}

void ClusterState::DeleteDelta(uint64_t sequence) {
  const auto it = outbox_.find(sequence);
  const auto of_task = deltas_of_task_.find(it->second.task);
  auto& sequences = of_task->second;
  sequences.erase(std::remove(sequences.begin(), sequences.end(), sequence),
                  sequences.end());
  if (of_task->second.empty()) deltas_of_task_.erase(of_task);
  outbox_.erase(it);
  changes_.deltas.insert(sequence);
}

void ClusterState::DeleteDeltas(TaskId task) {
  const auto it = deltas_of_task_.find(task);
  if (it == deltas_of_task_.end()) return;
  for (const uint64_t sequence : it->second) {
    outbox_.erase(sequence);
    changes_.deltas.insert(sequence);
  }
  deltas_of_task_.erase(it);
}

const Delta* ClusterState::WaitingDelta(TaskId task) const {
  const auto it = deltas_of_task_.find(task);
  if (it == deltas_of_task_.end()) return nullptr;
  const Delta& last = outbox_.at(it->second.back());
  return last.is_in_flight ? nullptr : &last;
}

bool ClusterState::IsUntold(TaskId task) const {
  const Delta* waiting = WaitingDelta(task);
  return waiting != nullptr && waiting->IsUntold();
}

void ClusterState::Withdraw(TaskId id) {
  Task* task = MutableTask(id);
  CHECK(task != nullptr && task->state == TaskState::kRunning && IsUntold(id));
  Unplace(task);
  EnterQueue(task);
}

void ClusterState::Unplace(Task* task) {
  DeleteDeltas(task->id);
  Vacate(task);
  task->state = TaskState::kPending;
  Touch(*task);
}

void ClusterState::Occupy(Task* task, Machine* machine, int32_t pu) {
  task->machine = machine->id;
  task->pu = pu;
  machine->AddLoad(task->class_key.request, task->class_key.rules->host_ports);
  machine->tasks.insert(task->id);
  if (pu != kNoPu) {
    ProcessingUnit& unit = machine->pus[static_cast<size_t>(pu)];
    unit.used += task->class_key.request;
    ++unit.task_count;
  }
  CountRunning(*task, 1);
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

void ClusterState::FreeOldestSharedLoad(Task* task) {
  const SharedLoad load = task->shared_loads.front();
  task->shared_loads.erase(task->shared_loads.begin());
  Machine* machine = MutableMachine(load.machine);
  --machine->shared_load_count;
  machine->ReleasePorts(load.host_ports);
  resources_.Release(load.usage);
  Release(load.usage, machine);
}

void ClusterState::Release(const Resources& load, Machine* machine) {
  const bool is_exact = !machine->used.IsSaturated();
  machine->used -= load;
  if (is_exact) return;
  // A sum that was cut off gives back more than it took: add up anew.
  Resources sum;
  for (const auto& [name, usage] : machine->foreign_pods) sum += usage;
  for (const TaskId id : machine->tasks) {
    sum += FindTask(id)->class_key.request;
  }
  if (machine->shared_load_count > 0) {
    for (const auto& [id, task] : tasks_) {
      for (const SharedLoad& shared : task->shared_loads) {
        if (shared.machine == machine->id) sum += shared.usage;
      }
    }
  }
  machine->used = sum;
}

int32_t ClusterState::RoomiestPu(const Machine& machine,
                                 const Resources& request) const {
  int32_t best = kNoPu;
  std::pair<int64_t, int64_t> best_load;
  for (size_t i = 0; i < machine.pus.size(); ++i) {
    const ProcessingUnit& pu = machine.pus[i];
    const std::pair load(DominantShare(pu.used + request, pu.capacity),
                         pu.task_count);
    if (best == kNoPu || load < best_load) {
      best = static_cast<int32_t>(i);
      best_load = load;
    }
  }
  return best;
}

// ---------------------------------------------------------------------------
// Queue, jobs, look-ups

void ClusterState::LeaveQueue(const Task& task) {
  if (unscheduled_.erase(task.id) == 0) return;
  --jobs_.at(task.job)->pending_count;
  if (!task.IsSchedulable()) return;
  const auto it = pending_.find(task.class_key);
  it->second.erase(task.sequence);
  if (it->second.empty()) pending_.erase(it);
  --pending_count_;
}

void ClusterState::EnterQueue(Task* task) {
  if (!task->IsUnscheduled()) return;
  unscheduled_.insert(task->id);
  ++jobs_.at(task->job)->pending_count;
  if (!task->IsSchedulable()) return;
  auto it = pending_.find(task->class_key);
  if (it == pending_.end()) {
    ClassKey key = task->class_key;
    key.name = class_names_.NameOf(key, resources_);
    it = pending_.emplace(std::move(key), PendingTasks()).first;
    ++pending_arrivals_;
  }
  task->class_key.name = it->first.name;
  it->second.emplace(task->sequence, task);
  ++pending_count_;
}

JobId ClusterState::JobFor(const SubmitTask& command) {
  const auto [it, is_new] = job_ids_.try_emplace(command.job_uuid);
  if (is_new) {
    it->second = {counters_.next_job_id++};
    jobs_.emplace(it->second,
                  std::make_unique<Job>(Job{it->second, command.job_uuid,
                                            command.job_name, command.gang}));
    changes_.jobs.insert(it->second);
    changes_.counters = true;
  }
  ++jobs_.at(it->second)->task_count;
  return it->second;
}

void ClusterState::NoteStarted(JobId id) {
  Job& job = *jobs_.at(id);
  if (job.gang.minimum == 0 || job.was_started) return;
  job.was_started = true;
  changes_.jobs.insert(id);
}

void ClusterState::NoteCompleted(JobId id) {
  Job& job = *jobs_.at(id);
  if (job.gang.minimum == 0) return;
  NoteStarted(id);
  ++job.completed_count;
  changes_.jobs.insert(id);
}

void ClusterState::LeaveJob(JobId id) {
  const auto it = jobs_.find(id);
  if (--it->second->task_count > 0) return;
  job_ids_.erase(it->second->uuid);
  jobs_.erase(it);
  changes_.jobs.insert(id);
}

void ClusterState::Erase(Task* task) {
  const TaskId id = task->id;
  ReleaseLabels(&task->labels);
  resources_.Release(task->class_key.request);
  avoided_owners_.SetOwner(task, Owner());
  rules_.Release(task->class_key.rules);
  peers_.Erase(id);
  removed_.erase(id);
  tasks_.erase(id);
  changes_.tasks.insert(id);
}

void ClusterState::DropMachine(MachineId id) {
  Machine* machine = MutableMachine(id);
  Touch(*machine);
  SetAvoids(machine, {});
  resources_.Release(machine->allocatable);
  resources_.Release(machine->capacity);
  for (const ProcessingUnit& pu : machine->pus) {
    resources_.Release(pu.capacity);
  }
  peers_.Drop(*machine);
  described_machines_[id] = kAllFields;
  no_execute_machines_.erase(id);
  machine_ids_.erase(machine->uuid);
  for (const ProcessingUnit& pu : machine->pus) machine_ids_.erase(pu.uuid);
  for (const std::string& uuid : machine->other_uuids) machine_ids_.erase(uuid);
  departed_.erase(id);
  machines_.erase(id);
}

const Task* ClusterState::FindTask(TaskId id) const {
  return FindIn(tasks_, id);
}

const Job* ClusterState::FindJob(JobId id) const { return FindIn(jobs_, id); }

const Machine* ClusterState::FindMachine(MachineId id) const {
  return FindIn(machines_, id);
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
  Task* task = FindIn(tasks_, id);
  if (task != nullptr) {
    ++counters_.version;
    changes_.counters = true;
  }
  return task;
}

Machine* ClusterState::MutableMachine(MachineId id) {
  Machine* machine = FindIn(machines_, id);
  if (machine != nullptr) {
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
    Task* task = FindIn(tasks_, id);
    LeaveQueue(*task);
    task->class_key.meant_by = peers_.MeaningOf(id);
    task->class_key.name = 0;
    EnterQueue(task);
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
