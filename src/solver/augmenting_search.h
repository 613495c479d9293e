// Shortest augmenting paths in a residual network without negative reduced
// costs: the search of solver/incremental_flow.h.
//
// A search is Dijkstra's algorithm by reduced cost (Tomizawa 1971; Edmonds and
// Karp 1972; Ahuja, Magnanti, Orlin 1993, ch. 9.7).  It looks no further than
// the length of its path.  It moves the potentials of settled nodes such that
// reduced costs along the path become zero and none becomes negative.  A search
// that gets wide continues from both ends (Pohl 1971): balls of half the radius
// hold far fewer nodes.
//
// Excess and deficit are stored here, since each step of a search reads them.
// The *reservoir* is a node that takes any excess and fills any deficit.
//
// Threads: none; confined to its owner.

#ifndef SLUICE_SOLVER_AUGMENTING_SEARCH_H_
#define SLUICE_SOLVER_AUGMENTING_SEARCH_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sluice/flow/problem.h"
#include "sluice/solver/solver.h"
#include "solver/dynamic_residual_network.h"
#include "solver/hub_tiers.h"

namespace sluice {

class AugmentingSearch {
 public:
  using HalfArc = DynamicResidualNetwork::HalfArc;
  using HalfArcId = DynamicResidualNetwork::HalfArcId;
  static constexpr NodeIndex kNoNode = -1;
  static constexpr FlowCost kInfinity = std::numeric_limits<FlowCost>::max();
  // Potentials beyond this in size could overflow reduced costs.
  static constexpr FlowCost kPotentialMax = int64_t{1} << 60;

  // Sizes from which on refinements pay.  Tests set them low.
  struct Thresholds {
    // A search that has scanned more half arcs than this continues from both
    // ends.
    int64_t one_sided_scans = 1000;
    // Half arcs in the first tier of a node (solver/hub_tiers.h).
    size_t near_count = 48;
  };

  // Half arcs from `source`, which has units left, to `target`, which lacks
  // some; in no order.  Valid until the next search.
  struct Path {
    NodeIndex source = kNoNode;
    NodeIndex target = kNoNode;
    std::span<const HalfArcId> half_arcs;
  };

  // `network` must outlive this.
  AugmentingSearch(const Thresholds& thresholds,
                   DynamicResidualNetwork* network)
      : thresholds_(thresholds),
        network_(*network),
        tiers_(thresholds.near_count, network) {}
  AugmentingSearch(const AugmentingSearch&) = delete;
  AugmentingSearch& operator=(const AugmentingSearch&) = delete;

  // The network was rebuilt; its nodes have no excess.
  void Reset();

  // Moves away nodes with one way on, as searches do with the dead ends that
  // they meet.  REQUIRES: as FindPath().
  void RecedeAll();

  // Begins a call of the owner, with its limits and its potentials, one per
  // node, which are read and moved.  Nodes may have been added since the last
  // call.
  void Begin(const SolveLimits& limits, std::vector<FlowCost>* potentials);

  // Why searching ended early in this call: kCancelled, kBudgetSpent, or
  // kCostRange if potentials got too large.  None if it did not.
  const std::optional<SolveOutcome>& outcome() const { return outcome_; }
  // Arc scans and relabels of this call.
  const SolveWork& work() const { return work_; }

  FlowUnits excess(NodeIndex node) const {
    return nodes_[static_cast<size_t>(node)].excess;
  }
  void AddExcess(NodeIndex node, FlowUnits amount) {
    nodes_[static_cast<size_t>(node)].excess += amount;
  }
  FlowCost potential(NodeIndex node) const {
    return (*potentials_)[static_cast<size_t>(node)];
  }
  // These take time in proportion to the node's half arcs.  The first moves its
  // potential; the others give the range in which no reduced cost there is
  // negative (infinite: any).
  void SetPotential(NodeIndex node, FlowCost potential);
  FlowCost LowestPotential(NodeIndex node) const;
  FlowCost HighestPotential(NodeIndex node) const;

  // Takes the nodes that may have an excess or a deficit: the other ends from
  // which a search may continue.
  void SetEnds(const std::vector<NodeIndex>& ends, NodeIndex reservoir);

