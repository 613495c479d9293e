#include "util/cluster_builder.h"

#include "base/strings.h"
#include "util/rules_builder.h"

namespace sluice {

NamedAmounts NamedAmountsOf(int64_t cpu, int64_t memory,
                            int64_t ephemeral_storage,
                            const NamedAmounts& extended) {
  NamedAmounts amounts;
  if (cpu != 0) amounts.emplace_back("cpu", cpu);
  if (ephemeral_storage != 0) {
    amounts.emplace_back("ephemeral-storage", ephemeral_storage);
  }
  if (memory != 0) amounts.emplace_back("memory", memory);
  amounts.insert(amounts.end(), extended.begin(), extended.end());
  return amounts;
}

MachineSpec MachineSpecOf(std::string_view uuid,
                          const MachineOptions& options) {
  MachineSpec spec;
  spec.uuid = uuid;
  spec.name = uuid;
  spec.allocatable = NamedAmountsOf(
      options.cpu, options.memory, options.ephemeral_storage, options.extended);
  if (options.pods != 0) spec.allocatable.emplace_back("pods", options.pods);
  spec.capacity =
      options.capacity.empty() ? spec.allocatable : options.capacity;
  spec.labels = InOrder(options.labels);
  spec.taints = InOrder(options.taints);
  spec.avoids = InOrder(options.avoids);
  spec.pus = options.pus;
  spec.numa_nodes = options.numa_nodes;
  spec.other_uuids = options.other_uuids;
  spec.quarantine_reason = options.quarantine_reason;
  return spec;
}

TaskSpec TaskSpecOf(uint64_t uid, const TaskOptions& options) {
  TaskSpec spec;
  spec.name = options.name.empty() ? StrCat("task-", uid) : options.name;
  spec.request = NamedAmountsOf(options.cpu, options.memory,
                                options.ephemeral_storage, options.extended);
  spec.priority = options.priority;
  spec.labels = options.labels;
  spec.rules = InOrder(options.rules);
  spec.owner = options.owner;
  spec.binary = options.binary;
  spec.preemption_cost = options.preemption_cost;
  spec.quarantine_reason = options.quarantine_reason;
  return spec;
}

AddMachine Added(std::string_view uuid, const MachineOptions& options) {
  return {MachineSpecOf(uuid, options)};
}

UpdateMachine Updated(std::string_view uuid, const MachineOptions& options) {
  return {MachineSpecOf(uuid, options)};
}

SubmitTask Submitted(uint64_t uid, const TaskOptions& options) {
  SubmitTask submit;
  submit.uid = {uid};
  submit.job_uuid = options.job;
  submit.job_name = options.job;
  submit.budget = options.budget;
  submit.spec = TaskSpecOf(uid, options);
  return submit;
}

UpdateTask Updated(uint64_t uid, const TaskOptions& options) {
  return {TaskUid{uid}, TaskSpecOf(uid, options)};
}

CompleteTask Completed(uint64_t uid) { return {TaskUid{uid}}; }
FailTask Failed(uint64_t uid) { return {TaskUid{uid}}; }
RemoveTask Removed(uint64_t uid) { return {TaskUid{uid}}; }
RemoveMachine Removed(std::string_view uuid) { return {std::string(uuid)}; }

AddForeignPod ForeignPod(std::string_view name, std::string_view uuid,
                         const NamedAmounts& usage) {
  return {std::string(name), std::string(uuid), usage};
}

ClusterBuilder& ClusterBuilder::Machine(std::string_view uuid,
                                        const MachineOptions& options) {
  commands_.push_back(Added(uuid, options));
  return *this;
}

ClusterBuilder& ClusterBuilder::Machines(std::string_view prefix, int count,
                                         const MachineOptions& options) {
  for (int i = 0; i < count; ++i) Machine(StrCat(prefix, i), options);
  return *this;
}

ClusterBuilder& ClusterBuilder::Task(uint64_t uid, const TaskOptions& options) {
  commands_.push_back(Submitted(uid, options));
  return *this;
}

ClusterBuilder& ClusterBuilder::Tasks(uint64_t first_uid, uint64_t count,
                                      const TaskOptions& options) {
  for (uint64_t i = 0; i < count; ++i) Task(first_uid + i, options);
  return *this;
}

}  // namespace sluice
