// Keeps a min-cost flow optimal while its problem changes, by successive
// shortest paths (docs/solver.md).
//
// The flow and the potentials of the last optimum stay.  A change moves the
// flow of its arc to what is best at the potentials as they are, which leaves
// nodes with an excess or a deficit but no half arc of negative reduced cost.
// Then each excess is sent to the nearest deficit, and each deficit left is
// filled from the nearest excess, along shortest paths by reduced cost, which
// keeps it so.  A search looks no further than its path is long, and an update
// costs what it touches: nothing here takes time in proportion to the problem
// but Adopt() and Solve().
//
// The node of the largest supply or demand (the sink, mostly) is the
// *reservoir*: it takes any excess and fills any deficit, and is balanced in
// the end because all supplies add up to zero.  So no search crosses it, whose
// arcs may be as many as there are tasks.
//
// Exact: potentials are integers that fit 62 bits, or the outcome is
// kCostRange.  Deterministic.
//
// Threads: none; confined to its owner.

#ifndef SLUICE_SOLVER_INCREMENTAL_FLOW_H_
#define SLUICE_SOLVER_INCREMENTAL_FLOW_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/int128.h"
#include "sluice/flow/problem.h"
#include "sluice/solver/solver.h"
#include "solver/dynamic_residual_network.h"

namespace sluice {

class IncrementalFlow {
 public:
  // From where on it pays to do something clever.  Tests set them low.
  struct Thresholds {
    // A search that has scanned more half arcs goes on from both ends.
    int64_t one_sided_scans = 3000;
    // A node with more half arcs has them divided into near and far ones.
    size_t unsplit_count = 64;
    int32_t near_count_min = 16;
  };

  IncrementalFlow() = default;
  explicit IncrementalFlow(const Thresholds& thresholds)
      : thresholds_(thresholds) {}

  // Solves from scratch: from no flow at all.
  FlowSolution Solve(const FlowProblem& problem, const SolveLimits& limits);

  // Takes over what another solver found for `problem`, in time linear in the
  // problem; memory is kept from the time before.
  // REQUIRES: VerifySolution() would accept it.
  void Adopt(const FlowProblem& problem, const FlowSolution& solution);

  // Whether Resolve() has something to begin with.
  bool has_optimum() const { return has_optimum_; }

  // As Solver::Resolve().  Where the outcome is no optimum, the next call
  // solves from scratch, unless Adopt() comes first.
  void Resolve(const FlowProblem& problem, const SolveLimits& limits,
               FlowSolution* solution);

 private:
  using HalfArc = DynamicResidualNetwork::HalfArc;
  using HalfArcId = DynamicResidualNetwork::HalfArcId;
  static constexpr NodeIndex kNoNode = -1;
  static constexpr FlowCost kInfinity = std::numeric_limits<FlowCost>::max();

  enum : size_t { kForward, kBackward };

  struct Label {
    FlowCost distance = 0;  // In the search named next.
    uint32_t search = 0;    // 2 * number, and 1 once settled.
    HalfArcId parent = 0;   // The half arc that the search came over.
  };

  struct Node {
    FlowUnits excess = 0;  // Supply + flow in - flow out.
    std::array<Label, 2> labels;
  };

  struct HeapEntry {
    FlowCost distance = 0;
    NodeIndex node = 0;
    auto operator<=>(const HeapEntry&) const = default;
  };

  // What is known of the far half arcs of a node (DynamicResidualNetwork), by
  // direction.  Their cost less the reference of the node at the head (plus
  // that of the node at the tail) is at least `level` less what drift_sum_
  // says.
  struct Split {
    FlowCost level = 0;
    int32_t near_count = 0;  // To be near.
    int32_t scan_count = 0;  // Scans of the near ones since the last split.
  };

  // One end of a search: the nodes found from an excess, or to a deficit.
  struct Side {
    bool is_open = false;
    bool is_far = false;  // The counterpart's.
    NodeIndex root = kNoNode;
    int64_t scans = 0;
    FlowCost distance = 0;         // Of the node settled last.
    std::vector<NodeIndex> level;  // A queue: labeled at that distance.
    size_t level_begin = 0;
    std::vector<HeapEntry> heap;  // Labeled beyond.
    // Settled, but for far half arcs, which lead no nearer than this.
    std::vector<HeapEntry> far_heap;
    std::vector<NodeIndex> settled;
    NodeIndex hit = kNoNode;  // The nearest node to balance with.
    FlowCost hit_distance = kInfinity;
    FlowCost wall = kInfinity;   // The reservoir's distance, where no hit.
    FlowCost bound = kInfinity;  // No label from here on helps.
    FlowCost radius = 0;         // By which potentials move.

    void Close(FlowCost cap);
    // The distance that the next node is settled at; infinite if there is none.
    FlowCost Next() const {
      if (!level.empty()) return distance;
      return std::min(heap.empty() ? kInfinity : heap.front().distance,
                      NextFar());
    }
    FlowCost NextFar() const {
      return far_heap.empty() ? kInfinity : far_heap.front().distance;
    }
    // All nodes nearer than this are settled.
    FlowCost Reach() const {
      return is_open ? std::min({Next(), wall, bound}) : 0;
    }
  };

  // How the two sides of a search make a path.
  enum class Join { kNone, kForwardHit, kBackwardHit, kMeeting };

