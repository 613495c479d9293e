// Messages of the contract as the bridge sends them, in a line each.
//
// Amounts are in the units of the wire: millicores, bytes x 1000.

#ifndef SLUICE_TESTS_INTEGRATION_MESSAGES_H_
#define SLUICE_TESTS_INTEGRATION_MESSAGES_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "firmament/firmament_scheduler.pb.h"

namespace sluice {

// One requirement of a term: {"disk", "In", {"ssd"}}.
struct RequirementFields {
  std::string key;
  std::string op;
  std::vector<std::string> values = {};
};

inline firmament::NodeSelectorTerm TermMessage(
    const std::vector<RequirementFields>& expressions) {
  firmament::NodeSelectorTerm term;
  for (const RequirementFields& fields : expressions) {
    firmament::NodeSelectorRequirement* requirement =
        term.add_matchexpressions();
    requirement->set_key(fields.key);
    requirement->set_operator_(fields.op);
    for (const std::string& value : fields.values) {
      requirement->add_values(value);
    }
  }
  return term;
}

inline firmament::Toleration TolerationMessage(const std::string& key,
                                               const std::string& op,
                                               const std::string& value,
                                               const std::string& effect) {
  firmament::Toleration toleration;
  toleration.set_key(key);
  toleration.set_operator_(op);
  toleration.set_value(value);
  toleration.set_effect(effect);
  return toleration;
}

inline firmament::Taint TaintMessage(const std::string& key,
                                     const std::string& value,
                                     const std::string& effect) {
  firmament::Taint taint;
  taint.set_key(key);
  taint.set_value(value);
  taint.set_effect(effect);
  return taint;
}

// The tolerations that Kubernetes gives every pod.  The seconds that they hold
// are not told.
inline std::vector<firmament::Toleration> DefaultTolerations() {
  return {TolerationMessage("node.kubernetes.io/not-ready", "Exists", "",
                            "NoExecute"),
          TolerationMessage("node.kubernetes.io/unreachable", "Exists", "",
                            "NoExecute")};
}

struct TaskFields {
  float cpu = 0;
  uint64_t ram = 0;
  std::string job = "job";
  std::string name = {};  // "ns/pod-<uid>" where empty.
  std::map<std::string, std::string> node_selector = {};
  std::vector<firmament::NodeSelectorTerm> required = {};
  // With their weights.
  std::vector<std::pair<int, firmament::NodeSelectorTerm>> preferred = {};
  std::vector<firmament::Toleration> tolerations = {};
  std::vector<int> host_ports = {};
  std::map<std::string, std::string> labels = {};
  firmament::PodAffinity pod_affinity = {};
  firmament::PodAntiAffinity pod_anti_affinity = {};
  uint64_t gang_minimum = 0;  // Of its job; 0: no gang.
  uint32_t priority = 0;
};

inline firmament::TaskDescription TaskMessage(uint64_t uid,
                                              const TaskFields& fields = {}) {
  firmament::TaskDescription description;
  firmament::TaskDescriptor* task = description.mutable_task_descriptor();
  task->set_uid(uid);
  task->set_name(fields.name.empty() ? StrCat("ns/pod-", uid) : fields.name);
  task->set_namespace_("ns");
  task->set_job_id(fields.job);
  task->set_priority(fields.priority);
  task->mutable_resource_request()->set_cpu_cores(fields.cpu);
  task->mutable_resource_request()->set_ram_cap(fields.ram);
  for (const auto& [key, value] : fields.node_selector) {
    firmament::LabelSelector* selector = task->add_label_selectors();
    selector->set_key(key);
    selector->add_values(value);
  }
  if (!fields.required.empty() || !fields.preferred.empty()) {
    // The bridge sends `required` empty where there are preferences alone.
    firmament::NodeAffinity* affinity =
        task->mutable_affinity()->mutable_node_affinity();
    auto* required =
        affinity->mutable_requiredduringschedulingignoredduringexecution();
    for (const auto& term : fields.required) {
      *required->add_nodeselectorterms() = term;
    }
    for (const auto& [weight, term] : fields.preferred) {
      auto* preferred =
          affinity->add_preferredduringschedulingignoredduringexecution();
      preferred->set_weight(weight);
      *preferred->mutable_preference() = term;
    }
  }
  // The bridge sends only the parts of an affinity that a pod has.
  if (fields.pod_affinity.ByteSizeLong() > 0) {
    *task->mutable_affinity()->mutable_pod_affinity() = fields.pod_affinity;
  }
  if (fields.pod_anti_affinity.ByteSizeLong() > 0) {
    *task->mutable_affinity()->mutable_pod_anti_affinity() =
        fields.pod_anti_affinity;
  }
  for (const auto& [key, value] : fields.labels) {
    firmament::Label* label = task->add_labels();
    label->set_key(key);
    label->set_value(value);
  }
  task->mutable_toleration()->Assign(fields.tolerations.begin(),
                                     fields.tolerations.end());
  for (const int port : fields.host_ports) {
    task->add_host_ports()->set_port(port);
  }
  description.mutable_job_descriptor()->set_uuid(fields.job);
  description.mutable_job_descriptor()->set_name(fields.job);
  description.mutable_job_descriptor()->set_state(
      firmament::JobDescriptor::CREATED);
  if (fields.gang_minimum > 0) {
    description.mutable_job_descriptor()->set_is_gang_scheduling_job(true);
    description.mutable_job_descriptor()->set_min_number_of_tasks(
        fields.gang_minimum);
  }
  return description;
}

// Of one whose owner makes a successor once it has ended.
inline firmament::TaskDescription OwnedTaskMessage(uint64_t uid,
                                                   const TaskFields& fields) {
  firmament::TaskDescription description = TaskMessage(uid, fields);
  firmament::TaskDescriptor* task = description.mutable_task_descriptor();
  task->set_owner_ref_kind("ReplicaSet");
  task->set_owner_ref_uid(fields.job);
  return description;
}

struct NodeFields {
  float cpu = 4000;
  uint64_t ram = uint64_t{1} << 50;
  uint64_t max_pods = 110;
  std::string name = {};  // The uuid where empty.
  std::map<std::string, std::string> labels = {};
  std::vector<firmament::Taint> taints = {};
  bool unschedulable = false;
  std::map<std::string, std::string> conditions = {};  // By type.
};

// The processing unit below a node.
inline std::string PuOf(const std::string& node) { return node + "-pu"; }

// A machine with one processing unit, as the bridge describes each node.
inline firmament::ResourceTopologyNodeDescriptor NodeMessage(
    const std::string& uuid, const NodeFields& fields = {}) {
  firmament::ResourceTopologyNodeDescriptor tree;
  firmament::ResourceDescriptor* machine = tree.mutable_resource_desc();
  machine->set_uuid(uuid);
  machine->set_friendly_name(fields.name.empty() ? uuid : fields.name);
  machine->set_type(firmament::ResourceDescriptor::RESOURCE_MACHINE);
  machine->set_state(firmament::ResourceDescriptor::RESOURCE_IDLE);
  machine->mutable_resource_capacity()->set_cpu_cores(fields.cpu);
  machine->mutable_resource_capacity()->set_ram_cap(fields.ram);
  *machine->mutable_available_resources() = machine->resource_capacity();
  machine->set_max_pods(fields.max_pods);
  for (const auto& [key, value] : fields.labels) {
    firmament::Label* label = machine->add_labels();
    label->set_key(key);
    label->set_value(value);
  }
  machine->mutable_taints()->Assign(fields.taints.begin(), fields.taints.end());
  machine->set_unschedulable(fields.unschedulable);
  for (const auto& [type, status] : fields.conditions) {
    firmament::MachineCondition* condition = machine->add_conditions();
    condition->set_type(type);
    condition->set_status(status);
  }
  firmament::ResourceTopologyNodeDescriptor* child = tree.add_children();
  child->set_parent_id(uuid);
  firmament::ResourceDescriptor* pu = child->mutable_resource_desc();
  pu->set_uuid(PuOf(uuid));
  *pu->mutable_resource_capacity() = machine->resource_capacity();
  *pu->mutable_labels() = machine->labels();
  *pu->mutable_taints() = machine->taints();
  return tree;
}

inline firmament::TaskInfo ForeignPodMessage(const std::string& name,
                                             const std::string& node,
                                             int64_t cpu, int64_t ram_bytes) {
  firmament::TaskInfo info;
  info.set_task_name(name);
  info.set_resource_id(node);
  info.set_cpu_utilization(cpu);
  info.set_mem_utilization(ram_bytes);
  return info;
}

// Where a reply places which task.
inline std::map<uint64_t, std::string> PlacesOf(
    const firmament::SchedulingDeltas& reply) {
  std::map<uint64_t, std::string> places;
  for (const firmament::SchedulingDelta& delta : reply.deltas()) {
    places[delta.task_id()] = delta.resource_id();
  }
  return places;
}

inline std::vector<uint64_t> WaitingOf(
    const firmament::SchedulingDeltas& reply) {
  return {reply.unscheduled_tasks().begin(), reply.unscheduled_tasks().end()};
}

}  // namespace sluice

#endif  // SLUICE_TESTS_INTEGRATION_MESSAGES_H_
