#include "network/constructs.h"

namespace sluice {
namespace {

std::vector<ArcIndex> Join(std::span<const Port> sources, NodeIndex node,
                           FlowProblem* problem) {
  std::vector<ArcIndex> arcs;
  for (const Port& port : sources) {
    arcs.push_back(problem->AddArc(port.node, node, port.at_most, port.cost,
                                   port.at_least));
  }
  return arcs;
}

std::vector<ArcIndex> Fork(NodeIndex node, std::span<const Port> targets,
                           FlowProblem* problem) {
  std::vector<ArcIndex> arcs;
  for (const Port& port : targets) {
    arcs.push_back(problem->AddArc(node, port.node, port.at_most, port.cost,
                                   port.at_least));
  }
  return arcs;
}

FlowUnits TotalOf(std::span<const Port> sources) {
  FlowUnits total = 0;
  for (const Port& port : sources) total += port.at_most;
  return total;
}

}  // namespace

Gate AddGate(std::span<const Port> sources, FlowBounds through,
             std::span<const Port> targets, FlowProblem* problem) {
  Gate gate;
  gate.gather = problem->AddNode(0);
  gate.place = problem->AddNode(0);
  gate.in = Join(sources, gate.gather, problem);
  gate.through = problem->AddArc(gate.gather, gate.place, through.at_most, 0,
                                 through.at_least);
  gate.out = Fork(gate.place, targets, problem);
  return gate;
}

Gate AddGang(std::span<const Port> sources, std::span<const Port> targets,
             FlowProblem* problem) {
  Gate gate = AddGate(sources, {.at_most = TotalOf(sources)}, targets, problem);
  problem->SetAllOrNone(gate.through, true);
  return gate;
}

Gate AddColocation(std::span<const Port> sources, std::span<const Port> targets,
                   FlowProblem* problem) {
  const FlowUnits all = TotalOf(sources);
  std::vector<Port> whole(targets.begin(), targets.end());
  for (Port& port : whole) port.at_most = port.at_most < all ? 0 : all;
  Gate gate = AddGate(sources, {.at_most = all}, whole, problem);
  for (const ArcIndex arc : gate.out) problem->SetAllOrNone(arc, true);
  return gate;
}

}  // namespace sluice
