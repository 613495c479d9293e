#include "property/cluster_model.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"

namespace sluice {
namespace {

ClusterModel::Amounts ToAmounts(const NamedAmounts& named) {
  ClusterModel::Amounts amounts;
  for (const auto& [name, amount] : named) amounts[name] += amount;
  return amounts;
}

void Add(const ClusterModel::Amounts& more, ClusterModel::Amounts* sum) {
  for (const auto& [name, amount] : more) (*sum)[name] += amount;
}

}  // namespace

Ack ClusterModel::Apply(const Command& command) {
  return std::visit([&](const auto& one) { return ApplyOne(one); }, command);
}

// ---------------------------------------------------------------------------
// Tasks

ClusterModel::Task* ClusterModel::Live(TaskUid id) {
  const auto it = tasks_.find(id);
  if (it == tasks_.end() || it->second.phase == Phase::kTombstone) {
    return nullptr;
  }
  return &it->second;
}

void ClusterModel::Describe(Task* task, const TaskSpec& spec) {
  task->name = spec.name;
  task->is_sound = spec.quarantine_reason.empty();
  if (!task->is_sound) return;
  task->priority = spec.priority;
  task->request = ToAmounts(spec.request);
  task->request["pods"] = 1;
  task->rules = spec.rules;
}

void ClusterModel::Unplace(Task* task) {
  task->phase = Phase::kWaiting;
  task->machine.clear();
  task->reports.clear();
  task->is_owed_report = false;
  task->is_told = false;
}

std::optional<ClusterModel::Task> ClusterModel::TakeOut(const std::string& name,
                                                        TaskUid except) {
  if (name.find('/') == std::string::npos) return std::nullopt;
  const auto is_meant = [&](const Task& task) {
    return task.name == name &&
           (task.phase == Phase::kWaiting || task.phase == Phase::kPlaced);
  };
  const auto take = [&](std::vector<Task>* tasks) -> std::optional<Task> {
    const auto it = std::ranges::find_if(*tasks, is_meant);
    if (it == tasks->end()) return std::nullopt;
    Task task = *it;
    tasks->erase(it);
    return task;
  };
  if (tasks_.contains(except) && is_meant(tasks_.at(except))) {
    return std::nullopt;
  }
  if (auto task = take(&unclaimed_)) return task;
  for (auto it = tasks_.begin(); it != tasks_.end(); ++it) {
    if (auto task = take(&it->second.earlier)) {
      --it->second.removals;
      return task;
    }
    if (!is_meant(it->second)) continue;
    Task task = it->second;
    tasks_.erase(it);
    for (const Task& earlier : task.earlier) unclaimed_.push_back(earlier);
    task.earlier.clear();
    return task;
  }
  return std::nullopt;
}

void ClusterModel::ForEach(
    const std::function<void(const Task&)>& visit) const {
  for (const auto& [id, task] : tasks_) {
    visit(task);
    for (const Task& earlier : task.earlier) visit(earlier);
  }
  for (const Task& task : unclaimed_) visit(task);
}

Ack ClusterModel::ApplyOne(const SubmitTask& command) {
  std::optional<Task> known_name = TakeOut(command.spec.name, command.uid);
  Task* known = Live(command.uid);
  if (known != nullptr && !known_name.has_value() &&
      known->name == command.spec.name) {
    Task& task = *known;
    ++task.removals;
    task.is_muted = false;
    if (task.phase != Phase::kPlaced) {
      task.phase = Phase::kWaiting;
    } else if (!IsUsable(task.machine)) {
      Unplace(&task);
    } else {
      task.is_owed_report = std::ranges::all_of(
          task.reports,
          [](const auto& entry) { return entry.second.is_in_flight; });
    }
    Describe(&task, command.spec);
    return Ack::kOk;
  }
  Task task;
  if (known_name.has_value()) {
    task = *known_name;
    task.reports.clear();
    task.is_owed_report = task.phase == Phase::kPlaced;
    if (task.is_owed_report && !IsUsable(task.machine)) Unplace(&task);
  }
  task.removals = 1;
  task.is_muted = false;
  if (const auto it = tasks_.find(command.uid); it != tasks_.end()) {
    task.removals += it->second.removals;
    if (known != nullptr) {
      task.earlier = std::exchange(known->earlier, {});
      task.earlier.push_back(*known);
      Task& displaced = task.earlier.back();
      if (displaced.phase == Phase::kPlaced && !displaced.is_told) {
        Unplace(&displaced);
      }
      displaced.reports.clear();
      displaced.is_owed_report = false;
    }
  }
  Describe(&task, command.spec);
  tasks_[command.uid] = std::move(task);
  return Ack::kOk;
}

Ack ClusterModel::ApplyOne(const UpdateTask& command) {
  Task* task = Live(command.uid);
  if (task == nullptr) return Ack::kNotFound;
  if (!task->earlier.empty() && task->name != command.spec.name)
    return Ack::kOk;
  Describe(task, command.spec);
  return Ack::kOk;
}

Ack ClusterModel::End(TaskUid id) {
  Task* task = Live(id);
  if (task == nullptr) return Ack::kNotFound;
  if (!task->earlier.empty()) return Ack::kOk;
  Unplace(task);
  task->phase = Phase::kEnded;
  return Ack::kOk;
}

Ack ClusterModel::ApplyOne(const RemoveTask& command) {
  const auto it = tasks_.find(command.uid);
  if (it == tasks_.end()) return Ack::kNotFound;
  Task& task = it->second;
  --task.removals;
  if (task.phase != Phase::kTombstone) {
    if (!task.earlier.empty()) {
      // Whether nobody is known to have been told.
      const bool is_unconfirmed = !task.reports.empty() &&
                                  !task.reports.rbegin()->second.is_in_flight &&
                                  !task.reports.rbegin()->second.is_repeat;
      if (task.phase == Phase::kPlaced && is_unconfirmed) Unplace(&task);
      task.reports.clear();
      task.is_muted = true;
      // It may have been the removal of one that holds nothing.
      const auto idle = std::ranges::find_if(
          task.earlier, [](const Task& one) { return one.machine.empty(); });
      task.earlier.erase(idle == task.earlier.end() ? task.earlier.begin()
                                                    : idle);
      return Ack::kOk;
    }
    Unplace(&task);
    task.phase = Phase::kTombstone;
  }
  if (task.removals == 0) tasks_.erase(it);
  return Ack::kOk;
}

Ack ClusterModel::ApplyOne(const ReportTaskUsage& command) {
  return Live(command.uid) == nullptr ? Ack::kNotFound : Ack::kOk;
}

// ---------------------------------------------------------------------------
// Machines

bool ClusterModel::IsUsable(const std::string& uuid) const {
  const auto it = machines_.find(uuid);
  return it != machines_.end() && it->second.is_present && it->second.is_sound;
}

void ClusterModel::Describe(Machine* machine, const MachineSpec& spec) {
  machine->description = {spec.name, spec.labels, spec.taints};
  const bool is_silent = spec.allocatable.empty() && spec.capacity.empty();
  if (!spec.quarantine_reason.empty()) {
    machine->is_sound = false;
  } else if (!is_silent) {
    machine->is_sound = true;
  }
  if (is_silent) return;
  machine->allocatable = ToAmounts(spec.allocatable);
}

Ack ClusterModel::ApplyOne(const AddMachine& command) {
  const auto it = machines_.find(command.spec.uuid);
  if (it != machines_.end() && it->second.is_present) {
    return Ack::kAlreadyExists;
  }
  Machine& machine = machines_[command.spec.uuid] = Machine();
  Describe(&machine, command.spec);
  machine.allocatable = ToAmounts(command.spec.allocatable);
  for (const auto& pu : command.spec.pus) machine.resource_ids.insert(pu.uuid);
  if (command.spec.pus.empty()) machine.resource_ids = {command.spec.uuid};
  return Ack::kOk;
}

Ack ClusterModel::ApplyOne(const UpdateMachine& command) {
  const auto it = machines_.find(command.spec.uuid);
  if (it == machines_.end()) return Ack::kNotFound;
  Describe(&it->second, command.spec);
  return Ack::kOk;
}

Ack ClusterModel::ApplyOne(const RemoveMachine& command) {
  const auto it = machines_.find(command.uuid);
  if (it == machines_.end()) return Ack::kNotFound;
  if (!it->second.is_present) return Ack::kOk;
  it->second.is_present = false;
  for (auto& [id, task] : tasks_) {
    if (task.phase != Phase::kPlaced || task.machine != command.uuid) continue;
    const bool has_queued = std::ranges::any_of(
        task.reports,
        [](const auto& entry) { return !entry.second.is_in_flight; });
    if (has_queued) Unplace(&task);
  }
  return Ack::kOk;
}

Ack ClusterModel::ApplyOne(const AddForeignPod& command) {
  if (!machines_.contains(command.machine_uuid)) return Ack::kNotFound;
  Amounts usage = ToAmounts(command.usage);
  usage["pods"] = 1;
  foreign_pods_[command.name] = {command.machine_uuid, std::move(usage)};
  return Ack::kOk;
}

Ack ClusterModel::ApplyOne(const RemoveForeignPod& command) {
  const auto it = foreign_pods_.find(command.name);
  if (it == foreign_pods_.end()) return Ack::kNotFound;
  if (!command.machine_uuid.empty() &&
      command.machine_uuid != it->second.first) {
    return Ack::kNotFound;
  }
  foreign_pods_.erase(it);
  return Ack::kOk;
}

Ack ClusterModel::ApplyOne(const ReportMachineUsage& command) {
  return machines_.contains(command.machine_uuid) ? Ack::kOk : Ack::kNotFound;
}

ClusterModel::Amounts ClusterModel::LoadOf(const std::string& uuid) const {
  Amounts load;
  ForEach([&](const Task& task) {
    if (task.machine == uuid) Add(task.request, &load);
  });
  for (const auto& [name, pod] : foreign_pods_) {
    if (pod.first == uuid) Add(pod.second, &load);
  }
  return load;
}

std::vector<HostPort> ClusterModel::HostPortsOn(const std::string& uuid) const {
  std::vector<HostPort> ports;
  ForEach([&](const Task& task) {
    if (task.machine != uuid) return;
    const std::vector<HostPort>& more = task.rules.host_ports;
    ports.insert(ports.end(), more.begin(), more.end());
  });
  return ports;
}

bool ClusterModel::Fits(const Task& task, const std::string& uuid) const {
  const Machine& machine = machines_.at(uuid);
  if (!ShouldAllow(task.rules, machine.description)) return false;
  for (const HostPort& port : task.rules.host_ports) {
    for (const HostPort& used : HostPortsOn(uuid)) {
      if (ShouldConflict(port, used)) return false;
    }
  }
  Amounts load = LoadOf(uuid);
  Amounts allocatable = machine.allocatable;
  return std::ranges::all_of(task.request, [&](const auto& entry) {
    return entry.second <= 0 ||
           load[entry.first] + entry.second <= allocatable[entry.first];
  });
}

// ---------------------------------------------------------------------------
// What the scheduler does

void ClusterModel::Fail(TaskUid id, const std::string& what) {
  errors_.push_back(StrCat("task ", id.value, ": ", what));
}

void ClusterModel::Decide(TaskUid uid, const Delta& delta,
                          const std::string& uuid) {
  const auto it = tasks_.find(uid);
  if (it == tasks_.end()) return Fail(uid, "placed, but not known");
  Task& task = it->second;
  if (task.is_owed_report) {
    if (task.machine != uuid) Fail(uid, "reported again elsewhere");
    task.is_owed_report = false;
    task.reports[delta.sequence] = {.is_repeat = task.is_told};
    return;
  }
  ++decisions_;
  if (task.phase != Phase::kWaiting) {
    return Fail(uid, "placed, but it does not wait");
  }
  if (!task.is_sound || task.is_muted) {
    return Fail(uid, "placed, but it may not be");
  }
  if (!IsUsable(uuid)) return Fail(uid, "placed on " + uuid);
  if (!Fits(task, uuid)) {
    Fail(uid, StrCat("may not run on ", uuid));
  }
  task.phase = Phase::kPlaced;
  task.machine = uuid;
  task.is_told = false;
  task.reports[delta.sequence] = {};
}

void ClusterModel::FindWithdrawals(const ClusterState& state,
                                   bool is_in_round) {
  for (auto& [id, task] : tasks_) {
    const bool is_complete =
        std::ranges::all_of(task.reports, [&](const auto& entry) {
          return state.outbox().contains(entry.first);
        });
    if (is_complete) continue;
    ++withdrawals_;
    if (!is_in_round) Fail(id, "its report is lost");
    if (task.is_told) Fail(id, "withdrawn, though its client may know");
    Unplace(&task);
  }
}

void ClusterModel::ObserveOutbox(const ClusterState& state, bool is_in_round) {
  FindWithdrawals(state, is_in_round);
  for (const auto& [sequence, delta] : state.outbox()) {
    if (sequence < sequence_end_) continue;
    sequence_end_ = sequence + 1;
    const TaskUid uid = state.FindTask(delta.task)->client.uid;
    if (delta.type != DeltaType::kPlace) Fail(uid, "not placed");
    Decide(uid, delta, state.FindMachine(delta.machine)->uuid);
  }
  size_t reports = 0;
  for (const auto& [id, task] : tasks_) {
    reports += task.reports.size();
    if (task.is_owed_report) Fail(id, "not reported again");
  }
  if (reports != state.outbox().size()) {
    errors_.push_back(
        StrCat(reports, " deltas should wait, ", state.outbox().size(), " do"));
  }
}

void ClusterModel::ObserveEndOfRound() {
  for (const auto& [id, task] : tasks_) {
    if (task.phase != Phase::kWaiting || !task.is_sound || task.is_muted) {
      continue;
    }
    for (const auto& [uuid, machine] : machines_) {
      if (IsUsable(uuid) && Fits(task, uuid)) {
        Fail(id, StrCat("waits, but fits on ", uuid));
      }
    }
  }
}

void ClusterModel::ObserveReply(const ScheduleReply& reply, bool is_limited) {
  std::set<uint64_t> told;
  for (const ScheduleReply::Entry& entry : reply.deltas) {
    told.insert(entry.sequence);
    const auto it = tasks_.find(entry.uid);
    if (it == tasks_.end() || !it->second.reports.contains(entry.sequence)) {
      Fail(entry.uid, "reported, but there is nothing to report");
      continue;
    }
    Task& task = it->second;
    const Machine& machine = machines_.at(task.machine);
    if (!machine.is_present) Fail(entry.uid, "reported on a lost machine");
    if (!machine.resource_ids.contains(entry.resource_id)) {
      Fail(entry.uid, StrCat("reported on ", entry.resource_id));
    }
    task.reports[entry.sequence].is_in_flight = true;
    task.is_told = true;
    in_flight_.push_back(entry.sequence);
  }
  const uint64_t last_told = told.empty() ? 0 : *told.rbegin();
  std::set<TaskUid> waiting;
  for (const auto& [id, task] : tasks_) {
    for (const auto& [sequence, report] : task.reports) {
      if (told.contains(sequence)) continue;
      if (!is_limited || sequence < last_told) Fail(id, "not reported");
    }
    if (task.phase == Phase::kWaiting && !task.is_muted) waiting.insert(id);
  }
  const std::set<TaskUid> named(reply.unscheduled.begin(),
                                reply.unscheduled.end());
  if (named.size() != reply.unscheduled.size() ||
      !(is_limited ? std::ranges::includes(waiting, named)
                   : waiting == named)) {
    errors_.push_back("the reply names other tasks as unscheduled");
  }
}

void ClusterModel::ObserveEndOfReply(bool is_delivered) {
  for (auto& [id, task] : tasks_) {
    for (const uint64_t sequence : in_flight_) {
      const auto it = task.reports.find(sequence);
      if (it == task.reports.end()) continue;
      if (is_delivered) {
        task.reports.erase(it);
        continue;
      }
      // It is told again, once; nothing later needs to say the same.
      const bool is_repeat = it->second.is_repeat;
      task.reports = {{sequence, {.is_repeat = is_repeat}}};
      // It may have arrived all the same.
      task.is_told = true;
      if (!machines_.at(task.machine).is_present) Unplace(&task);
    }
  }
  in_flight_.clear();
}

void ClusterModel::ObserveState(const ClusterState& state) {
  int64_t pending = 0;
  for (const auto& [id, task] : tasks_) {
    const sluice::Task* actual = state.FindHolder(id);
    if (actual == nullptr) {
      Fail(id, "lost");
      continue;
    }
    static const std::map<Phase, std::set<TaskState>> kStates = {
        {Phase::kWaiting, {TaskState::kPending}},
        {Phase::kPlaced, {TaskState::kRunning}},
        {Phase::kEnded, {TaskState::kCompleted, TaskState::kFailed}},
        {Phase::kTombstone, {TaskState::kRemoved}}};
    if (!kStates.at(task.phase).contains(actual->state)) {
      Fail(id, "in another state");
    }
    if (task.phase == Phase::kPlaced &&
        state.FindMachine(actual->machine)->uuid != task.machine) {
      Fail(id, "elsewhere");
    }
    pending += task.phase == Phase::kWaiting && task.is_sound && !task.is_muted;
  }
  size_t tasks = 0;
  ForEach([&](const Task&) { ++tasks; });
  // No client of the model begins anew, so guesses are final.
  const auto guessed = std::ranges::count_if(
      state.tasks(),
      [](const auto& one) { return one.second->IsRemovedByGuess(); });
  if (state.tasks().size() - static_cast<size_t>(guessed) != tasks) {
    errors_.push_back("there are more tasks than there should be");
  }
  if (state.pending_count() != pending) {
    errors_.push_back(StrCat(pending, " tasks should be pending, ",
                             state.pending_count(), " are"));
  }
  for (const auto& [uuid, machine] : machines_) {
    const Amounts used =
        ToAmounts(state.ToNamed(state.FindMachine(uuid)->used));
    Amounts load = LoadOf(uuid);
    std::erase_if(load, [](const auto& entry) { return entry.second == 0; });
    if (used != load) {
      errors_.push_back(StrCat("machine ", uuid, ": its load is another"));
    }
    std::vector<HostPort> ports = HostPortsOn(uuid);
    std::ranges::sort(ports);
    if (state.FindMachine(uuid)->used_host_ports != ports) {
      errors_.push_back(StrCat("machine ", uuid, ": its ports are others"));
    }
  }
}

}  // namespace sluice
