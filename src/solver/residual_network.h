// The residual network of a flow problem, with convex arcs in place.
//
// Each arc is two half arcs, one in each direction, stored with their tails so
// that the half arcs out of a node are contiguous.  The half arc along the flow
// carries the cost of the next unit and the remaining width of that unit's
// segment.  The one against it carries the refund for the last unit and how
// much of that unit's segment is in use.  A convex arc's half arcs move to the
// neighboring segment when a push reaches the end of one; nothing is ever
// expanded.
//
// Lower bounds are eliminated: an arc begins with its lower bound of flow, and
// its half arcs cover only what may change.  Arcs that may not change (capacity
// equal to lower bound) and self-loops, whose best flow depends on nothing
// else, have no half arcs.
//
// Costs are multiplied by a factor given at construction.
//
// Threads: none; confined to its owner.

#ifndef SLUICE_SOLVER_RESIDUAL_NETWORK_H_
#define SLUICE_SOLVER_RESIDUAL_NETWORK_H_

#include <cstdint>
#include <span>
#include <vector>

#include "sluice/flow/problem.h"

namespace sluice {

class ResidualNetwork {
 public:
  struct HalfArc {
    NodeIndex head = 0;
    // The index of the half arc the other way, and whether that has any
    // residual: stored here, since reading the twin would be a cache miss.
    uint32_t twin : 31 = 0;
    uint32_t is_twin_open : 1 = 0;
    FlowCost cost = 0;       // Of one more unit this way, scaled.
    FlowUnits residual = 0;  // How many more units cost that.
  };

  // REQUIRES: ValidateProblem(problem) is OK and cost_factor is at most the
  // node count plus one.  `problem` is not kept.
  ResidualNetwork(const FlowProblem& problem, FlowCost cost_factor);

  NodeIndex node_count() const {
    return static_cast<NodeIndex>(first_.size()) - 1;
  }
  int32_t half_arc_count() const {
    return static_cast<int32_t>(half_arcs_.size());
  }
  // The half arcs out of `node` are those in [first(node), first(node + 1)).
  int32_t first(NodeIndex node) const {
    return first_[static_cast<size_t>(node)];
  }
  const HalfArc& half_arc(int32_t index) const {
    return half_arcs_[static_cast<size_t>(index)];
  }
  // The cost of the twin of a half arc.  REQUIRES: is_twin_open.
  FlowCost TwinCost(int32_t index) const {
    const HalfArc& arc = half_arc(index);
    const bool is_plain = ladder_end_[static_cast<size_t>(index)] == kNoLadder;
    return is_plain ? -arc.cost : half_arc(arc.twin).cost;
  }
  // The remaining supply: supply + flow in - flow out.
  FlowUnits excess(NodeIndex node) const {
    return excess_[static_cast<size_t>(node)];
  }
  // The largest |cost| of a half arc at any flow, scaled.
  FlowCost cost_max() const { return cost_max_; }

  // Moves `amount` units from `tail`, the half arc's tail, to its head.
  // REQUIRES: 0 < amount <= half_arc(index).residual.
  void Push(NodeIndex tail, int32_t index, FlowUnits amount) {
    HalfArc& along = half_arcs_[static_cast<size_t>(index)];
    excess_[static_cast<size_t>(tail)] -= amount;
    excess_[static_cast<size_t>(along.head)] += amount;
    const int32_t end = ladder_end_[static_cast<size_t>(index)];
    if (end != kNoLadder) {
      PushOnLadder(end, amount, &along);
      return;
    }
    HalfArc& against = half_arcs_[along.twin];
    along.residual -= amount;
    against.residual += amount;
    along.is_twin_open = 1;
    against.is_twin_open = along.residual > 0;
  }

  // The units of flow by arc of `problem`, which must be that of construction.
  std::vector<FlowUnits> Flows(const FlowProblem& problem) const;

 private:
  // One end of a convex arc: the half arc along the flow has the even index of
  // a pair, its twin the odd one.
  struct LadderEnd {
    int64_t segment = 0;  // The segment that the half arc is in.
    int64_t last = 0;     // The last segment in the half arc's direction.
  };
  static constexpr int32_t kNoLadder = -1;

  void CountHalfArcs(const FlowProblem& problem);
  void PlaceArc(const FlowProblem& problem, ArcIndex arc, FlowCost cost_factor,
                std::vector<int32_t>* next);
  void PushOnLadder(int32_t end, FlowUnits amount, HalfArc* along);
  FlowUnits FlowOfHalfArc(int32_t index) const;

  std::vector<int32_t> first_;
  std::vector<HalfArc> half_arcs_;
  std::vector<int32_t> ladder_end_;  // By half arc: its LadderEnd or none.
  std::vector<LadderEnd> ladder_ends_;
  std::vector<CostSegment> segments_;  // Of the ladders, costs scaled.
  std::vector<int32_t> half_arc_of_;   // By arc; or kNoHalfArc.
  std::vector<FlowUnits> excess_;
  FlowCost cost_max_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_SOLVER_RESIDUAL_NETWORK_H_
