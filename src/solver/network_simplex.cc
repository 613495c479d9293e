// Min-cost flow by the primal network simplex method, convex arcs natively.
// docs/solver.md explains it.
//
// A basis is a spanning tree.  An arc of the tree carries any flow within one
// segment of its cost.  Every other arc rests where a segment begins or ends,
// with one price for more flow and another for less.  This is the simplex
// method on the network with a parallel arc for each segment (only one of which
// fits in a tree), without ever building that network.
//
// Invariants: each arc of the tree has a reduced cost (cost + price of tail -
// price of head) of zero.  The tree is strongly feasible (Cunningham 1976):
// each node can send some more flow to its parent within the segment.  So the
// method terminates, although most pivots move nothing.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "flow/validate.h"
#include "sluice/flow/problem.h"
#include "sluice/solver/solver.h"
#include "solver/pure_solver.h"
#include "solver/solution.h"

namespace sluice {
namespace {

// The price of the impossible: more than all prices and costs add up to.
constexpr FlowCost kNever = int64_t{1} << 62;

// More than any arc can carry or node can supply.
constexpr FlowUnits kUnlimited = kFlowTotalMax;

// The entering arc is the best of a block of this many times the square root of
// the arc count.  More scanning finds better arcs and saves pivots.
constexpr double kBlockFactor = 2;

// The number of arc scans between two checks of the limits.
constexpr int64_t kScansPerPoll = 4096;

class NetworkSimplex {
 public:
  static constexpr std::string_view kName = "network_simplex";

  // REQUIRES: the problem is valid and pure; it must outlive this object.
  NetworkSimplex(const FlowProblem& problem, const SolveLimits& limits);

  FlowSolution Run();

 private:
  // Arcs lie in slots, in an order that mixes them, so that each block of slots
  // is a sample of the whole network: arc = slot * stride_ modulo arc count.
  using Slot = int32_t;
  static constexpr int32_t kNone = -1;

  // A node as a part of the tree, and the arc between it and its parent.
  struct TreeNode {
    NodeIndex parent = kNone;
    NodeIndex last = kNone;  // Of its subtree, in preorder.
    int32_t size = 1;        // Of its subtree, in nodes.
    Slot slot = kNone;       // kNone: an artificial arc.
    // How much more may flow within the arc's segment.
    FlowUnits to_parent = 0;
    FlowUnits from_parent = 0;
  };

  // An arc outside the tree that pays.
  struct Candidate {
    Slot slot = kNone;
    bool is_forward = true;  // To carry more.
    FlowCost gain = 0;       // Per unit.
  };

  // The cycle that a candidate closes: from its end `to` up the tree to the
  // apex, and down to its end `from`.
  struct Cycle {
    NodeIndex from = 0;
    NodeIndex to = 0;
    NodeIndex apex = 0;
    FlowUnits room = 0;         // On the arcs of the tree.
    NodeIndex leaving = kNone;  // Its arc has no more room.
    bool is_leaving_on_from_side = false;
  };

  TreeNode& tree(NodeIndex node) { return tree_[static_cast<size_t>(node)]; }
  uint64_t& price(NodeIndex node) { return prices_[static_cast<size_t>(node)]; }
  FlowCost Drop(NodeIndex from, NodeIndex to) const {
    return static_cast<FlowCost>(prices_[static_cast<size_t>(from)] -
                                 prices_[static_cast<size_t>(to)]);
  }
  NodeIndex& next(NodeIndex node) { return next_[static_cast<size_t>(node)]; }
  NodeIndex& previous(NodeIndex node) {
    return previous_[static_cast<size_t>(node)];
  }
  void Link(NodeIndex node, NodeIndex after) {
    next(node) = after;
    previous(after) = node;
  }

  ArcIndex ArcOf(Slot slot) const {
    return static_cast<ArcIndex>(int64_t{slot} * stride_ %
                                 problem_.arc_count());
  }
  FlowUnits SegmentBegin(Slot slot) const;
  FlowUnits SegmentWidth(Slot slot) const;
  void Rest(Slot slot, bool is_at_end);

