#include "core/census.h"

#include <algorithm>
#include <string_view>

#include "absl/container/flat_hash_map.h"

namespace sluice {
namespace {

void CountTask(const ClusterState& state, const Task& task, Census* census) {
  const bool is_unclaimed = task.client.IsDisplaced() &&
                            !task.client.successor.has_value() &&
                            !task.IsRemovedByGuess();
  const bool is_held = task.client.is_stale && task.client.IsOfFeed();
  if ((task.client.is_stale && !is_held) || is_unclaimed) ++census->stale_tasks;
  switch (task.state) {
    case TaskState::kPending:
      if (task.client.IsMuted()) {
        ++census->muted_tasks;
      } else if (is_held) {
        ++census->pending_tasks;
        ++census->held_tasks;
      } else if (task.client.is_stale) {
        return;
      } else if (task.retry_ms != 0) {
        ++census->pending_tasks;
        ++census->backoff_tasks;
      } else if (task.is_template && task.quarantine_reason.empty()) {
        ++census->templates;
      } else if (!task.runs_on.empty()) {
        ++census->pending_tasks;
        ++census->awaiting_tasks;
      } else if (task.MayRun()) {
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
      if (task.client.IsDisplaced() && task.client.successor.has_value()) {
        ++census->displaced_tasks;
      }
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

void CountNamesakes(const ClusterState& state, Census* census) {
  absl::flat_hash_map<std::string_view, int64_t> counts;
  counts.reserve(state.machines().size());
  for (const auto& [id, machine] : state.machines()) {
    if (!machine->is_present || machine->name.empty()) continue;
    const int64_t count = ++counts[machine->name];
    if (count == 1) continue;
    if (census->namesake_machines == 0) census->shared_name = machine->name;
    census->namesake_machines += count == 2 ? 2 : 1;
  }
}

}  // namespace

Census TakeCensus(const ClusterState& state) {
  Census census;
  for (const auto& [id, machine] : state.machines()) {
    if (machine->is_present && !machine->used.FitsIn(machine->Offered())) {
      ++census.overcommitted_machines;
    }
    if (!machine->is_present) {
      if (!machine->IsEmpty()) ++census.departed_machines;
    } else if (!machine->IsSound()) {
      ++census.quarantined_machines;
    } else if (machine->is_stale) {
      ++census.stale_machines;
    } else if (machine->IsDraining()) {
      ++census.draining_machines;
    } else {
      ++census.usable_machines;
      census.allocatable += machine->allocatable;
      census.used += machine->used;
      if (machine->is_measured) {
        ++census.measured_machines;
        census.reclaimed += machine->reclaimed;
      }
    }
  }
  CountNamesakes(state, &census);
  census.jobs = std::ranges::count_if(
      state.jobs(), [](const auto& entry) { return !entry.second->is_group; });
  for (const auto& [id, task] : state.tasks()) {
    CountTask(state, *task, &census);
  }
  census.undelivered_deltas = static_cast<int64_t>(state.outbox().size());
  return census;
}

}  // namespace sluice
