// A min-cost-flow problem and its solution, as plain values.
//
// Nodes carry a supply (negative: a demand).  An arc has a lower bound, a
// capacity and a convex, piecewise-linear integer cost: one *segment* per
// slope, in ascending order.  A plain arc has one segment.  A ladder of a
// hundred unit arcs is one arc of a hundred segments (or fewer, if steps are
// equal).
//
// Two features are rare, and cost nothing in problems without them.  An arc may
// have a *gain*: it delivers a different amount than it takes.  And it may be
// *all or none*: it carries nothing or its capacity.
//
// A problem may be changed after it was solved.  Indices are stable handles:
// they keep their meaning until removed; removed ones are reused.  A removed
// arc is a closed one (capacity zero), and a removed node has no arcs and no
// supply, so readers need not tell them apart.
//
// The flow layer knows no task and no machine; network/ gives nodes a meaning.
// It may name some nodes, so that what was learned about a node is of use in
// another problem with a node of that name.
//
// Units: whole units of flow; cost per unit of flow, integers.
// Threads: values; share const ones freely.

#ifndef SLUICE_FLOW_PROBLEM_H_
#define SLUICE_FLOW_PROBLEM_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"

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

// Of every `denominator` units that enter an arc, `numerator` arrive.
struct FlowGain {
  int32_t numerator = 1;
  int32_t denominator = 1;
  friend bool operator==(const FlowGain&, const FlowGain&) = default;
};

// What was added, changed or removed since the log began.
struct FlowChange {
  enum class Kind : int8_t { kNode, kArc };
  Kind kind = Kind::kNode;
  int32_t index = 0;
  friend bool operator==(const FlowChange&, const FlowChange&) = default;
};

// The input of a solver.  FlowProblem checks only indices of its own arrays.
// ValidateProblem() (flow/validate.h) checks the whole, and every solver calls
// it first.
//
// Each call takes constant amortized time, plus the length of the given
// segments.
class FlowProblem {
  static constexpr int32_t kRemoved = -1;  // As a segment count.

 public:
  struct Arc {
    NodeIndex tail = 0;
    NodeIndex head = 0;
    FlowUnits lower = 0;  // At least this much must flow.
    // Its only segment if the arc is plain; if convex, as wide as all of its
    // segments together.
    CostSegment whole;
    int32_t first_segment = 0;
    int32_t segment_count = 0;  // In the pool; 0: plain, -1: removed.

    FlowUnits capacity() const { return whole.width; }
    bool is_plain() const { return segment_count == 0; }
    bool is_removed() const { return segment_count == kRemoved; }
  };

  NodeIndex AddNode(FlowUnits supply);
  // REQUIRES, here and below: the node or arc exists.
  void SetSupply(NodeIndex node, FlowUnits supply);
  // 0 means no name.  Solvers ignore names, and two nodes may share one.
  void SetName(NodeIndex node, uint64_t name);
  // REQUIRES: no arc touches the node.
  void RemoveNode(NodeIndex node);

  // A plain arc: every unit costs `cost`.  An arc of capacity zero is allowed
  // and carries nothing.
  ArcIndex AddArc(NodeIndex tail, NodeIndex head, FlowUnits capacity,
                  FlowCost cost, FlowUnits lower = 0);
  // A convex arc: the first segment's units are used first.  Its capacity is
  // the sum of the widths; equal costs may follow each other.  REQUIRES, here
  // and below: `segments` are not part of this problem.
  ArcIndex AddConvexArc(NodeIndex tail, NodeIndex head,
                        std::span<const CostSegment> segments,
                        FlowUnits lower = 0);
  // Replaces the bounds and cost of an arc; its ends, gain and kind stay.
  void SetArc(ArcIndex arc, FlowUnits capacity, FlowCost cost,
              FlowUnits lower = 0);
  void SetConvexArc(ArcIndex arc, std::span<const CostSegment> segments,
                    FlowUnits lower = 0);
  void RemoveArc(ArcIndex arc);

  // A gain of 1, in any form, counts as none.
  void SetGain(ArcIndex arc, FlowGain gain);
  void SetAllOrNone(ArcIndex arc, bool is_all_or_none);

