// Short ways to say what a test's cluster looks like.
//
//   ClusterBuilder().Machine("m1", {.cpu = 4000}).Tasks(1, 3, {.cpu = 500})
//       .ApplyTo(&state);
//
// What a test does not name has a value that gets in nobody's way: a machine
// has room for 110 pods and no memory, a task asks for nothing but one pod.
// Amounts are in the units of sluice/state/resources.h; lists may come in any
// order.
//
// Threads: values.

#ifndef SLUICE_TESTS_UTIL_CLUSTER_BUILDER_H_
#define SLUICE_TESTS_UTIL_CLUSTER_BUILDER_H_

#include <glog/logging.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "state/cluster_state.h"
#include "state/command.h"
#include "util/rules_builder.h"

namespace sluice {

struct MachineOptions {
  int64_t cpu = 0;
  int64_t memory = 0;
  int64_t ephemeral_storage = 0;
  int64_t pods = 110;
  NamedAmounts extended = {};
  // Where empty, all of it is allocatable.
  NamedAmounts capacity = {};
  LabelPairs labels = {};
  std::vector<Taint> taints = {};
  std::vector<Owner> avoids = {};
  std::vector<MachineSpec::Pu> pus = {};
  std::vector<std::string> other_uuids = {};
  std::string quarantine_reason = {};
};

struct TaskOptions {
  int64_t cpu = 0;
  int64_t memory = 0;
  int64_t ephemeral_storage = 0;
  NamedAmounts extended = {};
  uint32_t priority = 0;
  std::string job = "job";
  std::string name = {};  // "task-<uid>" where empty.
  LabelPairs labels = {};
  PlacementRules rules = {};
  Owner owner = {};
  std::string quarantine_reason = {};
};

inline NamedAmounts NamedAmountsOf(int64_t cpu, int64_t memory,
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

inline MachineSpec MachineSpecOf(std::string_view uuid,
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
  spec.other_uuids = options.other_uuids;
  spec.quarantine_reason = options.quarantine_reason;
  return spec;
}

inline TaskSpec TaskSpecOf(uint64_t uid, const TaskOptions& options) {
  TaskSpec spec;
  spec.name = options.name.empty() ? StrCat("task-", uid) : options.name;
  spec.request = NamedAmountsOf(options.cpu, options.memory,
                                options.ephemeral_storage, options.extended);
  spec.priority = options.priority;
  spec.labels = options.labels;
  spec.rules = InOrder(options.rules);
  spec.owner = options.owner;
  spec.quarantine_reason = options.quarantine_reason;
  return spec;
}

inline AddMachine Added(std::string_view uuid, const MachineOptions& options) {
  return {MachineSpecOf(uuid, options)};
}

inline UpdateMachine Updated(std::string_view uuid,
                             const MachineOptions& options) {
  return {MachineSpecOf(uuid, options)};
}

inline SubmitTask Submitted(uint64_t uid, const TaskOptions& options = {}) {
  SubmitTask submit;
  submit.task = {uid};
  submit.job_uuid = options.job;
  submit.job_name = options.job;
  submit.spec = TaskSpecOf(uid, options);
  return submit;
}

inline UpdateTask Updated(uint64_t uid, const TaskOptions& options) {
  return {TaskId{uid}, TaskSpecOf(uid, options)};
}

inline CompleteTask Completed(uint64_t uid) { return {TaskId{uid}}; }
inline FailTask Failed(uint64_t uid) { return {TaskId{uid}}; }
inline RemoveTask Removed(uint64_t uid) { return {TaskId{uid}}; }
inline RemoveMachine Removed(std::string_view uuid) {
  return {std::string(uuid)};
}

inline AddForeignPod ForeignPod(std::string_view name, std::string_view uuid,
                                const NamedAmounts& usage) {
  return {std::string(name), std::string(uuid), usage};
}

class ClusterBuilder {
 public:
  ClusterBuilder& Machine(std::string_view uuid,
                          const MachineOptions& options) {
    commands_.push_back(Added(uuid, options));
    return *this;
  }
  // `count` machines `prefix`0, `prefix`1, ...
  ClusterBuilder& Machines(std::string_view prefix, int count,
                           const MachineOptions& options) {
    for (int i = 0; i < count; ++i) Machine(StrCat(prefix, i), options);
    return *this;
  }
  ClusterBuilder& Task(uint64_t uid, const TaskOptions& options = {}) {
    commands_.push_back(Submitted(uid, options));
    return *this;
  }
  // The tasks first_uid, first_uid + 1, ...
  ClusterBuilder& Tasks(uint64_t first_uid, uint64_t count,
                        const TaskOptions& options = {}) {
    for (uint64_t i = 0; i < count; ++i) Task(first_uid + i, options);
    return *this;
  }

  // To anything with Apply(command, now_ms): a state, a scheduler.
  template <class Target>
  void ApplyTo(Target* target, int64_t now_ms = 0) const {
    for (const Command& command : commands_) {
      CHECK(target->Apply(command, now_ms) == Ack::kOk);
    }
  }

 private:
  std::vector<Command> commands_;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_UTIL_CLUSTER_BUILDER_H_