  // Finds a shortest path from `start` to a deficit or to the reservoir; if
  // `start` has a deficit, to `start` from an excess or from the reservoir.
  // Makes the reduced costs along it zero.  None if there is no such path, or
  // if there is an outcome().  REQUIRES: `start` has an excess or a deficit and
  // is not the reservoir; no reduced cost is negative.
  std::optional<Path> FindPath(NodeIndex start);

  // The nodes, ascending, that block a search which found no path.  What an
  // excess reaches has no way out; what does not reach a deficit has no way to
  // what does.
  std::vector<NodeIndex> FindCut() const;

 private:
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
    int32_t tier = 0;  // In a Side::far_heap.
    auto operator<=>(const HeapEntry&) const = default;
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
    // Settled nodes whose tiers from one on still wait; they lead no nearer
    // than this.
    std::vector<HeapEntry> far_heap;
    std::vector<NodeIndex> settled;
    // The reservoir's distance, if it is no end.
    FlowCost wall = kInfinity;
    FlowCost radius = 0;  // By which potentials move.

    void Close();
    // The distance that the next node is settled at; infinite if there is none.
    FlowCost Next() const;
    FlowCost NextFar() const {
      return far_heap.empty() ? kInfinity : far_heap.front().distance;
    }
  };

  // Whose labels make a path.
  enum class Join { kNone, kForward, kBackward, kBoth };

  Node& node(NodeIndex index) { return nodes_[static_cast<size_t>(index)]; }
  void PollLimits();
  template <bool is_forward>
  void SearchWithinCap(NodeIndex start);
  template <bool is_forward>
  NodeIndex Counterpart();
  FlowCost Reach(const Side& side) const;
  bool IsShortest();
  bool IsMeetingInDoubt();
  static void Push(const HeapEntry& entry, std::vector<HeapEntry>* heap);
  static HeapEntry PopNearest(std::vector<HeapEntry>* heap);
  template <bool is_forward>
  void Open(NodeIndex root);
  template <bool is_forward>
  void SettleNext();
  template <bool is_forward>
  void Scan(NodeIndex from);
  template <bool is_forward>
  void ScanTiers(NodeIndex from, int tier);
  template <bool is_forward>
  void ScanNextFar();
  template <bool is_forward>
  void ScanTier(NodeIndex from, int tier);
  template <bool is_forward>
  void ScanHalfArcs(NodeIndex from, std::span<const HalfArc> half_arcs);
  void CountScans(size_t side, size_t count);
  template <bool is_forward>
  void Offer(const HalfArc& over, FlowCost distance);
  void UpdatePotentials();
  void Recede();
  bool IsDeadEnd(NodeIndex index, size_t ways) const;
  void RecedeForward(NodeIndex index);
  void RecedeBackward(NodeIndex index);
  NodeIndex Trace(size_t side, NodeIndex from);
  Path TracePath();

  const Thresholds thresholds_;
  DynamicResidualNetwork& network_;

  // State of the current call.
  SolveLimits limits_;
  std::vector<FlowCost>* potentials_ = nullptr;
  std::optional<SolveOutcome> outcome_;
  SolveWork work_;
  int64_t next_poll_at_ = 0;  // By arc_scans.
  NodeIndex reservoir_ = kNoNode;
  std::vector<NodeIndex> counterparts_;  // Those not found balanced yet.

  std::vector<Node> nodes_;
  HubTiers tiers_;

  // Nothing is labeled at this distance or beyond, which saves most labels.  A
  // search that fails because of it is repeated with a larger one.
  FlowCost cap_ = 64;
  // State of the current or last search.
  uint32_t search_ = 0;
  bool is_forward_ = true;
  std::array<Side, 2> sides_;
  // The length of the shortest path found so far, or the cap; no label from
  // there on helps.
  FlowCost length_ = 0;
  Join join_ = Join::kNone;
  NodeIndex joint_ = kNoNode;  // Its last labeled node, or where sides meet.
  std::vector<HalfArcId> path_;
};

}  // namespace sluice

#endif  // SLUICE_SOLVER_AUGMENTING_SEARCH_H_
