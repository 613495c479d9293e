#include "round/leaving/broken_rules.h"

#include <algorithm>
#include <vector>

#include "base/strings.h"
#include "constraints/class_peers.h"
#include "constraints/shown_text.h"

namespace sluice {
namespace {

// Without what matters only to newcomers: all taints count as tolerated, and
// the ports are the task's own by now.
PlacementRules NodeRulesOf(const PlacementRules& rules) {
  PlacementRules of_node = rules;
  of_node.tolerations = {{.op = TolerationOperator::kExists}};
  of_node.host_ports.clear();
  of_node.owner = {};
  return of_node;
}

// Null if the machine has departed: then no rule counts as broken.
const Machine* MachineOf(const Task& running, const ClusterState& state) {
  const Machine* machine = state.FindMachine(running.machine);
  return machine->is_present ? machine : nullptr;
}

bool BreaksNodeRules(const Task& running, const Machine& machine,
                     const ConstraintSet& constraints) {
  const PlacementRules rules = NodeRulesOf(*running.class_key.rules);
  ClassKey key;
  key.rules = &rules;
  return !constraints.AllowsAspect(MachineAspect::kLabels, key, machine) ||
         !constraints.AllowsAspect(MachineAspect::kTaints, key, machine);
}

// Rules of others about it do not count, and tasks told to leave count as gone.
bool BreaksPeerRules(const Task& running, const Machine& machine,
                     const ClusterState& state,
                     const ConstraintSet& constraints) {
  const ClassKey& key = running.class_key;
  const auto is_near = [&](const CountedTerm* term) {
    const DomainIndex domain = term->topology->DomainOf(machine.id);
    if (domain == kNoDomain) return false;
    const bool is_self = !running.is_evicted && IsMeantBy(*term, key);
    return term->meant.At(domain) - term->leaving.At(domain) >
           (is_self ? 1 : 0);
  };
  return std::ranges::any_of(state.peers().TermsOf(*key.rules).anti_affinity,
                             is_near) ||
         !ClassPeers(state, constraints, key, &running)
              .MeetsAffinity(machine.id);
}

std::string NodeText(const Task& running, const Machine& machine,
                     const ConstraintSet& constraints) {
  const PlacementRules rules = NodeRulesOf(*running.class_key.rules);
  ClassKey key;
  key.rules = &rules;
  std::vector<Reason> reasons;
  constraints.Explain(
      key, machine,
      [](ResourceIndex) -> const std::string& {
        static const std::string none;
        return none;
      },
      &reasons);
  return LackingText(reasons);
}

std::string PeerText(const Task& running, const Machine& machine,
                     const ClusterState& state,
                     const ConstraintSet& constraints) {
  std::vector<Reason> reasons;
  ClassPeers(state, constraints, running.class_key, &running)
      .Explain(machine, /*names_tasks=*/true, &reasons);
  std::erase_if(reasons, [](const Reason& reason) {
    return !reason.code.starts_with("pod_affinity") &&
           reason.code != "pod_anti_affinity";
  });
  return LackingText(reasons);
}

bool BreaksRules(const Task& running, const ClusterState& state,
                 const ConstraintSet& constraints) {
  const PlacementRules& rules = *running.class_key.rules;
  const Machine* machine = MachineOf(running, state);
  return machine != nullptr &&
         ((rules.keeps_node_rules &&
           BreaksNodeRules(running, *machine, constraints)) ||
          (rules.keeps_peer_rules &&
           BreaksPeerRules(running, *machine, state, constraints)));
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
    if (BreaksRules(*task, *state, constraints)) broken.push_back(id);
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
  const Machine* machine = MachineOf(running, state);
  if (machine == nullptr) return "";
  if (rules.keeps_node_rules &&
      BreaksNodeRules(running, *machine, constraints)) {
    return NodeText(running, *machine, constraints);
  }
  if (rules.keeps_peer_rules &&
      BreaksPeerRules(running, *machine, state, constraints)) {
    return PeerText(running, *machine, state, constraints);
  }
  return "";
}

}  // namespace sluice
