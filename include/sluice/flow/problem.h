// A min-cost-flow problem and its solution, as plain values.
//
// Nodes are numbered 0..node_count()-1 and carry a supply (negative: a
// demand).  An arc has a lower bound, a capacity and a convex, piecewise-linear
// integer cost: one *segment* per slope, slopes rising.  A plain arc has one
// segment.  A ladder of a hundred unit arcs is one arc of a hundred segments
// (or fewer, where steps are equal).
//
// The flow layer knows no task and no machine; network/ gives nodes a meaning.
//
// Units: whole units of flow; cost per unit of flow, integers.
// Threads: values; share const ones freely.

#ifndef SLUICE_FLOW_PROBLEM_H_
#define SLUICE_FLOW_PROBLEM_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sluice {

using NodeIndex = int32_t;
using ArcIndex = int32_t;
using FlowUnits = int64_t;
using FlowCost = int64_t;

// `width` units of flow that cost `cost` each.
struct CostSegment {
  FlowUnits width = 0;
  FlowCost cost = 0;
  friend bool operator==(const CostSegment&, const CostSegment&) = default;
};

// What the solver is asked.  Add nodes, then arcs; FlowProblem checks nothing
// but indices of its own arrays: ValidateProblem() (flow/validate.h) says
// whether the whole makes sense, and every solver calls it first.
class FlowProblem {
 public:
  struct Arc {
    NodeIndex tail = 0;
    NodeIndex head = 0;
    FlowUnits lower = 0;     // At least this much must flow.
    FlowUnits capacity = 0;  // The sum of the segments' widths.
    int64_t first_segment = 0;
    int32_t segment_count = 0;
  };

  NodeIndex AddNode(FlowUnits supply);
  // REQUIRES: `node` exists.
  void SetSupply(NodeIndex node, FlowUnits supply);

  // A plain arc: every unit costs `cost`.  An arc of capacity zero is allowed
  // and carries nothing.
  ArcIndex AddArc(NodeIndex tail, NodeIndex head, FlowUnits capacity,
                  FlowCost cost, FlowUnits lower = 0);

  // A convex arc: the first segment's units are used first.  Its capacity is
  // the sum of the widths; equal costs may follow each other.
  ArcIndex AddConvexArc(NodeIndex tail, NodeIndex head,
                        std::span<const CostSegment> segments,
                        FlowUnits lower = 0);

  NodeIndex node_count() const {
    return static_cast<NodeIndex>(supplies_.size());
  }
  ArcIndex arc_count() const { return static_cast<ArcIndex>(arcs_.size()); }
  FlowUnits supply(NodeIndex node) const {
    return supplies_[static_cast<size_t>(node)];
  }
  const Arc& arc(ArcIndex arc) const { return arcs_[static_cast<size_t>(arc)]; }
  std::span<const CostSegment> segments(ArcIndex arc) const;
  int64_t segment_count() const {
    return static_cast<int64_t>(segments_.size());
  }

 private:
  std::vector<FlowUnits> supplies_;
  std::vector<Arc> arcs_;
  std::vector<CostSegment> segments_;
};

enum class SolveOutcome {
  kOptimal,
  kInfeasible,      // FlowSolution::witness_cut proves it.
  kUnbounded,       // Never yet: each arc has a capacity, so each cost an end.
  kCostRange,       // Costs or capacities too large to add up in 64 bits.
  kInvalidProblem,  // FlowSolution::error names the node or arc.
  kCancelled,
};

// "optimal", "infeasible", ...
const char* SolveOutcomeName(SolveOutcome outcome);

// How much work a solve was, in units that do not depend on the machine.
struct SolveWork {
  int64_t phases = 0;
  int64_t pushes = 0;
  int64_t relabels = 0;
  int64_t arc_scans = 0;
};

struct FlowSolution {
  SolveOutcome outcome = SolveOutcome::kInvalidProblem;
  // By arc: units of flow (lower <= flow <= capacity).  kOptimal only.
  std::vector<FlowUnits> flows;
  // By node: a price such that, for every residual arc tail -> head of marginal
  // cost c, c + potential[tail] - potential[head] >= 0.  kOptimal only: with
  // conservation and bounds this proves the optimum (complementary slackness).
  std::vector<FlowCost> potentials;
  FlowCost objective = 0;
  // kInfeasible: the nodes of a set from which more supply must leave than the
  // arcs out of it (less the lower bounds into it) can carry.
  std::vector<NodeIndex> witness_cut;
  std::string error;  // For people; empty where optimal.
  SolveWork work;
};

}  // namespace sluice

#endif  // SLUICE_FLOW_PROBLEM_H_