  Node& node(NodeIndex index) { return nodes_[static_cast<size_t>(index)]; }
  FlowCost potential(NodeIndex index) const {
    return solution_->potentials[static_cast<size_t>(index)];
  }
  FlowUnits& flow(ArcIndex arc) {
    return solution_->flows[static_cast<size_t>(arc)];
  }

  void Begin(const FlowProblem& problem, const SolveLimits& limits,
             FlowSolution* solution);
  void StartEmpty();
  void Build(const FlowSolution& solution);
  void TakeReferences(const std::vector<FlowCost>& potentials);
  void MeasureLimits();
  DynamicResidualNetwork::ArcState StateOf(ArcIndex arc, FlowUnits flow) const;
  Int128 NewCost(ArcIndex arc, FlowUnits flow);
  Int128 OldCost(ArcIndex arc);
  void ChooseReservoir(NodeIndex candidate);

  bool IsWithinLimits(std::span<const FlowChange> log);
  bool IsArcWithinLimits(ArcIndex index);
  bool AddToTotal(FlowUnits amount);
  bool ApplyToNodes(std::span<const FlowChange> log);
  void ApplyToArcs(std::span<const FlowChange> log);
  void Relist(ArcIndex arc);
  void Fit(NodeIndex index);
  FlowUnits BestFlow(ArcIndex arc, FlowUnits flow) const;
  void ChangeFlow(ArcIndex arc, FlowUnits to);
  void AddExcess(NodeIndex index, FlowUnits amount);
  void SetPotential(NodeIndex index, FlowCost potential);

  void Route();
  template <bool is_forward>
  void RouteFrom(NodeIndex start);
  template <bool is_forward>
  NodeIndex Counterpart();
  template <bool is_forward>
  void Search(NodeIndex start);
  template <bool is_forward>
  void SearchWithinCap(NodeIndex start);
  bool IsJoined();
  bool IsMeetingInDoubt();
  static void Push(const HeapEntry& entry, std::vector<HeapEntry>* heap);
  static NodeIndex PopNearest(std::vector<HeapEntry>* heap);
  template <bool is_forward>
  void Open(NodeIndex root);
  template <bool is_forward>
  void SettleNext();
  template <bool is_forward>
  void Scan(NodeIndex from);
  template <bool is_forward>
  void ScanFar(NodeIndex from);
  template <bool is_forward>
  void ScanNextFar();
  template <bool is_forward>
  void ScanHalfArcs(NodeIndex from, std::span<const HalfArc> half_arcs);
  void CountScans(size_t side, size_t count);
  template <bool is_forward>
  void SplitHalfArcs(NodeIndex from);
  template <bool is_forward>
  void Reach(const HalfArc& over, FlowCost distance);
  void UpdatePotentials();
  void Augment();
  template <bool is_forward>
  void FindCut();
  FlowUnits RoomOver(HalfArcId id);
  void PollLimits();
  void Finish();
  void SetObjective();

  Thresholds thresholds_;

  // Of the call at hand.
  const FlowProblem* problem_ = nullptr;
  SolveLimits limits_;
  FlowSolution* solution_ = nullptr;
  std::optional<SolveOutcome> outcome_;  // Set once it ends before the optimum.
  SolveWork work_;
  int64_t next_poll_at_ = 0;  // By arc_scans.

  // Of the last optimum, if there is one.
  bool has_optimum_ = false;
  DynamicResidualNetwork network_;
  std::vector<Node> nodes_;
  std::vector<FlowUnits> supplies_;
  // By arc, what its flow costs, where that does not follow from its half arcs:
  // of convex arcs and self-loops.  Empty where there are none.
  std::vector<FlowCost> costs_;
  bool is_objective_known_ = false;
  Int128 objective_ = 0;
  // Bounds from above, to tell without a look at everything that a changed
  // problem is within the limits of flow/validate.h.
  FlowUnits size_total_ = 0;
  FlowCost cost_max_ = 0;
  NodeIndex reservoir_ = kNoNode;

  // Potentials drift away from the references: upward (matters to the forward
  // side) and downward (backward) by at most drift_ now, and by drift_sum_
  // until the references were taken.
  std::vector<FlowCost> references_;
  std::array<FlowCost, 2> drift_ = {};
  std::array<FlowCost, 2> drift_sum_ = {};
  std::array<std::vector<Split>, 2> splits_;  // By node.
  int64_t far_scans_ = 0;  // Since the references were taken.

  // Scratch of a call, kept for its memory.
  std::vector<NodeIndex> unbalanced_;    // May have an excess or deficit.
  std::vector<NodeIndex> counterparts_;  // Those not found balanced yet.
  uint32_t search_ = 0;
  // Nothing is labeled at this distance or beyond, which saves most labels; a
  // search that fails for it is repeated with a larger one.
  FlowCost cap_ = 64;
  std::array<Side, 2> sides_;
  Join join_ = Join::kNone;
  NodeIndex meeting_ = kNoNode;  // Where the sides meet on the shortest path.
  FlowCost meeting_distance_ = 0;
  std::vector<HalfArcId> path_;
  std::vector<FlowCost> keys_;
};

}  // namespace sluice

#endif  // SLUICE_SOLVER_INCREMENTAL_FLOW_H_
