#include "cli/client/network_text.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/status_macros.h"
#include "base/strings.h"
#include "cli/base/quantity.h"
#include "flow/dimacs.h"

namespace sluice {
namespace {

using v1::RoundNetwork;

int64_t CapacityOf(const RoundNetwork::Arc& arc) {
  int64_t capacity = 0;
  for (const RoundNetwork::Segment& one : arc.segments()) {
    capacity += one.width();
  }
  return capacity;
}

// "514,560,000".
std::string PointsText(int64_t cost) {
  std::string text = FormatDecimal(static_cast<double>(cost) / kPartsOfPoint);
  const size_t first_digit = text.starts_with('-') ? 1 : 0;
  size_t end = std::min(text.find('.'), text.size());
  while (end > first_digit + 3) {
    end -= 3;
    text.insert(end, ",");
  }
  return text;
}

// "3 of 5 at 120"; with the costs from the first unit to the last if they
// differ, and with bounds and gains if there are any.
std::string ArcText(const RoundNetwork::Arc& arc, bool is_real) {
  // In a pass with gains, costs are in units of their own.
  const auto cost_text = [is_real](int64_t cost) {
    return is_real ? StrCat(cost) : PointsText(cost);
  };
  std::string text =
      StrCat(is_real ? FormatDecimal(arc.real_flow()) : StrCat(arc.flow()),
             " of ", CapacityOf(arc));
  if (arc.segments_size() > 0) {
    // Costs that differ by less than a point look alike.
    const std::string zero = cost_text(0);
    const std::string first = cost_text(arc.segments(0).cost());
    const std::string last =
        cost_text(arc.segments(arc.segments_size() - 1).cost());
    if (first != zero || last != zero) text += StrCat(" at ", first);
    if (last != first) text += StrCat(" to ", last);
  }
  if (arc.lower() > 0) text += StrCat(", at least ", arc.lower());
  if (arc.gain_denominator() > 0) {
    text += StrCat(", ", arc.gain_numerator(), " of ", arc.gain_denominator(),
                   " arrive");
  }
  if (arc.all_or_none()) text += ", all or none";
  return text;
}

std::string_view LookOf(RoundNetwork::Node::Kind kind) {
  if (kind == RoundNetwork::Node::CLASS) return "shape=ellipse";
  if (kind == RoundNetwork::Node::DOMAIN) return "shape=hexagon";
  if (kind == RoundNetwork::Node::AGGREGATE) return "shape=house";
  if (kind == RoundNetwork::Node::GATE) return "shape=diamond";
  if (kind == RoundNetwork::Node::SINK) return "shape=doublecircle";
  const bool waits = kind == RoundNetwork::Node::UNSCHEDULED ||
                     kind == RoundNetwork::Node::LEVEL;
  return waits ? "shape=box, style=dashed" : "shape=box";
}

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

// Each part of the name on a line of its own, then the supply or demand.
std::string LabelOf(const RoundNetwork::Node& node) {
  std::string label;
  for (const char c : Escaped(node.name())) {
    if (c == ' ' && label.ends_with(',')) {
      label += "\\n";
    } else {
      label += c;
    }
  }
  if (node.supply() > 0) label += StrCat("\\nsupply ", node.supply());
  if (node.supply() < 0) label += StrCat("\\ndemand ", -node.supply());
  return label;
}

}  // namespace

absl::StatusOr<FlowProblem> ProblemOf(const RoundNetwork::Pass& pass) {
  FlowProblem problem;
  for (const RoundNetwork::Node& node : pass.nodes()) {
    problem.AddNode(node.supply());
  }
  for (const RoundNetwork::Arc& arc : pass.arcs()) {
    const int32_t nodes = pass.nodes_size();
    if (arc.tail() < 0 || arc.tail() >= nodes || arc.head() < 0 ||
        arc.head() >= nodes || arc.segments().empty()) {
      return absl::InvalidArgumentError(StrCat(
          "arc ", problem.arc_count(), " of the network has ",
          arc.segments().empty() ? "no segment" : "an end that is no node"));
    }
    std::vector<CostSegment> segments;
    for (const RoundNetwork::Segment& one : arc.segments()) {
      segments.push_back({one.width(), one.cost()});
    }
    const ArcIndex index =
        segments.size() == 1
            ? problem.AddArc(arc.tail(), arc.head(), segments[0].width,
                             segments[0].cost, arc.lower())
            : problem.AddConvexArc(arc.tail(), arc.head(), segments,
                                   arc.lower());
    if (arc.gain_denominator() > 0) {
      problem.SetGain(index, {arc.gain_numerator(), arc.gain_denominator()});
    }
    if (arc.all_or_none()) problem.SetAllOrNone(index, true);
  }
  return problem;
}

absl::StatusOr<std::string> DimacsOf(const RoundNetwork::Pass& pass) {
  ASSIGN_OR_RETURN(const FlowProblem problem, ProblemOf(pass));
  std::string text;
  for (int i = 0; i < pass.nodes_size(); ++i) {
    text += StrCat("c node ", i + 1, ": ", pass.nodes(i).name(), "\n");
  }
  return text + WriteDimacs(problem);
}

absl::StatusOr<std::string> PlainDimacsOf(const RoundNetwork::Pass& pass) {
  ASSIGN_OR_RETURN(const FlowProblem problem, ProblemOf(pass));
  return WritePlainDimacs(problem);
}

std::string DotOf(const RoundNetwork::Pass& pass, std::string_view name) {
  std::string text = StrCat("digraph \"", Escaped(name),
                            "\" {\n  rankdir=LR;\n  ranksep=1;\n"
                            "  node [fontname=Helvetica, fontsize=12];\n"
                            "  edge [fontname=Helvetica, fontsize=10];\n");
  for (int i = 0; i < pass.nodes_size(); ++i) {
    const RoundNetwork::Node& node = pass.nodes(i);
    text += StrCat("  n", i, " [label=\"", LabelOf(node), "\", ",
                   LookOf(node.kind()));
    if (pass.has_cost()) {
      text +=
          StrCat(", tooltip=\"potential ", PointsText(node.potential()), "\"");
    } else if (pass.has_real_cost()) {
      text += StrCat(", tooltip=\"potential ",
                     FormatDecimal(node.real_potential()), "\"");
    }
    text += "];\n";
  }
  const bool is_real = pass.has_real_cost();
  for (const RoundNetwork::Arc& arc : pass.arcs()) {
    // On this arc the sink of a flow with gains loses all that arrives.
    if (arc.tail() == arc.head()) continue;
    const bool is_used = is_real ? arc.real_flow() > 0 : arc.flow() > 0;
    text +=
        StrCat("  n", arc.tail(), " -> n", arc.head(), " [label=\"",
               ArcText(arc, is_real), "\", ",
               is_used ? "penwidth=2" : "color=gray, fontcolor=gray40", "];\n");
  }
  return text + "}\n";
}

}  // namespace sluice
