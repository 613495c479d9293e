#include "oracle/random_changes.h"

#include <algorithm>
#include <vector>

namespace sluice {
namespace {

// Mostly ties; now and then a cost that no search looks at lightly.
constexpr FlowCost kCostMax = 20;
constexpr FlowCost kDearCostMax = 1000;

// Supply is moved in steps of up to this.
constexpr FlowUnits kSupplyStepMax = 2;

std::vector<ArcIndex> ArcsThere(const FlowProblem& problem) {
  std::vector<ArcIndex> arcs;
  for (ArcIndex arc = 0; arc < problem.arc_count(); ++arc) {
    if (!problem.arc(arc).is_removed()) arcs.push_back(arc);
  }
  return arcs;
}

std::vector<CostSegment> DrawSegments(const RandomShape& shape, Rng* rng) {
  std::vector<CostSegment> segments;
  const FlowCost cost_max = rng->Chance(1, 4) ? kDearCostMax : kCostMax;
  FlowCost cost = rng->Between(-cost_max / 4, cost_max);
  for (int64_t i = rng->Between(0, shape.segment_count_max); i > 0; --i) {
    segments.push_back(
        {.width = rng->Between(1, shape.capacity_max), .cost = cost});
    cost += rng->Between(0, cost_max);
  }
  return segments;
}

FlowUnits DrawLower(const std::vector<CostSegment>& segments, Rng* rng) {
  if (!rng->Chance(1, 6)) return 0;
  FlowUnits capacity = 0;
  for (const CostSegment& segment : segments) capacity += segment.width;
  return rng->Between(0, capacity);
}

}  // namespace

NodeIndex RandomChanger::DrawNode(Rng* rng) const {
  while (true) {
    const auto node =
        static_cast<NodeIndex>(rng->Between(0, problem_.node_count() - 1));
    if (!removed_.contains(node)) return node;
  }
}

void RandomChanger::MoveSupply(NodeIndex from, NodeIndex to, FlowUnits units) {
  problem_.SetSupply(from, problem_.supply(from) - units);
  problem_.SetSupply(to, problem_.supply(to) + units);
}

void RandomChanger::AddArc(NodeIndex tail, NodeIndex head, Rng* rng) {
  const std::vector<CostSegment> segments = DrawSegments(shape_, rng);
  problem_.AddConvexArc(tail, head, segments, DrawLower(segments, rng));
}

// An arc that is there is changed, or a new one added.
void RandomChanger::ChangeArc(Rng* rng) {
  const std::vector<ArcIndex> arcs = ArcsThere(problem_);
  if (arcs.empty() || rng->Chance(1, 4)) {
    const NodeIndex tail = DrawNode(rng);
    AddArc(tail, DrawNode(rng), rng);
    return;
  }
  const ArcIndex arc = arcs[rng->Below(arcs.size())];
  if (rng->Chance(1, 4)) {
    problem_.RemoveArc(arc);
  } else if (rng->Chance(1, 3) && problem_.arc(arc).is_plain()) {
    const FlowProblem::Arc old = problem_.arc(arc);
    problem_.SetArc(arc, old.capacity(), old.whole.cost + rng->Between(-3, 3),
                    old.lower);
  } else {
    const std::vector<CostSegment> segments = DrawSegments(shape_, rng);
    problem_.SetConvexArc(arc, segments, DrawLower(segments, rng));
  }
}

void RandomChanger::AddNode(Rng* rng) {
  if (problem_.node_count() >= 2 * shape_.node_count_max) return;
  const NodeIndex other = DrawNode(rng);
  const NodeIndex node = problem_.AddNode(0);
  removed_.erase(node);
  for (int64_t i = rng->Between(0, 3); i > 0; --i) {
    if (rng->Chance(1, 2)) {
      AddArc(node, DrawNode(rng), rng);
    } else {
      AddArc(DrawNode(rng), node, rng);
    }
  }
  MoveSupply(other, node, rng->Between(-kSupplyStepMax, kSupplyStepMax));
}

// Another node gets the supply.
void RandomChanger::RemoveNode(Rng* rng) {
  const NodeIndex node = DrawNode(rng);
  const NodeIndex heir = DrawNode(rng);
  if (node == heir) return;
  for (const ArcIndex arc : ArcsThere(problem_)) {
    const FlowProblem::Arc& of = problem_.arc(arc);
    if (of.tail == node || of.head == node) problem_.RemoveArc(arc);
  }
  MoveSupply(node, heir, problem_.supply(node));
  problem_.RemoveNode(node);
  removed_.insert(node);
}

void RandomChanger::Change(int count_max, Rng* rng) {
  for (int64_t i = rng->Between(0, count_max); i > 0; --i) {
    const uint64_t kind = rng->Below(8);
    if (kind == 0) {
      RemoveNode(rng);
    } else if (kind == 1) {
      AddNode(rng);
    } else if (kind <= 3) {
      const NodeIndex from = DrawNode(rng);
      MoveSupply(from, DrawNode(rng), rng->Between(1, kSupplyStepMax));
    } else {
      ChangeArc(rng);
    }
  }
}

}  // namespace sluice
