#include "loop/census.h"

namespace sluice {
namespace {

void CountTask(const ClusterState& state, const Task& task, Census* census) {
  switch (task.state) {
    case TaskState::kPending:
      // A muted task is on its way out: its client has removed it.
      if (task.is_muted) return;
      if (task.IsSchedulable()) {
        ++census->pending_tasks;
        if (task.class_key.gang.has_value() &&
            !state.FindJob(task.job)->HasStarted()) {
          ++census->gang_tasks;
        }
      } else {
        ++census->quarantined_tasks;
      }
      return;
    case TaskState::kRunning:
      ++census->running_tasks;
      return;
    case TaskState::kCompleted:
      ++census->completed_tasks;
      return;
    case TaskState::kFailed:
      ++census->failed_tasks;
      return;
    case TaskState::kRemoved:
      return;
  }
}

}  // namespace

Census TakeCensus(const ClusterState& state) {
  Census census;
  for (const auto& [id, machine] : state.machines()) {
    if (!machine->is_present) {
      if (!machine->IsEmpty()) ++census.departed_machines;
    } else if (!machine->IsUsable()) {
      ++census.quarantined_machines;
    } else {
      ++census.usable_machines;
      census.allocatable += machine->allocatable;
      census.used += machine->used;
    }
  }
  census.jobs = static_cast<int64_t>(state.jobs().size());
  for (const auto& [id, task] : state.tasks()) {
    CountTask(state, *task, &census);
  }
  census.undelivered_deltas = static_cast<int64_t>(state.outbox().size());
  return census;
}

}  // namespace sluice
