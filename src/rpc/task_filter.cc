#include "rpc/task_filter.h"

#include <string_view>

#include "absl/status/status.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "constraints/shown_text.h"
#include "rpc/inspect_drain.h"

namespace sluice {
namespace {

// The job of that uuid, or else all of that name, and of groups their jobs.
absl::StatusOr<std::set<JobId>> JobsNamed(const ClusterState& state,
                                          const std::string& uuid_or_name) {
  std::set<JobId> named;
  for (const auto field : {&Job::uuid, &Job::name}) {
    for (const auto& [id, job] : state.jobs()) {
      if ((*job).*field == uuid_or_name) named.insert(id);
    }
    if (!named.empty()) break;
  }
  if (named.empty()) {
    return absl::NotFoundError(
        StrCat("job '", ShownText(uuid_or_name), "' is unknown"));
  }
  std::set<JobId> jobs = named;
  for (const auto& [id, job] : state.jobs()) {
    if (job->group.has_value() && named.contains(*job->group)) jobs.insert(id);
  }
  return jobs;
}

// Many clients write the namespace into the name: "demo/web-1".
bool IsOfNamespace(const Task& task, std::string_view task_namespace) {
  if (!task.task_namespace.empty()) {
    return task.task_namespace == task_namespace;
  }
  const std::string_view name = task.name;
  return name.size() > task_namespace.size() &&
         name.starts_with(task_namespace) && name[task_namespace.size()] == '/';
}

}  // namespace

v1::Task::State ShownStateOf(const Task& task) {
  switch (task.state) {
    case TaskState::kPending:
      if (task.client.IsMuted()) return v1::Task::MUTED;
      if (task.client.is_stale) return v1::Task::STALE;
      if (!task.quarantine_reason.empty()) return v1::Task::QUARANTINED;
      return task.is_template ? v1::Task::TEMPLATE : v1::Task::PENDING;
    case TaskState::kRunning:
      return v1::Task::RUNNING;
    case TaskState::kCompleted:
      return v1::Task::COMPLETED;
    case TaskState::kFailed:
      return v1::Task::FAILED;
    case TaskState::kRemoved:
      break;
  }
  return v1::Task::STATE_UNSPECIFIED;
}

absl::StatusOr<TaskFilter> TaskFilter::Of(const ClusterState& state,
                                          const v1::ListTasksRequest& request) {
  TaskFilter filter;
  if (!request.job().empty()) {
    ASSIGN_OR_RETURN(filter.jobs_, JobsNamed(state, request.job()));
  }
  if (!request.machine().empty()) {
    ASSIGN_OR_RETURN(const Machine* machine,
                     FindMachineNamed(state, request.machine()));
    filter.machine_ = machine->id;
  }
  filter.task_namespace_ = request.namespace_();
  for (const int state_number : request.states()) {
    filter.states_.insert(static_cast<v1::Task::State>(state_number));
  }
  return filter;
}

bool TaskFilter::Takes(const Task& task) const {
  if (jobs_.has_value() && !jobs_->contains(task.job)) return false;
  if (machine_.has_value() &&
      (task.state != TaskState::kRunning || task.machine != *machine_)) {
    return false;
  }
  if (!task_namespace_.empty() && !IsOfNamespace(task, task_namespace_)) {
    return false;
  }
  return states_.empty() || states_.contains(ShownStateOf(task));
}

}  // namespace sluice
