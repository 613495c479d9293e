// Recovery: rebuilds the state from its records.

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "state/announcements.h"
#include "state/cluster_state.h"
#include "state/machine_commands.h"

namespace sluice {

absl::Status ClusterState::RestoreResourceName(const std::string& name) {
  return resources_.Append(name);
}

absl::Status ClusterState::RestoreFeed(const Feed& feed) {
  if (!feeds_.emplace(feed.id, feed).second) {
    return absl::DataLossError(
        StrCat("feed ", feed.id.value, ": stored twice"));
  }
  return absl::OkStatus();
}

absl::Status ClusterState::RestoreJob(const Job& job) {
  if (!job_ids_.emplace(std::pair(job.is_group, job.uuid), job.id).second ||
      !jobs_.Add(job.id, std::make_unique<Job>(job))) {
    return absl::DataLossError(StrCat("job ", job.id.value, ": stored twice"));
  }
  jobs_.At(job.id).task_count = 0;
  if (!job.group.has_value()) return absl::OkStatus();
  Job* group = jobs_.Find(*job.group);
  if (group == nullptr || !group->is_group) {
    return absl::DataLossError(
        StrCat("job ", job.id.value, ": its group is not stored"));
  }
  ++group->task_count;
  return absl::OkStatus();
}

absl::Status ClusterState::RestoreMachine(
    const Machine& stored, const MachineSpec& spec,
    const std::vector<AddForeignPod>& foreign_pods,
    const std::vector<int64_t>& taints_since_ms) {
  const MachineId id = stored.id;
  auto owned = std::make_unique<Machine>();
  Machine* machine = owned.get();
  machine->id = id;
  machine->uuid = spec.uuid;
  machine->is_present = stored.is_present;
  machine->announcement = stored.announcement;
  machine->feed = stored.feed;
  machine->draining_from = stored.draining_from;
  if (machine->IsDraining()) draining_.insert(id);
  const auto error = [&](std::string_view what) {
    return absl::DataLossError(StrCat("machine ", id.value, ": ", what));
  };
  if (!machines_.Add(id, std::move(owned))) {
    return error("stored twice");
  }
  if (stored.feed != FeedId() && !feeds_.contains(stored.feed)) {
    return error("its feed is not stored");
  }
  const auto is_taken = [&](const std::string& uuid) {
    return machine_ids_.contains(uuid);
  };
  if (is_taken(spec.uuid) ||
      std::ranges::any_of(spec.pus, is_taken, &MachineSpec::Pu::uuid) ||
      std::ranges::any_of(spec.other_uuids, is_taken)) {
    return error("another machine has one of its uuids");
  }
  Describe(machine, spec, /*keep_tree=*/false, 0);
  if (taints_since_ms.size() != machine->taints.size()) {
    return error("the number of its taints differs from that of their times");
  }
  for (size_t i = 0; i < taints_since_ms.size(); ++i) {
    machine->taints[i].since_ms = taints_since_ms[i];
  }
  if (!stored.is_present) departed_.insert(id);
  for (const TaskUid uid : stored.claimed) {
    if (adoptions_.claimants.contains(uid)) {
      return error("another machine runs one of its tasks");
    }
    adoptions_.AddClaim(uid, machine);
  }
  for (const AddForeignPod& pod : foreign_pods) {
    if (foreign_pod_machines_.contains(pod.name) ||
        MachineCommands(0, this).Apply(pod) != Ack::kOk) {
      return error("one of its foreign pods is invalid");
    }
  }
  return absl::OkStatus();
}

absl::Status ClusterState::RestoreTask(const Task& stored,
                                       const TaskSpec& spec) {
  const auto error = [&](std::string_view what) {
    return absl::DataLossError(StrCat("task ", stored.id.value, ": ", what));
  };
  const bool is_removed = stored.state == TaskState::kRemoved;
  if (!is_removed && !jobs_.contains(stored.job)) {
    return error("its job is not stored");
  }
  if (tasks_.contains(stored.id)) return error("stored twice");
  if (stored.client.HoldsUid()) {
    if (FindHolder(stored.client.uid) != nullptr) {
      return error("another task has its uid");
    }
    uids_.Add(stored);
  }
  auto owned = std::make_unique<Task>(stored);
  Task* task = owned.get();
  tasks_.Add(stored.id, std::move(owned));
  requeues_.SetRetry(task, std::exchange(task->retry_ms, 0));
  adoptions_.SetRunsOn(task, std::exchange(task->runs_on, ""));
  if (task->client.IsOfFeed()) {
    const auto feed = feeds_.find(task->client.feed);
    if (feed == feeds_.end()) return error("its feed is not stored");
    if (!feed->second.tasks.emplace(task->client.feed_task_id, task->id)
             .second) {
      return error("another task of its feed has the same id");
    }
    task->client.is_stale = true;  // Until the feed has stated it again.
  }
  // Describe it as waiting, then put it where it was.
  task->state = TaskState::kPending;
  TaskSpec sound = spec;
  sound.quarantine_reason.clear();
  sound.is_template = stored.is_template;
  Describe(task, sound);
  // The first round decides which tasks are held.
  replacements_.SetHeld(task, false);
  task->quarantine_reason = spec.quarantine_reason;
  task->state = stored.state;
  SetName(task, task->name);
  if (is_removed) {
    removed_.insert(task->id);
    return absl::OkStatus();
  }
  ++jobs_.At(stored.job).task_count;
  if (stored.state == TaskState::kRunning) {
    Machine* machine = MutableMachine(stored.machine);
    if (machine == nullptr) return error("its machine is not stored");
    const auto pu_count = static_cast<int64_t>(machine->pus.size());
    if (pu_count == 0 ? stored.pu != kNoPu
                      : stored.pu < 0 || stored.pu >= pu_count) {
      return error("its machine has no such processing unit");
    }
    Occupy(task, machine, stored.pu);
  }
  if (task->is_evicted && (task->state != TaskState::kRunning ||
                           !task->client.earlier_holders.empty())) {
    return error("it was told to leave, but does not run or shares its uid");
  }
  EnterQueue(task);
  return absl::OkStatus();
}

absl::Status ClusterState::RestoreHolders() {
  for (const auto& [id, task] : tasks_) {
    for (const TaskId earlier : task->client.earlier_holders) {
      Task* holder = tasks_.Find(earlier);
      if (holder == nullptr || !holder->client.IsDisplaced() ||
          holder->client.successor.has_value()) {
        return absl::DataLossError(
            StrCat("task ", id.value, ": an earlier holder of its uid, ",
                   earlier.value, ", is not stored as displaced"));
      }
      holder->client.successor = id;
    }
  }
  return absl::OkStatus();
}

absl::Status ClusterState::RestoreLoadOfHolder(TaskId id,
                                               std::optional<MachineId> machine,
                                               const TaskSpec& load) {
  Task* holder = MutableTask(id);
  Task earlier;
  earlier.id = NewTaskId();
  earlier.job = holder->job;
  earlier.sequence = counters_.next_task_sequence++;
  earlier.client.uid = holder->client.uid;
  earlier.client.uid_standing = UidStanding::kDisplaced;
  if (machine.has_value()) {
    earlier.state = TaskState::kRunning;
    earlier.machine = *machine;
    const Machine* on = FindMachine(*machine);
    earlier.pu = on == nullptr ? kNoPu : on->RoomiestPu(Resources());
  }
  if (absl::Status status = RestoreTask(earlier, load); !status.ok()) {
    return status;
  }
  MutableTask(earlier.id)->client.successor = id;
  holder->client.earlier_holders.push_back(earlier.id);
  Touch(*holder);
  return absl::OkStatus();
}

absl::Status ClusterState::RestoreDelta(const Delta& delta) {
  const auto error = [&](std::string_view what) {
    return absl::DataLossError(StrCat("delta ", delta.sequence, " of task ",
                                      delta.task.value, ": ", what));
  };
  const Task* task = FindTask(delta.task);
  if (task == nullptr || task->state != TaskState::kRunning) {
    return error("its task does not run");
  }
  if (task->machine != delta.machine) {
    return error("its task runs elsewhere");
  }
  if ((delta.type != DeltaType::kPlace) != task->is_evicted) {
    return error("its type contradicts the state of its task");
  }
  Delta known = delta;
  known.feed = task->client.feed;
  if (!outbox_.Add(known)) return error("stored twice");
  return absl::OkStatus();
}

void ClusterState::RestoreCounters(const StateCounters& counters) {
  counters_ = counters;
  Announcements(0, this).FindStale();
  counters_ = counters;
  changes_ = ChangeSet();
  // Only now is it known which names are unused.
  resources_.FreeUnused();
  // Nobody knows which deltas arrived, so all are told again.  Those of a
  // machine that went away while they were in flight are undone.  This comes
  // last: a task may have several deltas, and the store must see what ends here
  // as a change.
  std::vector<uint64_t> sequences;
  sequences.reserve(outbox().size());
  for (const auto& [sequence, delta] : outbox()) sequences.push_back(sequence);
  for (const uint64_t sequence : sequences) {
    // The room that was kept for a move is not stored, so a move that nobody
    // was told about is taken back.  For a feed it is not stored what it was
    // told.
    const Delta* delta = outbox_.Find(sequence);
    const bool is_move = delta != nullptr && delta->feed == FeedId() &&
                         delta->type == DeltaType::kMigrate;
    if (is_move && Spare(delta->task)) continue;
    EndDelivery(sequence, /*is_delivered=*/false);
  }
}

}  // namespace sluice