  // Including removed ones.
  NodeIndex node_count() const {
    return static_cast<NodeIndex>(supplies_.size());
  }
  ArcIndex arc_count() const { return static_cast<ArcIndex>(arcs_.size()); }

  FlowUnits supply(NodeIndex node) const {
    return supplies_[static_cast<size_t>(node)];
  }
  uint64_t name(NodeIndex node) const {
    const auto index = static_cast<size_t>(node);
    return index < names_.size() ? names_[index] : 0;
  }
  const Arc& arc(ArcIndex arc) const { return arcs_[static_cast<size_t>(arc)]; }
  // Valid until the next change of the problem.  Empty for a removed arc.
  std::span<const CostSegment> segments(ArcIndex arc) const {
    const Arc& of = this->arc(arc);
    if (of.is_removed()) return {};
    if (of.is_plain()) return {&of.whole, 1};
    return std::span(segments_).subspan(static_cast<size_t>(of.first_segment),
                                        static_cast<size_t>(of.segment_count));
  }
  FlowGain gain(ArcIndex arc) const;
  bool is_all_or_none(ArcIndex arc) const { return all_or_none_.contains(arc); }

  // The gains that are not 1, by arc.
  const absl::btree_map<ArcIndex, FlowGain>& gains() const { return gains_; }
  const absl::btree_set<ArcIndex>& all_or_none() const { return all_or_none_; }
  // Over all arcs, including plain ones.
  int64_t segment_count() const;

  // Begins an empty log of changes, which replaces the previous one.
  void StartLog();
  // What changed since StartLog(), in order, with repetitions.  Null if there
  // is no log, or if it grew longer than the problem, so that looking at
  // everything is cheaper.
  const std::vector<FlowChange>* log() const {
    return is_logging_ ? &log_ : nullptr;
  }

 private:
  Arc& MutableArc(ArcIndex arc);
  void CountEnds(ArcIndex arc, int32_t count);
  void SetSegments(ArcIndex arc, std::span<const CostSegment> segments);
  void ReleaseSegments(Arc* arc);
  void Log(FlowChange::Kind kind, int32_t index);

  std::vector<FlowUnits> supplies_;
  std::vector<int32_t> degrees_;  // By node: ends of arcs there.
  std::vector<uint64_t> names_;   // By node, as far as any have one.
  std::vector<Arc> arcs_;
  std::vector<CostSegment> segments_;  // Of convex arcs.
  int64_t unused_segments_ = 0;        // In segments_.
  absl::btree_map<ArcIndex, FlowGain> gains_;
  absl::btree_set<ArcIndex> all_or_none_;
  std::vector<NodeIndex> free_nodes_;  // The last removed is reused first.
  std::vector<ArcIndex> free_arcs_;
  std::vector<FlowChange> log_;
  bool is_logging_ = false;
};

enum class SolveOutcome {
  kOptimal,
  kInfeasible,      // FlowSolution::witness_cut proves it.
  kUnbounded,       // Not used: each arc has a capacity.
  kCostRange,       // Costs or capacities too large to add up in 64 bits.
  kInvalidProblem,  // FlowSolution::error names the node or arc.
  kBudgetSpent,     // SolveLimits::work_max was reached.
  kCancelled,
};

// "optimal", "infeasible", ...
const char* SolveOutcomeName(SolveOutcome outcome);

// How much work a solve took, in machine-independent units. docs/solver.md says
// which algorithm counts what.
struct SolveWork {
  int64_t phases = 0;
  int64_t pushes = 0;
  int64_t relabels = 0;
  int64_t pivots = 0;
  int64_t paths = 0;  // Augmenting paths.
  int64_t arc_scans = 0;

  SolveWork& operator+=(const SolveWork& other);
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
  bool is_warm = false;  // Solver::SolveFrom() started from it.
  // kInfeasible: the nodes of a set from which more supply must leave than the
  // arcs out of it (less the lower bounds into it) can carry.
  std::vector<NodeIndex> witness_cut;
  std::string error;           // For people; empty if optimal.
  std::string_view algorithm;  // Name of the solver.
  SolveWork work;
};

}  // namespace sluice

#endif  // SLUICE_FLOW_PROBLEM_H_
