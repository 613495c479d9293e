// Which tasks a list of sluice.v1.Inspector is asked for.
//
// Threads: confined to the core thread, during one call.

#ifndef SLUICE_RPC_TASK_FILTER_H_
#define SLUICE_RPC_TASK_FILTER_H_

#include <optional>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "sluice/v1/inspector.pb.h"
#include "state/cluster_state.h"

namespace sluice {

// What a task's state is called.  REQUIRES: it is not removed.
v1::Task::State ShownStateOf(const Task& task);

class TaskFilter {
 public:
  // Errors: kNotFound for a job or a machine that is unknown,
  // kFailedPrecondition for the name of several machines.
  static absl::StatusOr<TaskFilter> Of(const ClusterState& state,
                                       const v1::ListTasksRequest& request);

  // REQUIRES: the task is not removed.
  bool Takes(const Task& task) const;

 private:
  // Those that are not set take every task.
  std::optional<std::set<JobId>> jobs_;
  std::optional<MachineId> machine_;
  std::string task_namespace_;
  std::set<v1::Task::State> states_;
};

}  // namespace sluice

#endif  // SLUICE_RPC_TASK_FILTER_H_
