#include "solver/residual_network.h"

#include <algorithm>

#include "solver/solution.h"

namespace sluice {
namespace {

constexpr int32_t kNoHalfArc = -1;

// Tells the compiler that an index fits the bits that HalfArc has for it.
constexpr uint32_t kTwinMask = 0x7fffffff;

// True if the flow on the arc can change at all; a self-loop's best flow is
// known beforehand.
bool IsMovable(const FlowProblem::Arc& arc) {
  return arc.tail != arc.head && arc.lower < arc.capacity();
}

// The segments beyond the first `skipped` units, equal costs joined, costs
// scaled, appended to *out.
void AppendSegments(std::span<const CostSegment> segments, FlowUnits skipped,
                    FlowCost cost_factor, std::vector<CostSegment>* out) {
  const size_t begin = out->size();
  for (const CostSegment& segment : segments) {
    const FlowUnits skipped_here = std::min(skipped, segment.width);
    skipped -= skipped_here;
    const FlowUnits width = segment.width - skipped_here;
    if (width == 0) continue;
    const FlowCost cost = segment.cost * cost_factor;
    if (out->size() > begin && out->back().cost == cost) {
      out->back().width += width;
    } else {
      out->push_back({width, cost});
    }
  }
}

}  // namespace

ResidualNetwork::ResidualNetwork(const FlowProblem& problem,
                                 FlowCost cost_factor)
    : first_(static_cast<size_t>(problem.node_count()) + 1),
      half_arc_of_(static_cast<size_t>(problem.arc_count()), kNoHalfArc),
      excess_(static_cast<size_t>(problem.node_count())) {
  for (NodeIndex node = 0; node < problem.node_count(); ++node) {
    excess_[static_cast<size_t>(node)] = problem.supply(node);
  }
  CountHalfArcs(problem);
  half_arcs_.resize(static_cast<size_t>(first_.back()));
  ladder_end_.resize(half_arcs_.size(), kNoLadder);
  std::vector<int32_t> next(first_.begin(), first_.end() - 1);
  for (ArcIndex arc = 0; arc < problem.arc_count(); ++arc) {
    const FlowProblem::Arc& of = problem.arc(arc);
    excess_[static_cast<size_t>(of.tail)] -= of.lower;
    excess_[static_cast<size_t>(of.head)] += of.lower;
    if (IsMovable(of)) PlaceArc(problem, arc, cost_factor, &next);
  }
}

void ResidualNetwork::CountHalfArcs(const FlowProblem& problem) {
  for (ArcIndex arc = 0; arc < problem.arc_count(); ++arc) {
    const FlowProblem::Arc& of = problem.arc(arc);
    if (!IsMovable(of)) continue;
    ++first_[static_cast<size_t>(of.tail) + 1];
    ++first_[static_cast<size_t>(of.head) + 1];
  }
  for (size_t node = 1; node < first_.size(); ++node) {
    first_[node] += first_[node - 1];
  }
}

void ResidualNetwork::PlaceArc(const FlowProblem& problem, ArcIndex arc,
                               FlowCost cost_factor,
                               std::vector<int32_t>* next) {
  const FlowProblem::Arc& of = problem.arc(arc);
  const int32_t along = (*next)[static_cast<size_t>(of.tail)]++;
  const int32_t against = (*next)[static_cast<size_t>(of.head)]++;
  half_arc_of_[static_cast<size_t>(arc)] = along;

  const size_t begin = segments_.size();
  AppendSegments(problem.segments(arc), of.lower, cost_factor, &segments_);
  const CostSegment initial = segments_[begin];
  for (const FlowCost cost : {initial.cost, segments_.back().cost}) {
    cost_max_ = std::max(cost_max_, cost < 0 ? -cost : cost);
  }
  half_arcs_[static_cast<size_t>(along)] = {
      .head = of.head,
      .twin = static_cast<uint32_t>(against) & kTwinMask,
      .is_twin_open = 0,
      .cost = initial.cost,
      .residual = initial.width};
  half_arcs_[static_cast<size_t>(against)] = {
      .head = of.tail,
      .twin = static_cast<uint32_t>(along) & kTwinMask,
      .is_twin_open = 1,
      .cost = -initial.cost,
      .residual = 0};
  if (segments_.size() == begin + 1) {
    segments_.pop_back();
    return;
  }
  const auto first = static_cast<int64_t>(begin);
  const auto end = static_cast<int32_t>(ladder_ends_.size());
  ladder_end_[static_cast<size_t>(along)] = end;
  ladder_end_[static_cast<size_t>(against)] = end + 1;
  ladder_ends_.push_back(
      {.segment = first, .last = static_cast<int64_t>(segments_.size()) - 1});
  ladder_ends_.push_back({.segment = first, .last = first});
}

void ResidualNetwork::PushOnLadder(int32_t end, FlowUnits amount,
                                   HalfArc* along) {
  HalfArc& against = half_arcs_[along->twin];
  LadderEnd& mine = ladder_ends_[static_cast<size_t>(end)];
  LadderEnd& other = ladder_ends_[static_cast<size_t>(end ^ 1)];
  // Units pushed into a segment are what can be taken back at its cost.
  if (other.segment == mine.segment) {
    against.residual += amount;
  } else {
    other.segment = mine.segment;
    against.cost = -along->cost;
    against.residual = amount;
  }
  along->residual -= amount;
  if (along->residual == 0 && mine.segment != mine.last) {
    const bool is_along_flow = (end & 1) == 0;
    mine.segment += is_along_flow ? 1 : -1;
    const CostSegment& segment = segments_[static_cast<size_t>(mine.segment)];
    along->cost = is_along_flow ? segment.cost : -segment.cost;
    along->residual = segment.width;
  }
  along->is_twin_open = 1;
  against.is_twin_open = along->residual > 0;
}

FlowUnits ResidualNetwork::FlowOfHalfArc(int32_t index) const {
  const int32_t end = ladder_end_[static_cast<size_t>(index)];
  const HalfArc& against = half_arc(half_arc(index).twin);
  if (end == kNoLadder) return against.residual;
  // The segments before that of the last unit are full.
  const LadderEnd& back = ladder_ends_[static_cast<size_t>(end) + 1];
  FlowUnits flow = against.residual;
  for (int64_t i = back.last; i < back.segment; ++i) {
    flow += segments_[static_cast<size_t>(i)].width;
  }
  return flow;
}

std::vector<FlowUnits> ResidualNetwork::Flows(
    const FlowProblem& problem) const {
  std::vector<FlowUnits> flows;
  flows.reserve(half_arc_of_.size());
  for (ArcIndex arc = 0; arc < problem.arc_count(); ++arc) {
    const FlowProblem::Arc& of = problem.arc(arc);
    const int32_t index = half_arc_of_[static_cast<size_t>(arc)];
    if (index != kNoHalfArc) {
      flows.push_back(of.lower + FlowOfHalfArc(index));
    } else if (of.tail == of.head) {
      flows.push_back(SelfLoopFlow(problem, arc));
    } else {
      flows.push_back(of.lower);
    }
  }
  return flows;
}

}  // namespace sluice
