#include "round/leaving/eviction.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

#include "constraints/toleration.h"

namespace sluice {
namespace {

constexpr int64_t kAtOnce = std::numeric_limits<int64_t>::min();

// Tasks without tolerations for these taints bear them for this long, as with
// Kubernetes' admission (DefaultTolerationSeconds).
constexpr std::string_view kBorneByDefault[] = {
    "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"};
constexpr int64_t kDefaultSeconds = 300;

bool SaysNothingOf(const Taint& taint,
                   const std::vector<Toleration>& tolerations) {
  return std::ranges::none_of(tolerations, [&](const Toleration& one) {
    return (one.key == taint.key || one.key.empty()) &&
           one.effect.value_or(taint.effect) == taint.effect;
  });
}

// When the tolerations that bear the taint from `start_ms` on end.
int64_t EndOfToleration(const Taint& taint,
                        const std::vector<Toleration>& tolerations,
                        int64_t start_ms) {
  bool is_tolerated = false;
  int64_t end_ms = kNever;
  for (const Toleration& toleration : tolerations) {
    if (!IsTolerated(taint, {&toleration, 1})) continue;
    is_tolerated = true;
    if (!toleration.seconds.has_value()) continue;
    const int64_t seconds = std::max<int64_t>(*toleration.seconds, 0);
    // A number that overflows means forever.
    if (seconds >= (kNever - std::max<int64_t>(start_ms, 0)) / 1000) continue;
    end_ms = std::min(end_ms, start_ms + seconds * 1000);
  }
  if (is_tolerated) return end_ms;
  const bool is_borne = std::ranges::count(kBorneByDefault, taint.key) > 0 &&
                        SaysNothingOf(taint, tolerations);
  return is_borne ? start_ms + kDefaultSeconds * 1000 : kAtOnce;
}

}  // namespace

int64_t EvictionMs(const Task& task, const Machine& machine) {
  int64_t eviction_ms = kNever;
  for (const MachineTaint& one : machine.taints) {
    if (one.taint.effect != TaintEffect::kNoExecute) continue;
    eviction_ms =
        std::min(eviction_ms,
                 EndOfToleration(one.taint, task.class_key.rules->tolerations,
                                 std::max(one.since_ms, task.placed_ms)));
  }
  return eviction_ms;
}

int64_t Eviction::Run(int64_t now_ms) {
  for (const MachineId id : state_->TakeNoExecuteMachines()) {
    due_ms_[id] = now_ms;
  }
  int64_t evicted = 0;
  for (auto it = due_ms_.begin(); it != due_ms_.end();) {
    if (it->second <= now_ms) {
      const Machine* machine = state_->FindMachine(it->first);
      it->second = machine != nullptr && machine->is_present
                       ? EvictFrom(*machine, now_ms, &evicted)
                       : kNever;
    }
    it = it->second == kNever ? due_ms_.erase(it) : std::next(it);
  }
  return evicted;
}

int64_t Eviction::EvictFrom(const Machine& machine, int64_t now_ms,
                            int64_t* evicted) {
  int64_t next_ms = kNever;
  const std::vector<TaskId> tasks(machine.tasks.begin(), machine.tasks.end());
  for (const TaskId id : tasks) {
    const Task& task = *state_->FindTask(id);
    if (task.is_evicted) continue;
    const int64_t eviction_ms = EvictionMs(task, machine);
    if (eviction_ms > now_ms) {
      next_ms = std::min(next_ms, eviction_ms);
    } else if (state_->IsUntold(id)) {
      state_->Withdraw(id);
    } else if (state_->CanPreempt(task)) {
      state_->Preempt(id);
      ++*evicted;
    } else {
      next_ms = now_ms;  // Perhaps in the next round.
    }
  }
  return next_ms;
}

}  // namespace sluice
