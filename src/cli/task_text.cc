#include "cli/task_text.h"

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

}  // namespace sluice
