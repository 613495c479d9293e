#include "cli/client/task_text.h"

#include "base/strings.h"

namespace sluice {

std::string_view TaskStateName(v1::Task::State state) {
  switch (state) {
    case v1::Task::PENDING:
      return "pending";
    case v1::Task::RUNNING:
      return "running";
    case v1::Task::COMPLETED:
      return "completed";
    case v1::Task::FAILED:
      return "failed";
    case v1::Task::QUARANTINED:
      return "quarantined";
    case v1::Task::MUTED:
      return "muted";
    case v1::Task::STALE:
      return "stale";
    case v1::Task::TEMPLATE:
      return "template";
    case v1::Task::STATE_UNSPECIFIED:
    case v1::Task_State_Task_State_INT_MIN_SENTINEL_DO_NOT_USE_:
    case v1::Task_State_Task_State_INT_MAX_SENTINEL_DO_NOT_USE_:
      break;
  }
  return "?";
}

std::string TaskIdText(const v1::Task& task) {
  return task.feed_task_id().empty() ? StrCat(task.uid()) : task.feed_task_id();
}

std::vector<std::string_view> TaskStateNames() {
  std::vector<std::string_view> names;
  for (int state = v1::Task::State_MIN + 1; state <= v1::Task::State_MAX;
       ++state) {
    names.push_back(TaskStateName(static_cast<v1::Task::State>(state)));
  }
  return names;
}

v1::Task::State TaskStateNamed(std::string_view name) {
  for (int state = v1::Task::State_MIN + 1; state <= v1::Task::State_MAX;
       ++state) {
    const auto found = static_cast<v1::Task::State>(state);
    if (TaskStateName(found) == name) return found;
  }
  return v1::Task::STATE_UNSPECIFIED;
}

}  // namespace sluice