  FlowCost FillSlots();
  void BoundSources();
  void PlantTree(FlowCost artificial_cost);

  Candidate FindCandidate();
  void Consider(Slot slot, Candidate* best) const;
  void Pivot(Candidate entering);
  Cycle FindCycle(const Candidate& entering);
  void Augment(const Cycle& cycle, FlowUnits amount);
  void MoveSubtree(const Cycle& cycle, TreeNode arc);
  void CutSubtree(NodeIndex top);
  void ShiftPrices(NodeIndex first, int32_t count, FlowCost amount);
  void PollLimits();

  std::vector<FlowUnits> Flows();
  void Finish(FlowSolution* solution);

  const FlowProblem& problem_;
  const SolveLimits limits_;
  const NodeIndex root_;  // An artificial node, after all others.
  ArcIndex stride_ = 1;
  // By slot.
  std::vector<NodeIndex> tails_;
  std::vector<NodeIndex> heads_;
  std::vector<FlowCost> up_costs_;    // Of one unit more; or kNever.
  std::vector<FlowCost> down_costs_;  // Of the last unit; or -kNever.
  // The segment of an arc of the tree; for other arcs that of up_costs_, or
  // else of down_costs_.
  std::vector<int32_t> segments_;
  // By node.
  // Supply without lower bounds; kUnlimited if more may come in.
  std::vector<FlowUnits> supplies_;
  // Only differences matter, and fit: the prices themselves wrap around.
  std::vector<uint64_t> prices_;
  std::vector<NodeIndex> next_;  // In preorder, and from the last to the root.
  std::vector<NodeIndex> previous_;
  std::vector<TreeNode> tree_;
  Slot scan_begin_ = 0;
  int64_t next_poll_at_ = 0;  // By arc_scans.
  SolveWork work_;
  // Set once the search must end before the optimum.
  std::optional<SolveOutcome> outcome_;
};

NetworkSimplex::NetworkSimplex(const FlowProblem& problem,
                               const SolveLimits& limits)
    : problem_(problem), limits_(limits), root_(problem.node_count()) {
  const auto arc_count = static_cast<size_t>(problem.arc_count());
  tails_.resize(arc_count);
  heads_.resize(arc_count);
  up_costs_.resize(arc_count, kNever);
  down_costs_.resize(arc_count, -kNever);
  segments_.resize(arc_count);
  const size_t node_count = static_cast<size_t>(root_) + 1;
  supplies_.resize(node_count);
  prices_.resize(node_count);
  next_.resize(node_count);
  previous_.resize(node_count);
  tree_.resize(node_count);
  // Neighboring slots are far apart, and those of neighboring blocks near,
  // which is kind to the cache.
  stride_ = static_cast<ArcIndex>(std::sqrt(problem.arc_count())) + 1;
  while (std::gcd(stride_, problem.arc_count()) > 1) ++stride_;
  PlantTree(FillSlots());
  BoundSources();
}

// Sets all arcs to their lower bounds and returns the cost of artificial arcs:
// more than any path, so that none is used if there is another way.
FlowCost NetworkSimplex::FillSlots() {
  for (NodeIndex node = 0; node < root_; ++node) {
    supplies_[static_cast<size_t>(node)] = problem_.supply(node);
  }
  FlowCost cost_max = 0;
  for (Slot slot = 0; slot < problem_.arc_count(); ++slot) {
    const auto i = static_cast<size_t>(slot);
    const FlowProblem::Arc& arc = problem_.arc(ArcOf(slot));
    tails_[i] = arc.tail;
    heads_[i] = arc.head;
    supplies_[static_cast<size_t>(arc.tail)] -= arc.lower;
    supplies_[static_cast<size_t>(arc.head)] += arc.lower;
    if (arc.lower == arc.capacity()) continue;  // It stays as it is.
    const auto segments = problem_.segments(ArcOf(slot));
    while (SegmentWidth(slot) <= 0) ++segments_[i];
    up_costs_[i] = segments[static_cast<size_t>(segments_[i])].cost;
    for (const FlowCost cost : {up_costs_[i], segments.back().cost}) {
      cost_max = std::max(cost_max, cost < 0 ? -cost : cost);
    }
  }
  return cost_max * root_ + 1;
}

// A capacity that the tail's supply cannot exceed is no bound.  If it is not
// treated as one, a task can hang in the tree by the arc that it uses, which
// saves many pivots that move nothing.
void NetworkSimplex::BoundSources() {
  for (size_t i = 0; i < heads_.size(); ++i) {
    if (up_costs_[i] == kNever) continue;
    supplies_[static_cast<size_t>(heads_[i])] = kUnlimited;
  }
}

// Begins with a star of artificial arcs, which carry all supply to the root and
// all demand from it.
void NetworkSimplex::PlantTree(FlowCost artificial_cost) {
  tree(root_).size = root_ + 1;
  tree(root_).last = std::max(root_ - 1, 0);
  Link(root_, 0);
  for (NodeIndex node = 0; node < root_; ++node) {
    const FlowUnits supply = supplies_[static_cast<size_t>(node)];
    const bool is_upward = supply >= 0;
    tree(node) = {.parent = root_,
                  .last = node,
                  .to_parent = is_upward ? kUnlimited : -supply,
                  .from_parent = is_upward ? supply : kUnlimited};
    price(node) =
        static_cast<uint64_t>(is_upward ? -artificial_cost : artificial_cost);
    Link(node, node + 1);
  }
}

FlowSolution NetworkSimplex::Run() {
  while (true) {
    const Candidate entering = FindCandidate();
    if (entering.slot == kNone) break;
    Pivot(entering);
  }
  FlowSolution solution;
  solution.algorithm = kName;
  solution.work = work_;
  Finish(&solution);
  return solution;
}

// The flow at which the segment of `slot` begins.
FlowUnits NetworkSimplex::SegmentBegin(Slot slot) const {
  const ArcIndex arc = ArcOf(slot);
  const auto before = problem_.segments(arc).first(
      static_cast<size_t>(segments_[static_cast<size_t>(slot)]));
  FlowUnits begin = 0;
  for (const CostSegment& segment : before) begin += segment.width;
  return std::max(begin, problem_.arc(arc).lower);
}

// How much flow the segment of `slot` takes.  At most zero if all of it is
// below the lower bound.
FlowUnits NetworkSimplex::SegmentWidth(Slot slot) const {
  const ArcIndex index = ArcOf(slot);
  const FlowProblem::Arc& arc = problem_.arc(index);
  if (arc.is_plain()) {
    const FlowUnits width = arc.capacity() - arc.lower;
    const bool is_bound = width < supplies_[static_cast<size_t>(arc.tail)];
    return is_bound ? width : kUnlimited;
  }
  const auto segments = problem_.segments(index);
  const auto segment =
      static_cast<size_t>(segments_[static_cast<size_t>(slot)]);
  if (arc.lower == 0) return segments[segment].width;
  FlowUnits end = 0;
  for (size_t k = 0; k <= segment; ++k) end += segments[k].width;
  return end - SegmentBegin(slot);
}

// Sets an arc to the beginning or the end of its segment.
void NetworkSimplex::Rest(Slot slot, bool is_at_end) {
  const auto i = static_cast<size_t>(slot);
  const ArcIndex arc = ArcOf(slot);
  const auto segments = problem_.segments(arc);
  int32_t& segment = segments_[i];
  const FlowCost cost = segments[static_cast<size_t>(segment)].cost;
  if (is_at_end) {
    down_costs_[i] = cost;
    if (segment + 1 < std::ssize(segments)) {
      ++segment;
      up_costs_[i] = segments[static_cast<size_t>(segment)].cost;
    } else {
      up_costs_[i] = kNever;
    }
    return;
  }
  up_costs_[i] = cost;
  const bool is_first =
      segment == 0 || (problem_.arc(arc).lower > 0 &&
                       SegmentBegin(slot) == problem_.arc(arc).lower);
  down_costs_[i] =
      is_first ? -kNever : segments[static_cast<size_t>(segment) - 1].cost;
}

// Sets *best to the arc's offer if that is better.
void NetworkSimplex::Consider(Slot slot, Candidate* best) const {
  const auto i = static_cast<size_t>(slot);
  const FlowCost drop = Drop(tails_[i], heads_[i]);
  const FlowCost up_gain = -up_costs_[i] - drop;
  const FlowCost down_gain = down_costs_[i] + drop;
  const FlowCost gain = std::max(up_gain, down_gain);
  if (gain > best->gain) *best = {slot, up_gain > down_gain, gain};
}

// Block search (Grigoriadis 1986): the best of the first block that has any,
// beginning where the last search ended.  If there is none, the tree is
// optimal, or outcome_ is set.
NetworkSimplex::Candidate NetworkSimplex::FindCandidate() {
  const auto slot_count = static_cast<Slot>(tails_.size());
  const auto block_size =
      static_cast<Slot>(std::ceil(kBlockFactor * std::sqrt(slot_count)));
  Candidate best;
  for (Slot unseen = slot_count; best.slot == kNone;) {
    if (work_.arc_scans >= next_poll_at_) PollLimits();
    if (unseen == 0 || outcome_.has_value()) break;
    const Slot begin = scan_begin_;
    const Slot end = begin + std::min({block_size, unseen, slot_count - begin});
    Candidate of_block;
    for (Slot slot = begin; slot < end; ++slot) Consider(slot, &of_block);
    best = of_block;
    work_.arc_scans += end - begin;
    unseen -= end - begin;
    scan_begin_ = end == slot_count ? 0 : end;
  }
  return best;
}

void NetworkSimplex::Pivot(Candidate entering) {
  ++work_.pivots;
  const Cycle cycle = FindCycle(entering);
  const Slot slot = entering.slot;
  const auto i = static_cast<size_t>(slot);
  // The entering arc goes through its segments while they pay.  It enters the
  // tree if the tree blocks before the end of one.
  FlowUnits moved = 0;
  FlowUnits width = 0;
  while (true) {
    // An arc at its top rests in the segment below, others in that above.
    if (!entering.is_forward && up_costs_[i] != kNever) --segments_[i];
    width = SegmentWidth(slot);
    const FlowUnits room = cycle.room - moved;
    if (cycle.is_leaving_on_from_side ? width > room : width >= room) break;
    moved += width;
    Rest(slot, entering.is_forward);
    Candidate again;
    Consider(slot, &again);
    if (again.slot == kNone) {
      Augment(cycle, moved);
      return;
    }
    entering.gain = again.gain;
  }
  Augment(cycle, cycle.room);
  up_costs_[i] = kNever;
  down_costs_[i] = -kNever;
  if (const Slot leaving = tree(cycle.leaving).slot; leaving != kNone) {
    const bool is_upward =
        tails_[static_cast<size_t>(leaving)] == cycle.leaving;
    Rest(leaving, is_upward != cycle.is_leaving_on_from_side);
  }
  const FlowUnits back = cycle.room - moved;
  const FlowUnits ahead = width - back;
  const bool is_from_moved = cycle.is_leaving_on_from_side;
  MoveSubtree(cycle, {.parent = is_from_moved ? cycle.to : cycle.from,
                      .slot = slot,
                      .to_parent = is_from_moved ? ahead : back,
                      .from_parent = is_from_moved ? back : ahead});

  // Only the difference matters: the prices of the smaller part move.
  const NodeIndex top = is_from_moved ? cycle.from : cycle.to;
  const FlowCost shift = is_from_moved ? entering.gain : -entering.gain;
  const int32_t size = tree(top).size;
  if (size <= root_ / 2) {
    ShiftPrices(top, size, shift);
  } else {
    ShiftPrices(next(tree(top).last), root_ + 1 - size, -shift);
  }
}

// Of all arcs with the least room, the last one along the cycle from the apex
// leaves, which keeps the tree strongly feasible.  The entering arc is between
// the two sides.
NetworkSimplex::Cycle NetworkSimplex::FindCycle(const Candidate& entering) {
  const auto i = static_cast<size_t>(entering.slot);
  Cycle cycle = {.from = entering.is_forward ? tails_[i] : heads_[i],
                 .to = entering.is_forward ? heads_[i] : tails_[i]};
  FlowUnits from_room = std::numeric_limits<FlowUnits>::max();
  FlowUnits to_room = from_room;
  NodeIndex from_leaving = kNone;
  NodeIndex to_leaving = kNone;
  NodeIndex from = cycle.from;
  NodeIndex to = cycle.to;
  while (from != to) {
    ++work_.arc_scans;
    // An ancestor's subtree is larger: the smaller of the two is below the
    // apex.
    if (tree(from).size < tree(to).size) {
      if (tree(from).from_parent < from_room) {
        from_room = tree(from).from_parent;
        from_leaving = from;
      }
      from = tree(from).parent;
    } else {
      if (tree(to).to_parent <= to_room) {
        to_room = tree(to).to_parent;
        to_leaving = to;
      }
      to = tree(to).parent;
    }
  }
  cycle.apex = from;
  cycle.is_leaving_on_from_side = from_room < to_room;
  cycle.room = std::min(from_room, to_room);
  cycle.leaving = cycle.is_leaving_on_from_side ? from_leaving : to_leaving;
  return cycle;
}

void NetworkSimplex::Augment(const Cycle& cycle, FlowUnits amount) {
  if (amount == 0) return;
  for (NodeIndex node = cycle.from; node != cycle.apex;
       node = tree(node).parent) {
    tree(node).from_parent -= amount;
    tree(node).to_parent += amount;
  }
  for (NodeIndex node = cycle.to; node != cycle.apex;
       node = tree(node).parent) {
    tree(node).to_parent -= amount;
    tree(node).from_parent += amount;
  }
}

// Hangs the subtree of the leaving node below the other end of the entering
// arc.  `arc` has that end as the parent, and the entering arc.
void NetworkSimplex::MoveSubtree(const Cycle& cycle, TreeNode arc) {
  const NodeIndex top = cycle.leaving;
  const NodeIndex new_parent = arc.parent;
  const int32_t size = tree(top).size;
  for (NodeIndex node = tree(top).parent; node != cycle.apex;
       node = tree(node).parent) {
    tree(node).size -= size;
  }
  for (NodeIndex node = new_parent; node != cycle.apex;
       node = tree(node).parent) {
    tree(node).size += size;
  }
  CutSubtree(top);

  // From the entering arc up to `top`, parents become children.  In preorder
  // each of these nodes comes with what was not below the one before.
  const NodeIndex rest = next(new_parent);
  NodeIndex end = new_parent;
  struct {
    NodeIndex before = kNone;
    NodeIndex last = kNone;
    NodeIndex after = kNone;
    int32_t size = 0;
  } below;
  NodeIndex node = cycle.is_leaving_on_from_side ? cycle.from : cycle.to;
  while (true) {
    TreeNode& here = tree(node);
    const TreeNode old = here;
    const NodeIndex before = previous(node);
    const NodeIndex after =
        old.last == below.last ? below.after : next(old.last);
    Link(end, node);
    end = old.last;
    if (below.last != kNone) {
      end = below.before;
      if (old.last != below.last) {
        Link(end, below.after);
        end = old.last;
      }
    }
    here = {.parent = arc.parent,
            .last = kNone,  // Known at the end.
            .size = size - below.size,
            .slot = arc.slot,
            .to_parent = arc.to_parent,
            .from_parent = arc.from_parent};
    below = {before, old.last, after, old.size};
    if (node == top) break;
    arc = {.parent = node,
           .slot = old.slot,
           .to_parent = old.from_parent,
           .from_parent = old.to_parent};
    node = old.parent;
  }
  Link(end, rest);
  for (; node != new_parent; node = tree(node).parent) tree(node).last = end;
  for (; node != kNone && tree(node).last == new_parent;
       node = tree(node).parent) {
    tree(node).last = end;
  }
}

// Takes the subtree of `top` out of the preorder.
void NetworkSimplex::CutSubtree(NodeIndex top) {
  const NodeIndex last = tree(top).last;
  const NodeIndex before = previous(top);
  for (NodeIndex node = tree(top).parent;
       node != kNone && tree(node).last == last; node = tree(node).parent) {
    tree(node).last = before;
  }
  Link(before, next(last));
}

// Adds `amount` to the prices of `count` nodes in preorder.
void NetworkSimplex::ShiftPrices(NodeIndex first, int32_t count,
                                 FlowCost amount) {
  work_.arc_scans += count;
  for (NodeIndex node = first; count > 0; --count) {
    price(node) += static_cast<uint64_t>(amount);
    node = next(node);
  }
}

void NetworkSimplex::PollLimits() {
  next_poll_at_ = work_.arc_scans + kScansPerPoll;
  if (limits_.cancelled != nullptr &&
      limits_.cancelled->load(std::memory_order_relaxed)) {
    outcome_ = SolveOutcome::kCancelled;
  } else if (limits_.work_max > 0 && work_.arc_scans >= limits_.work_max) {
    outcome_ = SolveOutcome::kBudgetSpent;
  }
}

std::vector<FlowUnits> NetworkSimplex::Flows() {
  std::vector<FlowUnits> flows(tails_.size());
  for (Slot slot = 0; slot < problem_.arc_count(); ++slot) {
    const auto i = static_cast<size_t>(slot);
    const auto arc = static_cast<size_t>(ArcOf(slot));
    const bool is_at_top = up_costs_[i] == kNever && down_costs_[i] != -kNever;
    flows[arc] =
        is_at_top ? problem_.arc(ArcOf(slot)).capacity() : SegmentBegin(slot);
  }
  for (NodeIndex node = 0; node < root_; ++node) {
    const TreeNode& of = tree(node);
    if (of.slot == kNone) continue;
    const bool is_upward = tails_[static_cast<size_t>(of.slot)] == node;
    flows[static_cast<size_t>(ArcOf(of.slot))] +=
        is_upward ? of.from_parent : of.to_parent;
  }
  return flows;
}

void NetworkSimplex::Finish(FlowSolution* solution) {
  if (outcome_.has_value()) {
    solution->outcome = *outcome_;
    solution->error = SolveOutcomeName(*outcome_);
    return;
  }
  std::vector<FlowUnits> flows = Flows();
  for (NodeIndex node = 0; node < root_; ++node) {
    const TreeNode& of = tree(node);
    // An artificial arc to the root has a price below the root's.
    if (of.slot == kNone && Drop(node, root_) < 0 && of.from_parent > 0) {
      solution->outcome = SolveOutcome::kInfeasible;
      solution->witness_cut = ReachableNodes(problem_, flows, node);
      solution->error = InfeasibleText(solution->witness_cut);
      return;
    }
  }
  const std::optional<FlowCost> objective = Objective(problem_, flows);
  if (!objective.has_value()) {
    solution->outcome = SolveOutcome::kCostRange;
    solution->error = "the objective is beyond 64 bits";
    return;
  }
  solution->outcome = SolveOutcome::kOptimal;
  solution->objective = *objective;
  solution->flows = std::move(flows);
  for (NodeIndex node = 0; node < root_; ++node) {
    solution->potentials.push_back(Drop(node, root_));
  }
}

}  // namespace

std::unique_ptr<Solver> Make_network_simplex() {
  return std::make_unique<PureSolver<NetworkSimplex>>();
}

}  // namespace sluice
