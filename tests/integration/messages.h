// Messages of the contract as the bridge sends them, in a line each.
//
// Amounts are in the units of the wire: millicores, bytes x 1000.

#ifndef SLUICE_TESTS_INTEGRATION_MESSAGES_H_
#define SLUICE_TESTS_INTEGRATION_MESSAGES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/strings.h"
#include "firmament/firmament_scheduler.pb.h"

namespace sluice {

struct TaskFields {
  float cpu = 0;
  uint64_t ram = 0;
  std::string job = "job";
  std::string name = {};  // "ns/pod-<uid>" where empty.
};

inline firmament::TaskDescription TaskMessage(uint64_t uid,
                                              const TaskFields& fields = {}) {
  firmament::TaskDescription description;
  firmament::TaskDescriptor* task = description.mutable_task_descriptor();
  task->set_uid(uid);
  task->set_name(fields.name.empty() ? StrCat("ns/pod-", uid) : fields.name);
  task->set_namespace_("ns");
  task->set_job_id(fields.job);
  task->mutable_resource_request()->set_cpu_cores(fields.cpu);
  task->mutable_resource_request()->set_ram_cap(fields.ram);
  description.mutable_job_descriptor()->set_uuid(fields.job);
  description.mutable_job_descriptor()->set_name(fields.job);
  description.mutable_job_descriptor()->set_state(
      firmament::JobDescriptor::CREATED);
  return description;
}

struct NodeFields {
  float cpu = 4000;
  uint64_t ram = uint64_t{1} << 50;
  uint64_t max_pods = 110;
  std::string name = {};  // The uuid where empty.
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
  firmament::ResourceTopologyNodeDescriptor* child = tree.add_children();
  child->set_parent_id(uuid);
  child->mutable_resource_desc()->set_uuid(PuOf(uuid));
  *child->mutable_resource_desc()->mutable_resource_capacity() =
      machine->resource_capacity();
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
