#include "round/context/transaction.h"

#include <ranges>
#include <utility>

#include "absl/container/flat_hash_set.h"

namespace sluice {

void Transaction::Place(const Task& task, MachineId machine) {
  state_.Place(task.id, machine, now_ms_);
  steps_.push_back({&task, machine, /*is_placement=*/true});
}

void Transaction::Withdraw(std::span<const Placement> placements) {
  for (const auto& [task, machine] : std::views::reverse(placements)) {
    state_.Withdraw(task->id);
    steps_.push_back({task, machine, /*is_placement=*/false});
  }
}

void Transaction::RollBackTo(size_t size) {
  while (steps_.size() > size) {
    const Step& step = steps_.back();
    if (step.is_placement) {
      state_.Withdraw(step.task->id);
    } else {
      state_.Place(step.task->id, step.machine, now_ms_);
    }
    steps_.pop_back();
  }
}

Transaction::Outcome Transaction::Keep() {
  Outcome outcome;
  absl::flat_hash_set<TaskId> seen;
  for (const auto& [task, machine, was_waiting] : std::exchange(steps_, {})) {
    if (!seen.insert(task->id).second) continue;
    const bool is_waiting = task->state != TaskState::kRunning;
    if (was_waiting && !is_waiting) outcome.placed.push_back(task->id);
    if (!was_waiting && is_waiting) ++outcome.given_up;
  }
  return outcome;
}

}  // namespace sluice
