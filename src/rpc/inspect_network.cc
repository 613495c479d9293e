#include "rpc/inspect_network.h"

#include <algorithm>
#include <string>

#include "base/strings.h"
#include "constraints/shown_text.h"

namespace sluice {
namespace {

std::string NameOf(const NodeMeaning& meaning, const NetworkLog::Pass& pass,
                   const ClusterState& state) {
  switch (meaning.kind) {
    case NodeMeaning::Kind::kGate:
      return "gate";
    case NodeMeaning::Kind::kClass:
      return ShownText(pass.classes[meaning.class_index]);
    case NodeMeaning::Kind::kDomain:
      return StrCat("a domain of ",
                    ShownText(pass.classes[meaning.class_index]));
    case NodeMeaning::Kind::kMachines: {
      const Machine* machine = state.FindMachine(meaning.machine);
      const std::string name = machine == nullptr
                                   ? StrCat("machine ", meaning.machine.value)
                                   : ShownText(machine->name);
      return meaning.machine_count > 1
                 ? StrCat(name, " and ", meaning.machine_count - 1, " alike")
                 : name;
    }
    case NodeMeaning::Kind::kUnscheduled: {
      const Job* job = state.FindJob(meaning.job);
      return StrCat("unscheduled of ", job == nullptr
                                           ? StrCat("job ", meaning.job.value)
                                           : ShownText(job->name));
    }
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
    case NodeMeaning::Kind::kUnscheduled:
      return v1::RoundNetwork::Node::UNSCHEDULED;
    case NodeMeaning::Kind::kSink:
      return v1::RoundNetwork::Node::SINK;
  }
  return v1::RoundNetwork::Node::GATE;
}

void FillPass(const NetworkLog::Pass& pass, const ClusterState& state,
              v1::RoundNetwork::Pass* message) {
  const FlowProblem& problem = pass.problem;
  const bool is_solved = pass.solution.outcome == SolveOutcome::kOptimal;
  if (is_solved) message->set_cost(pass.solution.objective);
  for (NodeIndex n = 0; n < problem.node_count(); ++n) {
    const NodeMeaning& meaning = pass.nodes[static_cast<size_t>(n)];
    v1::RoundNetwork::Node* node = message->add_nodes();
    node->set_kind(KindOf(meaning.kind));
    node->set_name(NameOf(meaning, pass, state));
    node->set_supply(problem.supply(n));
    if (is_solved) {
      node->set_potential(pass.solution.potentials[static_cast<size_t>(n)]);
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
  }
}

}  // namespace

void InspectNetwork(const ClusterState& state, const NetworkLog& log,
                    v1::RoundNetwork* response) {
  response->set_round(log.round());
  response->set_left_out(log.left_out());
  response->set_arcs_max(log.arcs_max());
  for (const NetworkLog::Pass& pass : log.passes()) {
    FillPass(pass, state, response->add_passes());
  }
}

}  // namespace sluice
