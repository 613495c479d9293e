#include "core/stages/replace.h"

#include <vector>

#include "constraints/class_peers.h"

namespace sluice {

void ReplaceTasks(RoundContext* context) {
  ClusterState& state = context->state;
  std::vector<const Task*> newcomers;
  for (const auto& [key, tasks] : state.pending()) {
    if (!key.rules->replaces.has_value() || context->gangs.IsClosed(key))
      continue;
    for (const auto& [sequence, task] : tasks) newcomers.push_back(task);
  }
  if (newcomers.empty()) return;
  state.SyncPeers();
  for (const Task* newcomer : newcomers) {
    const Task* former = state.FindTask(*newcomer->class_key.rules->replaces);
    if (former == nullptr || former->state != TaskState::kRunning ||
        !state.CanPreempt(*former)) {
      continue;
    }
    const Machine* machine = state.FindMachine(former->machine);
    // As if the former one were gone already.
    Machine after = *machine;
    after.used -= former->class_key.request;
    after.ReleasePorts(former->class_key.rules->host_ports);
    if (!machine->IsUsable() ||
        !context->constraints.Allows(newcomer->class_key, after) ||
        !ClassPeers(state, context->constraints, newcomer->class_key, former)
             .Allows(*machine)) {
      continue;
    }
    const bool is_untold = state.IsUntold(former->id);
    // Others may have been placed because of it.
    if (is_untold && former->class_key.IsBound()) continue;
    if (is_untold) {  // There is nobody to stop yet.
      state.Withdraw(former->id);
      ++context->stats->withdrawn;
    } else {
      state.Preempt(former->id);
      ++context->stats->replaced;
    }
    state.PlaceInstead(newcomer->id, machine->id, context->now_ms);
    ++context->stats->placed;
  }
}

}  // namespace sluice
