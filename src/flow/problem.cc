#include "sluice/flow/problem.h"

#include <glog/logging.h>

namespace sluice {
namespace {

// Segments that no arc uses are given up once they are most of the pool.
constexpr int64_t kUnusedSegmentsMin = 1024;

// 32 GiB of them, to be numbered in 32 bits.
constexpr size_t kSegmentsMax = (size_t{1} << 31) - 1;

// A log this long says less than a look at everything.
constexpr size_t kLogSizeMin = 1024;

// The sum of the widths, or -1 if it is beyond 64 bits, which no valid arc's
// capacity is.
FlowUnits SumOfWidths(std::span<const CostSegment> segments) {
  FlowUnits sum = 0;
  for (const CostSegment& segment : segments) {
    if (__builtin_add_overflow(sum, segment.width, &sum)) return -1;
  }
  return sum;
}

}  // namespace

NodeIndex FlowProblem::AddNode(FlowUnits supply) {
  NodeIndex node = node_count();
  if (free_nodes_.empty()) {
    supplies_.push_back(supply);
    degrees_.push_back(0);
  } else {
    node = free_nodes_.back();
    free_nodes_.pop_back();
    supplies_[static_cast<size_t>(node)] = supply;
    if (name(node) != 0) SetName(node, 0);
  }
  Log(FlowChange::Kind::kNode, node);
  return node;
}

void FlowProblem::SetSupply(NodeIndex node, FlowUnits supply) {
  CHECK(node >= 0 && node < node_count()) << "no node " << node;
  supplies_[static_cast<size_t>(node)] = supply;
  Log(FlowChange::Kind::kNode, node);
}

void FlowProblem::SetName(NodeIndex node, uint64_t name) {
  CHECK(node >= 0 && node < node_count()) << "no node " << node;
  if (names_.size() <= static_cast<size_t>(node)) {
    names_.resize(supplies_.size());
  }
  names_[static_cast<size_t>(node)] = name;
}

void FlowProblem::RemoveNode(NodeIndex node) {
  SetSupply(node, 0);
  CHECK_EQ(degrees_[static_cast<size_t>(node)], 0)
      << "arcs still touch node " << node;
  free_nodes_.push_back(node);
}

ArcIndex FlowProblem::AddArc(NodeIndex tail, NodeIndex head, FlowUnits capacity,
                             FlowCost cost, FlowUnits lower) {
  const CostSegment segment = {capacity, cost};
  return AddConvexArc(tail, head, {&segment, 1}, lower);
}

ArcIndex FlowProblem::AddConvexArc(NodeIndex tail, NodeIndex head,
                                   std::span<const CostSegment> segments,
                                   FlowUnits lower) {
  ArcIndex arc = arc_count();
  if (free_arcs_.empty()) {
    arcs_.emplace_back();
  } else {
    arc = free_arcs_.back();
    free_arcs_.pop_back();
  }
  arcs_[static_cast<size_t>(arc)] = {
      .tail = tail, .head = head, .lower = lower, .whole = {}};
  CountEnds(arc, 1);
  SetSegments(arc, segments);
  Log(FlowChange::Kind::kArc, arc);
  return arc;
}

void FlowProblem::SetArc(ArcIndex arc, FlowUnits capacity, FlowCost cost,
                         FlowUnits lower) {
  const CostSegment segment = {capacity, cost};
  SetConvexArc(arc, {&segment, 1}, lower);
}

void FlowProblem::SetConvexArc(ArcIndex arc,
                               std::span<const CostSegment> segments,
                               FlowUnits lower) {
  Arc& of = MutableArc(arc);
  ReleaseSegments(&of);
  of.lower = lower;
  SetSegments(arc, segments);
  Log(FlowChange::Kind::kArc, arc);
}

void FlowProblem::RemoveArc(ArcIndex arc) {
  Arc& of = MutableArc(arc);
  ReleaseSegments(&of);
  CountEnds(arc, -1);
  of = {.whole = {}, .segment_count = kRemoved};
  gains_.erase(arc);
  all_or_none_.erase(arc);
  free_arcs_.push_back(arc);
  Log(FlowChange::Kind::kArc, arc);
}

void FlowProblem::SetGain(ArcIndex arc, FlowGain gain) {
  MutableArc(arc);
  if (gain.numerator == gain.denominator && gain.numerator > 0) {
    gains_.erase(arc);
  } else {
    gains_[arc] = gain;
  }
  Log(FlowChange::Kind::kArc, arc);
}

void FlowProblem::SetAllOrNone(ArcIndex arc, bool is_all_or_none) {
  MutableArc(arc);
  if (is_all_or_none) {
    all_or_none_.insert(arc);
  } else {
    all_or_none_.erase(arc);
  }
  Log(FlowChange::Kind::kArc, arc);
}

FlowGain FlowProblem::gain(ArcIndex arc) const {
  const auto it = gains_.find(arc);
  return it == gains_.end() ? FlowGain() : it->second;
}

int64_t FlowProblem::segment_count() const {
  int64_t count = 0;
  for (const Arc& arc : arcs_) {
    if (!arc.is_removed()) count += arc.is_plain() ? 1 : arc.segment_count;
  }
  return count;
}

void FlowProblem::StartLog() {
  log_.clear();
  is_logging_ = true;
}

void FlowProblem::Log(FlowChange::Kind kind, int32_t index) {
  if (!is_logging_) return;
  if (log_.size() > supplies_.size() + arcs_.size() + kLogSizeMin) {
    is_logging_ = false;
    log_ = {};
    return;
  }
  log_.push_back({kind, index});
}

FlowProblem::Arc& FlowProblem::MutableArc(ArcIndex arc) {
  CHECK(arc >= 0 && arc < arc_count() && !this->arc(arc).is_removed())
      << "no arc " << arc;
  return arcs_[static_cast<size_t>(arc)];
}

// Of ends that are no node ValidateProblem() will tell.
void FlowProblem::CountEnds(ArcIndex arc, int32_t count) {
  for (const NodeIndex node : {this->arc(arc).tail, this->arc(arc).head}) {
    if (node < 0 || node >= node_count()) continue;
    degrees_[static_cast<size_t>(node)] += count;
  }
}

void FlowProblem::SetSegments(ArcIndex arc,
                              std::span<const CostSegment> segments) {
  Arc& of = arcs_[static_cast<size_t>(arc)];
  of.segment_count = 0;
  if (segments.size() <= 1) {
    of.whole = segments.empty() ? CostSegment() : segments.front();
    return;
  }
  of.whole = {.width = SumOfWidths(segments), .cost = 0};
  CHECK_LE(segments_.size() + segments.size(), kSegmentsMax);
  of.first_segment = static_cast<int32_t>(segments_.size());
  of.segment_count = static_cast<int32_t>(segments.size());
  segments_.insert(segments_.end(), segments.begin(), segments.end());
}

void FlowProblem::ReleaseSegments(Arc* arc) {
  unused_segments_ += arc->segment_count;
  arc->segment_count = 0;
  if (unused_segments_ < kUnusedSegmentsMin ||
      2 * unused_segments_ < std::ssize(segments_)) {
    return;
  }
  std::vector<CostSegment> used;
  used.reserve(segments_.size() - static_cast<size_t>(unused_segments_));
  for (Arc& of : arcs_) {
    if (of.segment_count <= 0) continue;
    const auto begin = segments_.begin() + of.first_segment;
    of.first_segment = static_cast<int32_t>(used.size());
    used.insert(used.end(), begin, begin + of.segment_count);
  }
  segments_ = std::move(used);
  unused_segments_ = 0;
}

SolveWork& SolveWork::operator+=(const SolveWork& other) {
  phases += other.phases;
  pushes += other.pushes;
  relabels += other.relabels;
  pivots += other.pivots;
  paths += other.paths;
  arc_scans += other.arc_scans;
  return *this;
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
    case SolveOutcome::kBudgetSpent:
      return "budget spent";
    case SolveOutcome::kCancelled:
      return "cancelled";
  }
  return "unknown";
}

}  // namespace sluice
