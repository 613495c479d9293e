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
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/state/machine.h"
#include "sluice/state/placement_rules.h"
#include "sluice/state/resources.h"
#include "sluice/state/task.h"
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
  std::vector<MachineSpec::Numa> numa_nodes = {};
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
  std::string binary = {};
  int32_t preemption_cost = 0;
  std::optional<DisruptionBudget> budget = {};  // Of the job.
  std::string quarantine_reason = {};
};

NamedAmounts NamedAmountsOf(int64_t cpu, int64_t memory,
                            int64_t ephemeral_storage,
                            const NamedAmounts& extended);

MachineSpec MachineSpecOf(std::string_view uuid, const MachineOptions& options);

TaskSpec TaskSpecOf(uint64_t uid, const TaskOptions& options);

AddMachine Added(std::string_view uuid, const MachineOptions& options);

UpdateMachine Updated(std::string_view uuid, const MachineOptions& options);

SubmitTask Submitted(uint64_t uid, const TaskOptions& options = {});

UpdateTask Updated(uint64_t uid, const TaskOptions& options);
CompleteTask Completed(uint64_t uid);
FailTask Failed(uint64_t uid);
RemoveTask Removed(uint64_t uid);
RemoveMachine Removed(std::string_view uuid);
AddForeignPod ForeignPod(std::string_view name, std::string_view uuid,
                         const NamedAmounts& usage);

class ClusterBuilder {
 public:
  ClusterBuilder& Machine(std::string_view uuid, const MachineOptions& options);
  // `count` machines `prefix`0, `prefix`1, ...
  ClusterBuilder& Machines(std::string_view prefix, int count,
                           const MachineOptions& options);
  ClusterBuilder& Task(uint64_t uid, const TaskOptions& options = {});
  // The tasks first_uid, first_uid + 1, ...
  ClusterBuilder& Tasks(uint64_t first_uid, uint64_t count,
                        const TaskOptions& options = {});

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
