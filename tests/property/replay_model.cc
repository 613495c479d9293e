#include "property/replay_model.h"

#include <glog/logging.h>

#include <algorithm>
#include <set>
#include <variant>

#include "base/strings.h"

namespace sluice {

void ReplayModel::End(TaskUid id) {
  cluster_.tasks.erase(id.value);
  requests_.erase(id.value);
}

void ReplayModel::Describe(const MachineSpec& spec) {
  cluster_.machines[spec.uuid] = {{spec.name, spec.labels, spec.taints}};
  allocatable_[spec.uuid] =
      Amounts(spec.allocatable.begin(), spec.allocatable.end());
}

void ReplayModel::Apply(const Command& command) {
  if (const auto* submit = std::get_if<SubmitTask>(&command)) {
    const TaskSpec& spec = submit->spec;
    CHECK(!cluster_.tasks.contains(submit->uid.value));
    cluster_.tasks[submit->uid.value] = {
        .job = submit->job_name,
        .task_namespace = spec.task_namespace,
        .labels = spec.labels,
        .namespace_labels = spec.namespace_labels,
        .rules = spec.rules};
    Amounts& request = requests_[submit->uid.value];
    request = Amounts(spec.request.begin(), spec.request.end());
    request["pods"] = 1;
  } else if (const auto* update = std::get_if<UpdateTask>(&command)) {
    PeerTask& task = cluster_.tasks.at(update->uid.value);
    task.labels = update->spec.labels;
    task.rules = update->spec.rules;
  } else if (const auto* complete = std::get_if<CompleteTask>(&command)) {
    End(complete->uid);
  } else if (const auto* fail = std::get_if<FailTask>(&command)) {
    End(fail->uid);
  } else if (const auto* remove_task = std::get_if<RemoveTask>(&command)) {
    End(remove_task->uid);
  } else if (const auto* add = std::get_if<AddMachine>(&command)) {
    Describe(add->spec);
  } else if (const auto* change = std::get_if<UpdateMachine>(&command)) {
    Describe(change->spec);
  } else if (const auto* remove = std::get_if<RemoveMachine>(&command)) {
    cluster_.machines.at(remove->uuid).is_usable = false;
    if (remove->has_failed) LoseTasksOf(remove->uuid);
  } else {
    LOG(FATAL) << "the model knows no such command";
  }
}

void ReplayModel::LoseTasksOf(const std::string& machine) {
  std::vector<uint64_t> left;
  for (auto& [uid, task] : cluster_.tasks) {
    if (task.machine != machine) continue;
    if (task.is_terminating) {
      left.push_back(uid);
    } else {
      task.machine.clear();
    }
  }
  for (const uint64_t uid : left) End({uid});
}

std::string ReplayModel::Replay(const ScheduleReply& reply) {
  std::vector<uint64_t> early;
  for (const ScheduleReply::Entry& entry : reply.deltas) {
    const auto here = [&](const std::string& what) {
      return StrCat("task ", entry.uid.value, " on ", entry.resource_id, ": ",
                    what);
    };
    const auto it = cluster_.tasks.find(entry.uid.value);
    if (it == cluster_.tasks.end()) return here("it is not known");
    PeerTask& task = it->second;
    if (entry.type == DeltaType::kPlace) {
      if (!task.machine.empty()) return here("placed, but it runs");
      if (!cluster_.machines.contains(entry.resource_id)) {
        return here("there is no such machine");
      }
      std::string why = WhyNot(entry.uid.value, entry.resource_id);
      if (why == kNoSuchPeer) {
        early.push_back(entry.uid.value);
        // All else has to hold by then.
        const auto affinity = std::exchange(task.rules.affinity, {});
        why = WhyNot(entry.uid.value, entry.resource_id);
        task.rules.affinity = affinity;
      }
      if (!why.empty()) return here(why);
      task.machine = entry.resource_id;
    } else if (entry.type == DeltaType::kPreempt) {
      if (task.machine != entry.resource_id || task.is_terminating) {
        return here("preempted, but it is not there to be");
      }
      task.is_terminating = true;
    } else {
      return here("neither placed nor preempted");
    }
  }
  for (const uint64_t uid : early) {
    if (std::string wrong = WhyNoCompanions(uid, reply); !wrong.empty()) {
      return StrCat("task ", uid, ": ", wrong);
    }
  }
  std::vector<uint64_t> named;
  for (const TaskUid id : reply.unscheduled) named.push_back(id.value);
  std::ranges::sort(named);
  return named == Waiting() ? "" : "the reply names other tasks as waiting";
}

std::string ReplayModel::WhyNoCompanions(uint64_t uid,
                                         const ScheduleReply& reply) {
  PeerTask& task = cluster_.tasks.at(uid);
  const std::string machine = std::exchange(task.machine, "");
  const PlacementRules rules = std::exchange(task.rules, {});
  task.rules.affinity = rules.affinity;
  const std::string why = WhyPeersForbid(cluster_, task, machine);
  task.rules = rules;
  task.machine = machine;
  if (!why.empty()) return why;
  const bool has_any =
      std::ranges::any_of(reply.deltas, [&](const ScheduleReply::Entry& entry) {
        const PeerTask& other = cluster_.tasks.at(entry.uid.value);
        return entry.uid.value != uid && !other.rules.affinity.empty() &&
               Means(task.rules.affinity.front().tasks, other);
      });
  return has_any ? "" : "what it must be near could have come before it";
}

std::string ReplayModel::WhyNot(uint64_t uid,
                                const std::string& machine) const {
  const PeerTask& task = cluster_.tasks.at(uid);
  const PeerMachine& target = cluster_.machines.at(machine);
  if (!target.is_usable) return "the machine is gone";
  if (!ShouldAllow(task.rules, target.description)) return "rules about nodes";
  Amounts free = allocatable_.at(machine);
  for (const auto& [other_uid, other] : cluster_.tasks) {
    if (other.machine != machine) continue;
    for (const auto& [name, amount] : requests_.at(other_uid)) {
      free[name] -= amount;
    }
    for (const HostPort& used : other.rules.host_ports) {
      for (const HostPort& port : task.rules.host_ports) {
        if (ShouldConflict(port, used)) return "host ports";
      }
    }
  }
  for (const auto& [name, amount] : requests_.at(uid)) {
    if (amount > 0 && amount > free[name]) return "too little " + name;
  }
  return WhyPeersForbid(cluster_, task, machine);
}

bool ReplayModel::FitsSomewhere(uint64_t uid) const {
  return std::ranges::any_of(cluster_.machines, [&](const auto& entry) {
    return WhyNot(uid, entry.first).empty();
  });
}

std::vector<uint64_t> ReplayModel::Waiting() const {
  std::vector<uint64_t> waiting;
  for (const auto& [uid, task] : cluster_.tasks) {
    if (task.machine.empty()) waiting.push_back(uid);
  }
  return waiting;
}

std::vector<uint64_t> ReplayModel::Running() const {
  std::vector<uint64_t> running;
  for (const auto& [uid, task] : cluster_.tasks) {
    if (!task.machine.empty()) running.push_back(uid);
  }
  return running;
}

}  // namespace sluice
