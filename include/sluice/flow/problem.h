// A min-cost-flow problem and its solution, as plain values.
//
// Nodes carry a supply (negative: a demand).  An arc has a lower bound, a
// capacity and a convex, piecewise-linear integer cost: one *segment* per
// slope, slopes rising.  A plain arc has one segment.  A ladder of a hundred
// unit arcs is one arc of a hundred segments (or fewer, where steps are equal).
//
// Two things are rare, and problems without them pay nothing for them: an arc
// may have a *gain* (it delivers another amount than it takes) and may be *all
// or none* (it carries nothing or its capacity).
//
// A problem may be changed after it was solved.  Indices are stable handles:
// they keep their meaning until removed, and a removed one is dealt again.  A
// removed arc is a closed one (capacity zero) and a removed node one without
// arcs and supply, so that nobody who only reads has to tell them apart.
//
// The flow layer knows no task and no machine; network/ gives nodes a meaning.
// It may name some, so that what was found out about a node can be of use in
// another problem that has a node of that name.
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

// Of each `denominator` units that enter an arc, `numerator` arrive.
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

// What a solver is asked.  FlowProblem checks nothing but indices of its own
// arrays: ValidateProblem() (flow/validate.h) says whether the whole makes
// sense, and every solver calls it first.
//
// Each call takes constant time, but for the length of the segments handed in
// (amortized, like the growth of a vector).
class FlowProblem {
  static constexpr int32_t kRemoved = -1;  // As a segment count.

 public:
  struct Arc {
    NodeIndex tail = 0;
    NodeIndex head = 0;
    FlowUnits lower = 0;  // At least this much must flow.
    // Of a plain arc its only segment; of a convex one as wide as all of its
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
  // 0 is no name.  No solver minds names, or whether two nodes share one.
  void SetName(NodeIndex node, uint64_t name);
  // REQUIRES: no arc touches the node any more.
  void RemoveNode(NodeIndex node);

  // A plain arc: every unit costs `cost`.  An arc of capacity zero is allowed
  // and carries nothing.
  ArcIndex AddArc(NodeIndex tail, NodeIndex head, FlowUnits capacity,
                  FlowCost cost, FlowUnits lower = 0);
  // A convex arc: the first segment's units are used first.  Its capacity is
  // the sum of the widths; equal costs may follow each other.
  // REQUIRES, here and below: `segments` are not part of this problem.
  ArcIndex AddConvexArc(NodeIndex tail, NodeIndex head,
                        std::span<const CostSegment> segments,
                        FlowUnits lower = 0);
  // Bounds and cost of an arc anew; its ends, gain and kind stay.
  void SetArc(ArcIndex arc, FlowUnits capacity, FlowCost cost,
              FlowUnits lower = 0);
  void SetConvexArc(ArcIndex arc, std::span<const CostSegment> segments,
                    FlowUnits lower = 0);
  void RemoveArc(ArcIndex arc);

  // A gain of 1, however it is written, is none.
  void SetGain(ArcIndex arc, FlowGain gain);
  void SetAllOrNone(ArcIndex arc, bool is_all_or_none);

  // Removed ones included.
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

  // By arc, those whose gain is not 1.
  const absl::btree_map<ArcIndex, FlowGain>& gains() const { return gains_; }
  const absl::btree_set<ArcIndex>& all_or_none() const { return all_or_none_; }
  // Over all arcs, plain ones included.
  int64_t segment_count() const;

  // Begins a log of changes, empty, which ends the one before.
  void StartLog();
  // What changed since StartLog(), in order, repetitions included; or null
  // where there is no log, or it grew longer than the problem, so that looking
  // at everything is cheaper.
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
  std::vector<uint64_t> names_;   // By node, as far as there are any.
  std::vector<Arc> arcs_;
  std::vector<CostSegment> segments_;  // Of convex arcs.
  int64_t unused_segments_ = 0;        // In segments_.
  absl::btree_map<ArcIndex, FlowGain> gains_;
  absl::btree_set<ArcIndex> all_or_none_;
  std::vector<NodeIndex> free_nodes_;  // The last removed is dealt first.
  std::vector<ArcIndex> free_arcs_;
  std::vector<FlowChange> log_;
  bool is_logging_ = false;
};

enum class SolveOutcome {
  kOptimal,
  kInfeasible,      // FlowSolution::witness_cut proves it.
  kUnbounded,       // Never yet: each arc has a capacity, so each cost an end.
  kCostRange,       // Costs or capacities too large to add up in 64 bits.
  kInvalidProblem,  // FlowSolution::error names the node or arc.
  kBudgetSpent,     // SolveLimits::work_max was reached.
  kCancelled,
};

// "optimal", "infeasible", ...
const char* SolveOutcomeName(SolveOutcome outcome);

// How much work a solve was, in units that do not depend on the machine.
// docs/solver.md says which algorithm counts what.
struct SolveWork {
  int64_t phases = 0;
  int64_t pushes = 0;
  int64_t relabels = 0;
  int64_t pivots = 0;
  int64_t paths = 0;  // Augmented along.
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
  bool is_warm = false;  // Solver::SolveFrom() found it from its start.
  // kInfeasible: the nodes of a set from which more supply must leave than the
  // arcs out of it (less the lower bounds into it) can carry.
  std::vector<NodeIndex> witness_cut;
  std::string error;           // For people; empty where optimal.
  std::string_view algorithm;  // The name of the solver that found it.
  SolveWork work;
};

}  // namespace sluice

#endif  // SLUICE_FLOW_PROBLEM_H_
