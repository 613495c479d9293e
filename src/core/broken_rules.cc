#include "core/broken_rules.h"

#include <vector>

#include "base/strings.h"
#include "constraints/class_peers.h"

namespace sluice {
namespace {

// Without what matters to newcomers alone: a taint that is there may be
// tolerated or not, and its ports are its own.
PlacementRules NodeRulesOf(const PlacementRules& rules) {
  PlacementRules of_node = rules;
  of_node.tolerations = {{.op = TolerationOperator::kExists}};
  of_node.host_ports.clear();
  of_node.owner = {};
  return of_node;
}

std::string TextOf(const std::vector<Reason>& reasons) {
  std::string text;
  for (const Reason& reason : reasons) {
    text += StrCat(text.empty() ? "" : ", ", reason.lacks);
  }
  return text;
}

std::string BrokenNodeRules(const Task& running, const Machine& machine,
                            const ConstraintSet& constraints) {
  const PlacementRules rules = NodeRulesOf(*running.class_key.rules);
  ClassKey key;
  key.rules = &rules;
  if (constraints.AllowsAspect(MachineAspect::kLabels, key, machine) &&
      constraints.AllowsAspect(MachineAspect::kTaints, key, machine)) {
    return "";
  }
  std::vector<Reason> reasons;
  constraints.Explain(
      key, machine,
      [](ResourceIndex) -> const std::string& {
        static const std::string none;
        return none;
      },
      &reasons);
  return TextOf(reasons);
}

std::string BrokenPeerRules(const Task& running, const Machine& machine,
                            const ClusterState& state,
                            const ConstraintSet& constraints) {
  const ClassPeers peers(state, constraints, running.class_key, &running);
  if (peers.MeetsAffinity(machine.id) && peers.AreApartWithout(machine, {})) {
    return "";
  }
  std::vector<Reason> reasons;
  peers.Explain(machine, /*names_tasks=*/true, &reasons);
  return TextOf(reasons);
}

}  // namespace

int64_t EvictWhereRulesBroke(const ConstraintSet& constraints,
                             ClusterState* state) {
  if (!state->rules().AreAnyKept()) return 0;
  state->SyncPeers();
  std::vector<TaskId> broken;
  for (const auto& [id, task] : state->tasks()) {
    const PlacementRules& rules = *task->class_key.rules;
    if (task->state != TaskState::kRunning || task->is_evicted ||
        (!rules.keeps_node_rules && !rules.keeps_peer_rules)) {
      continue;
    }
    if (!BrokenRulesText(*task, *state, constraints).empty()) {
      broken.push_back(id);
    }
  }
  int64_t evicted = 0;
  for (const TaskId id : broken) {
    if (state->IsUntold(id)) {
      state->Withdraw(id);
    } else if (state->CanPreempt(*state->FindTask(id))) {
      state->Preempt(id);
      ++evicted;
    }
  }
  return evicted;
}

std::string BrokenRulesText(const Task& running, const ClusterState& state,
                            const ConstraintSet& constraints) {
  const PlacementRules& rules = *running.class_key.rules;
  const Machine& machine = *state.FindMachine(running.machine);
  if (!machine.is_present) return "";
  std::string text;
  if (rules.keeps_node_rules) {
    text = BrokenNodeRules(running, machine, constraints);
  }
  if (text.empty() && rules.keeps_peer_rules) {
    text = BrokenPeerRules(running, machine, state, constraints);
  }
  return text;
}

}  // namespace sluice
