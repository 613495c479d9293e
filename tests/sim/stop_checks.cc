#include "sim/stop_checks.h"

#include <algorithm>

#include "base/strings.h"

namespace sluice::sim {

void StopChecks::NoteReasons(const ClusterState& state) {
  for (const auto& [task, machine] : state.nominations().machines()) {
    const ClassKey& key = state.FindTask(task)->class_key;
    if (key.rules->never_preempts) continue;
    uint32_t& reason = reasons_[machine];
    reason = std::max(reason, key.priority + 1);
  }
}

uint32_t StopChecks::ReasonOn(MachineId machine, Preemption mode) const {
  uint32_t highest = 0;
  for (const auto& [id, reason] : reasons_) {
    if (id == machine || mode == Preemption::kFull) {
      highest = std::max(highest, reason);
    }
  }
  return highest;
}

std::string StopChecks::Look(const ClusterState& state, bool is_in_round,
                             Preemption mode) {
  NoteReasons(state);
  if (is_in_round) return "";
  std::string wrong;
  for (const auto& [sequence, delta] : state.outbox()) {
    if (sequence < next_sequence_ || delta.is_repeat ||
        delta.type != DeltaType::kPreempt) {
      continue;
    }
    const Task& victim = *state.FindTask(delta.task);
    if (ReasonOn(victim.machine, mode) <= victim.class_key.priority + 1) {
      wrong = StrCat(victim.name, " is to be stopped for nobody");
    }
  }
  next_sequence_ = state.counters().next_delta_sequence;
  reasons_.clear();
  NoteReasons(state);
  return wrong;
}

}  // namespace sluice::sim
