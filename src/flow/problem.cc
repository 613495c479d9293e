#include "sluice/flow/problem.h"

#include <glog/logging.h>

namespace sluice {

NodeIndex FlowProblem::AddNode(FlowUnits supply) {
  supplies_.push_back(supply);
  return node_count() - 1;
}

void FlowProblem::SetSupply(NodeIndex node, FlowUnits supply) {
  CHECK(node >= 0 && node < node_count()) << "no node " << node;
  supplies_[static_cast<size_t>(node)] = supply;
}

ArcIndex FlowProblem::AddArc(NodeIndex tail, NodeIndex head, FlowUnits capacity,
                             FlowCost cost, FlowUnits lower) {
  const CostSegment segment = {capacity, cost};
  return AddConvexArc(tail, head, {&segment, 1}, lower);
}

ArcIndex FlowProblem::AddConvexArc(NodeIndex tail, NodeIndex head,
                                   std::span<const CostSegment> segments,
                                   FlowUnits lower) {
  FlowUnits capacity = 0;
  for (const CostSegment& segment : segments) {
    if (__builtin_add_overflow(capacity, segment.width, &capacity)) {
      // ValidateProblem() refuses an arc whose capacity is not the sum.
      capacity = -1;
      break;
    }
  }
  arcs_.push_back({.tail = tail,
                   .head = head,
                   .lower = lower,
                   .capacity = capacity,
                   .first_segment = segment_count(),
                   .segment_count = static_cast<int32_t>(segments.size())});
  segments_.insert(segments_.end(), segments.begin(), segments.end());
  return arc_count() - 1;
}

std::span<const CostSegment> FlowProblem::segments(ArcIndex arc) const {
  const Arc& of = arcs_[static_cast<size_t>(arc)];
  return std::span(segments_).subspan(static_cast<size_t>(of.first_segment),
                                      static_cast<size_t>(of.segment_count));
}

const char* SolveOutcomeName(SolveOutcome outcome) {
  switch (outcome) {
    case SolveOutcome::kOptimal:
      return "optimal";
    case SolveOutcome::kInfeasible:
      return "infeasible";
    case SolveOutcome::kUnbounded:
      return "unbounded";
    case SolveOutcome::kCostRange:
      return "cost range";
    case SolveOutcome::kInvalidProblem:
      return "invalid problem";
    case SolveOutcome::kCancelled:
      return "cancelled";
  }
  return "unknown";
}

}  // namespace sluice
