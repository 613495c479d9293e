#include "round/stages/replace.h"

#include <vector>

#include "constraints/class_peers.h"
#include "state/machine_parts.h"

namespace sluice {
namespace {

// Ends a task whose replacement runs or comes.
void StopOrWithdraw(const Task& former, RoundContext* context) {
  if (context->state.IsUntold(former.id)) {  // No task to stop yet.
    context->state.Withdraw(former.id);
    context->state.SetHeld(former.id, true);
    ++context->stats->withdrawn;
  } else {
    context->state.Preempt(former.id);
    ++context->stats->replaced;
  }
}

// Others may have been placed because of a task that no client knows of.
bool MustStay(const Task& former, const ClusterState& state) {
  return !state.CanPreempt(former) ||
         (state.IsUntold(former.id) && former.class_key.IsBound());
}

void TakePlace(const Task& newcomer, const Task& former,
               RoundContext* context) {
  ClusterState& state = context->state;
  const Machine& machine = *state.FindMachine(former.machine);
  if (MustStay(former, state) || !machine.IsUsable() ||
      !context->constraints.Allows(newcomer.class_key,
                                   WithoutTask(machine, former)) ||
      !ClassPeers(state, context->constraints, newcomer.class_key, &former)
           .Allows(machine)) {
    return;
  }
  StopOrWithdraw(former, context);
  if (newcomer.is_held) state.SetHeld(newcomer.id, false);
  state.PlaceInstead(newcomer.id, machine.id, context->now_ms);
  ++context->stats->placed;
}

}  // namespace

void ReplaceTasks(RoundContext* context) {
  ClusterState& state = context->state;
  const Replacements& replacements = state.replacements();
  if (replacements.empty()) return;
  const std::vector<TaskId> concerned = replacements.Concerned();
  context->budget.Note(std::ssize(concerned));
  std::vector<const Task*> newcomers;
  for (const TaskId id : concerned) {
    const Task* task = state.FindTask(id);
    if (task == nullptr) continue;
    if (task->state != TaskState::kPending || !task->MayRun()) {
      if (task->is_held) state.SetHeld(id, false);
      continue;
    }
    bool is_held = replacements.FindInFavorOf(*task) != nullptr;
    if (!is_held && replacements.FindRunningFormer(*task) != nullptr) {
      // A task of a gang neither goes ahead of the others nor waits without
      // them.
      if (!context->gangs.IsClosed(task->class_key)) {
        newcomers.push_back(task);
        is_held = !task->class_key.rules->replaces_anywhere;
      }
    }
    if (task->is_held != is_held) state.SetHeld(id, is_held);
  }
  if (newcomers.empty()) return;
  state.SyncPeers();
  for (const Task* newcomer : newcomers) {
    // An earlier newcomer may have made it wait.
    const Task* former = replacements.FindRunningFormer(*newcomer);
    if (former != nullptr) TakePlace(*newcomer, *former, context);
  }
}

void StopReplaced(RoundContext* context) {
  const ClusterState& state = context->state;
  const Replacements& replacements = state.replacements();
  for (const auto& [uid, newcomers] : replacements.newcomers()) {
    const Task* former = state.FindHolder(uid);
    if (former == nullptr || former->state != TaskState::kRunning ||
        MustStay(*former, state)) {
      continue;
    }
    const Task* newcomer = replacements.FindNewcomer(*former);
    if (newcomer == nullptr || newcomer->state != TaskState::kRunning ||
        newcomer->is_evicted) {
      continue;
    }
    StopOrWithdraw(*former, context);
  }
}

Machine WithoutTask(const Machine& machine, const Task& running) {
  Machine after = machine;
  after.used -= running.class_key.request;
  after.ReleasePorts(running.class_key.rules->host_ports);
  Bind(running.class_key, running.pu, -1, &after);
  return after;
}

}  // namespace sluice
