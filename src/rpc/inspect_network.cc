#include "rpc/inspect_network.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "constraints/named_machine.h"
#include "constraints/shown_text.h"

namespace sluice {
namespace {

std::string MachineName(MachineId id, const ClusterState& state) {
  const Machine* machine = state.FindMachine(id);
  return machine == nullptr ? StrCat("machine ", id.value)
                            : ShownName(*machine);
}

// What the arcs at a node say about it.
struct Surroundings {
  bool is_fed_by_class = false;
  bool leads_to_machines = false;  // Or to domains of them.
  // The first machines of the first two groups that arcs lead to, and the
  // number of machines in all groups.
  std::vector<MachineId> machines;
  size_t machine_count = 0;
};

// By node.
std::vector<Surroundings> LookAround(const NetworkLog::Pass& pass) {
  using Kind = NodeMeaning::Kind;
  std::vector<Surroundings> all(pass.nodes.size());
  for (ArcIndex a = 0; a < pass.problem.arc_count(); ++a) {
    const FlowProblem::Arc& arc = pass.problem.arc(a);
    const NodeMeaning& head = pass.nodes[static_cast<size_t>(arc.head)];
    Surroundings& tail = all[static_cast<size_t>(arc.tail)];
    if (pass.nodes[static_cast<size_t>(arc.tail)].kind == Kind::kClass) {
      all[static_cast<size_t>(arc.head)].is_fed_by_class = true;
    }
    if (head.kind == Kind::kDomain) tail.leads_to_machines = true;
    if (head.kind != Kind::kMachines) continue;
    tail.leads_to_machines = true;
    tail.machine_count += head.machine_count;
    if (tail.machines.size() < 2) tail.machines.push_back(head.machine);
  }
  return all;
}

// "m1", "m1 and m2", "m1 and 41 more".
std::string MachinesText(const Surroundings& node, const ClusterState& state) {
  if (node.machines.empty()) return "no machine";
  std::string first = MachineName(node.machines[0], state);
  if (node.machine_count == 1) return first;
  if (node.machine_count > 2 || node.machines.size() == 1) {
    return StrCat(first, " and ", node.machine_count - 1, " more");
  }
  return StrCat(first, " and ", MachineName(node.machines[1], state));
}

// The names of a gang's nodes in docs/flow-network.md: its classes gather, are
// placed as one, and go to machines by class again.
std::string GateName(const Surroundings& gate) {
  if (gate.is_fed_by_class) return "gather";
  return gate.leads_to_machines ? "placed" : "place";
}

// By the label that its machines share.
std::string AggregateName(MachineId id, std::string_view label,
                          const ClusterState& state) {
  const Machine* machine = state.FindMachine(id);
  const std::string* value =
      machine == nullptr ? nullptr : machine->FindLabel(label);
  return value == nullptr ? StrCat("with ", MachineName(id, state))
                          : StrCat(ShownText(label), "=", ShownText(*value));
}

std::string NameOf(const NodeMeaning& meaning, const Surroundings& around,
                   const NetworkLog::Pass& pass, std::string_view label,
                   const ClusterState& state) {
  switch (meaning.kind) {
    case NodeMeaning::Kind::kGate:
      return GateName(around);
    case NodeMeaning::Kind::kClass:
      return ShownText(pass.classes[meaning.class_index]);
    case NodeMeaning::Kind::kDomain:
      return StrCat(ShownText(pass.classes[meaning.class_index]), ", on ",
                    MachinesText(around, state));
    case NodeMeaning::Kind::kMachines: {
      const std::string name = MachineName(meaning.machine, state);
      return meaning.machine_count > 1
                 ? StrCat(name, " and ", meaning.machine_count - 1, " alike")
                 : name;
    }
    case NodeMeaning::Kind::kAggregate:
      return AggregateName(meaning.machine, label, state);
    case NodeMeaning::Kind::kUnscheduled: {
      const Job* job = state.FindJob(meaning.job);
      return StrCat("unscheduled of ", job == nullptr
                                           ? StrCat("job ", meaning.job.value)
                                           : ShownText(job->name));
    }
    case NodeMeaning::Kind::kLevel:
      return StrCat("waiting on level ", meaning.level + 1);
    case NodeMeaning::Kind::kSink:
      return "sink";
  }
  return "";
}

v1::RoundNetwork::Node::Kind KindOf(NodeMeaning::Kind kind) {
  switch (kind) {
    case NodeMeaning::Kind::kGate:
      return v1::RoundNetwork::Node::GATE;
    case NodeMeaning::Kind::kClass:
      return v1::RoundNetwork::Node::CLASS;
    case NodeMeaning::Kind::kDomain:
      return v1::RoundNetwork::Node::DOMAIN;
    case NodeMeaning::Kind::kMachines:
      return v1::RoundNetwork::Node::MACHINES;
    case NodeMeaning::Kind::kAggregate:
      return v1::RoundNetwork::Node::AGGREGATE;
    case NodeMeaning::Kind::kUnscheduled:
      return v1::RoundNetwork::Node::UNSCHEDULED;
    case NodeMeaning::Kind::kLevel:
      return v1::RoundNetwork::Node::LEVEL;
    case NodeMeaning::Kind::kSink:
      return v1::RoundNetwork::Node::SINK;
  }
  return v1::RoundNetwork::Node::GATE;
}

void FillPass(const NetworkLog::Pass& pass, std::string_view label,
              const ClusterState& state, v1::RoundNetwork::Pass* message) {
  const FlowProblem& problem = pass.problem;
  const bool is_solved = pass.solution.outcome == SolveOutcome::kOptimal;
  const bool is_real = pass.with_gains.has_value() &&
                       pass.with_gains->outcome == SolveOutcome::kOptimal;
  if (is_solved) message->set_cost(pass.solution.objective);
  if (is_real) message->set_real_cost(pass.with_gains->objective);
  const std::vector<Surroundings> around = LookAround(pass);
  for (NodeIndex n = 0; n < problem.node_count(); ++n) {
    const NodeMeaning& meaning = pass.nodes[static_cast<size_t>(n)];
    v1::RoundNetwork::Node* node = message->add_nodes();
    node->set_kind(KindOf(meaning.kind));
    node->set_name(
        NameOf(meaning, around[static_cast<size_t>(n)], pass, label, state));
    node->set_supply(problem.supply(n));
    if (is_solved) {
      node->set_potential(pass.solution.potentials[static_cast<size_t>(n)]);
    }
    if (is_real) {
      node->set_real_potential(
          pass.with_gains->potentials[static_cast<size_t>(n)]);
    }
  }
  for (ArcIndex a = 0; a < problem.arc_count(); ++a) {
    v1::RoundNetwork::Arc* arc = message->add_arcs();
    arc->set_tail(problem.arc(a).tail);
    arc->set_head(problem.arc(a).head);
    arc->set_lower(problem.arc(a).lower);
    for (const CostSegment& segment : problem.segments(a)) {
      v1::RoundNetwork::Segment* of_arc = arc->add_segments();
      of_arc->set_width(segment.width);
      of_arc->set_cost(segment.cost);
    }
    if (const auto it = problem.gains().find(a); it != problem.gains().end()) {
      arc->set_gain_numerator(it->second.numerator);
      arc->set_gain_denominator(it->second.denominator);
    }
    arc->set_all_or_none(problem.all_or_none().contains(a));
    if (is_solved) arc->set_flow(pass.solution.flows[static_cast<size_t>(a)]);
    if (is_real) {
      arc->set_real_flow(pass.with_gains->flows[static_cast<size_t>(a)]);
    }
  }
}

}  // namespace

void InspectNetwork(const ClusterState& state, const NetworkLog& log,
                    std::string_view aggregate_label,
                    v1::RoundNetwork* response) {
  response->set_round(log.round());
  response->set_left_out(log.left_out());
  response->set_arcs_max(log.arcs_max());
  for (const NetworkLog::Pass& pass : log.passes()) {
    FillPass(pass, aggregate_label, state, response->add_passes());
  }
}

}  // namespace sluice
