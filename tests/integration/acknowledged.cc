#include "integration/acknowledged.h"

#include <set>

#include "base/strings.h"
#include "integration/messages.h"

namespace sluice {

using firmament::SchedulingDelta;

void Acknowledged::AddMachine(const std::string& uuid, int64_t cpu) {
  machines_[uuid] = cpu;
  machine_of_resource_[PuOf(uuid)] = uuid;
}

void Acknowledged::AddTask(uint64_t uid, int64_t cpu) {
  tasks_[uid] = {.cpu = cpu};
}

void Acknowledged::TaskEnded(uint64_t uid) {
  tasks_.at(uid).has_ended = true;
  tasks_.at(uid).machine = "";
}

void Acknowledged::TaskRemoved(uint64_t uid) { tasks_.erase(uid); }

void Acknowledged::Decided(const firmament::SchedulingDeltas& reply) {
  for (const SchedulingDelta& delta : reply.deltas()) {
    if (!tasks_.contains(delta.task_id())) {
      errors_.push_back(StrCat("told of task ", delta.task_id(),
                               ", which is not or no longer there"));
    } else if (delta.type() == SchedulingDelta::PLACE) {
      Placed(delta.task_id(), delta.resource_id());
    } else {
      ToldToLeave(delta.task_id());
    }
  }
  for (const uint64_t uid : reply.unscheduled_tasks()) {
    if (!tasks_.contains(uid)) {
      errors_.push_back(StrCat("task ", uid, " waits, and is not there"));
    } else if (!tasks_.at(uid).machine.empty()) {
      errors_.push_back(StrCat("task ", uid, " waits, and was placed on ",
                               tasks_.at(uid).machine));
    }
  }
}

void Acknowledged::Placed(uint64_t uid, const std::string& resource) {
  Task& task = tasks_.at(uid);
  const auto found = machine_of_resource_.find(resource);
  if (found == machine_of_resource_.end()) {
    errors_.push_back(StrCat("task ", uid, " is placed on ", resource,
                             ", which is not there"));
    return;
  }
  const std::string& machine = found->second;
  if (task.has_ended) {
    errors_.push_back(StrCat("task ", uid, " is placed, and has ended"));
  }
  // Of the same place a client may be told twice.
  if (task.machine == machine) return;
  if (!task.machine.empty()) {
    errors_.push_back(StrCat("task ", uid, " was placed on ", task.machine,
                             " and is placed on ", machine));
  }
  task.machine = machine;
  ++placements_;
  int64_t used = 0;
  for (const auto& [other_uid, other] : tasks_) {
    if (other.machine == machine) used += other.cpu;
  }
  if (used > machines_.at(machine)) {
    errors_.push_back(StrCat(machine, " has ", machines_.at(machine),
                             " millicores, and by placing task ", uid, " ",
                             used, " are taken"));
  }
}

void Acknowledged::ToldToLeave(uint64_t uid) {
  Task& task = tasks_.at(uid);
  if (task.machine.empty()) {
    errors_.push_back(StrCat("task ", uid, " is to leave, and runs nowhere"));
  }
  task.leaves = true;
}

void Acknowledged::Compare(const std::vector<v1::Machine>& machines,
                           const std::vector<v1::Task>& tasks) {
  std::set<std::string> known_machines;
  for (const v1::Machine& machine : machines) {
    known_machines.insert(machine.uuid());
    if (!machines_.contains(machine.uuid())) {
      errors_.push_back(
          StrCat("machine ", machine.uuid(), " was not acknowledged"));
    }
  }
  for (const auto& [uuid, cpu] : machines_) {
    if (known_machines.contains(uuid)) continue;
    errors_.push_back(StrCat("machine ", uuid, " was acknowledged, is lost"));
  }
  std::set<uint64_t> known_tasks;
  std::map<std::string, int64_t> used;
  for (const v1::Task& task : tasks) {
    known_tasks.insert(task.uid());
    CompareTask(task);
    if (task.state() == v1::Task::RUNNING) {
      used[task.machine_uuid()] += task.request().cpu_millicores();
    }
  }
  for (const auto& [uid, task] : tasks_) {
    if (known_tasks.contains(uid)) continue;
    errors_.push_back(StrCat("task ", uid, " was acknowledged, and is lost"));
  }
  for (const auto& [uuid, cpu] : used) {
    if (cpu <= machines_[uuid]) continue;
    errors_.push_back(StrCat(uuid, " has ", machines_[uuid],
                             " millicores, and ", cpu, " are taken"));
  }
}

void Acknowledged::CompareTask(const v1::Task& task) {
  const auto found = tasks_.find(task.uid());
  if (found == tasks_.end()) {
    errors_.push_back(StrCat("task ", task.uid(), " is there, and was removed",
                             " or never acknowledged"));
    return;
  }
  const bool has_ended = task.state() == v1::Task::COMPLETED;
  const Task& known = found->second;
  if (has_ended != known.has_ended) {
    errors_.push_back(StrCat(
        "task ", task.uid(), " is ", v1::Task::State_Name(task.state()),
        ", and its end", known.has_ended ? " was acknowledged" : " not"));
  }
  if (!known.machine.empty() && known.machine != task.machine_uuid()) {
    errors_.push_back(StrCat(
        "task ", task.uid(), " was placed on ", known.machine, ", and is ",
        v1::Task::State_Name(task.state()), " on '", task.machine_uuid(), "'"));
  }
  if (known.leaves && !task.evicted() && !known.has_ended) {
    errors_.push_back(StrCat("task ", task.uid(), " was told to leave, and ",
                             "that is forgotten"));
  }
  if (known.cpu != task.request().cpu_millicores()) {
    errors_.push_back(StrCat("task ", task.uid(), " asks for another amount"));
  }
}

}  // namespace sluice
