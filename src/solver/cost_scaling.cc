// Min-cost flow by cost scaling: push-relabel with a tolerance on optimality
// that shrinks, after Goldberg and Tarjan (1990) and Goldberg (1997).
// docs/solver.md explains it.
//
// Invariant: with tolerance `epsilon_`, each residual half arc has a reduced
// cost (cost + price of tail - price of head) of at least -epsilon_.  Costs are
// scaled by node count + 1, so that a tolerance of 1 leaves no gap.

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/flow/problem.h"
#include "sluice/solver/solver.h"
#include "solver/pure_solver.h"
#include "solver/residual_network.h"
#include "solver/solution.h"

namespace sluice {
namespace {

// The tolerance shrinks by this factor from phase to phase.
constexpr FlowCost kScale = 12;

// The phase that reaches this part of a unit of unscaled cost tries to be the
// last: the flow is almost always optimal by then, and RoundPrices() checks
// that.
constexpr FlowCost kRoundingPart = 4;

// RoundPrices() gives up after this many times the half arcs of the network.
constexpr int64_t kScansPerRounding = 4;

// The prices are updated globally when this many times the half arcs of the
// network have been scanned since the last time.
constexpr int64_t kScansPerUpdate = 5;

// Prices only fall.  Reduced costs could overflow below this one.
constexpr FlowCost kPriceMin = -(int64_t{1} << 61);

// The maximum number of tolerances, per node, by which a global update lowers a
// price: it bounds the number of buckets.
constexpr int64_t kBucketsPerNode = kScale;

// The number of arc scans between two checks of the limits.
constexpr int64_t kScansPerPoll = 4096;

// `value` / `divisor`, rounded down.  REQUIRES: divisor > 0.
FlowCost RoundDown(FlowCost value, FlowCost divisor) {
  return value / divisor - (value % divisor < 0 ? 1 : 0);
}

class CostScaling {
 public:
  static constexpr std::string_view kName = "cost_scaling";

  CostScaling(const FlowProblem& problem, const SolveLimits& limits)
      : problem_(problem),
        limits_(limits),
        scale_(problem.node_count() + 1),
        network_(problem, scale_),
        prices_(Size()),
        current_(Size()),
        distances_(Size()) {}

  FlowSolution Run();

 private:
  struct BucketEntry {
    NodeIndex node = 0;
    int32_t next = 0;
  };
  static constexpr int32_t kNone = -1;

  size_t Size() const { return static_cast<size_t>(problem_.node_count()); }
  FlowCost& price(NodeIndex node) { return prices_[static_cast<size_t>(node)]; }
  int32_t& current(NodeIndex node) {
    return current_[static_cast<size_t>(node)];
  }
  int64_t& distance(NodeIndex node) {
    return distances_[static_cast<size_t>(node)];
  }
  FlowCost ReducedCost(NodeIndex tail, const ResidualNetwork::HalfArc& arc) {
    return arc.cost + price(tail) - price(arc.head);
  }
  bool IsAdmissible(NodeIndex tail, const ResidualNetwork::HalfArc& arc) {
    return arc.residual > 0 && ReducedCost(tail, arc) < 0;
  }

  void Refine();
  void SaturateAdmissible();
  void CollectActive();
  void Discharge(NodeIndex node);
  void PushAlong(NodeIndex node, int32_t index);
  bool AdvanceToAdmissible(NodeIndex node);
  void Relabel(NodeIndex node);
  void UpdatePrices();
  int64_t MeasureDistances(int64_t bucket_count);
  void Reach(NodeIndex node, int64_t at);
  void PutInBucket(NodeIndex node, int64_t at);
  std::vector<bool> Reachable(std::vector<NodeIndex> seeds, bool is_forward);
  void FindCut();
  bool RoundPrices();
  void PollLimits();

  bool is_done() const { return outcome_.has_value(); }
  std::vector<FlowCost> ExactPotentials() const;
  void Finish(FlowSolution* solution) const;

  const FlowProblem& problem_;
  const SolveLimits limits_;
  const FlowCost scale_;  // One unit of unscaled cost.
  ResidualNetwork network_;
  FlowCost epsilon_ = 0;
  std::vector<FlowCost> prices_;
  std::vector<int32_t> current_;   // By node: no half arc before is admissible.
  std::vector<NodeIndex> active_;  // A queue: nodes with excess.
  size_t active_begin_ = 0;
  // Global update: by node its distance to a deficit, in tolerances; by
  // distance the head of a list of the nodes found there.
  std::vector<int64_t> distances_;
  std::vector<int32_t> buckets_;
  std::vector<BucketEntry> bucket_entries_;
  int64_t next_update_at_ = 0;  // By arc_scans.
  int64_t next_poll_at_ = 0;    // By arc_scans.
  SolveWork work_;
  // Set once the search must end before the optimum.
  std::optional<SolveOutcome> outcome_;
  std::vector<NodeIndex> witness_cut_;
};

FlowSolution CostScaling::Run() {
  epsilon_ = std::max<FlowCost>(scale_ / kRoundingPart, 1);
  while (epsilon_ < network_.cost_max()) epsilon_ *= kScale;
  do {
    epsilon_ = std::max<FlowCost>(epsilon_ / kScale, 1);
    Refine();
  } while (epsilon_ > 1 && !is_done() && !RoundPrices());
  FlowSolution solution;
  solution.algorithm = kName;
  solution.work = work_;
  solution.outcome = outcome_.value_or(SolveOutcome::kOptimal);
  solution.witness_cut = std::move(witness_cut_);
  Finish(&solution);
  return solution;
}

// Makes the flow optimal within epsilon_.
void CostScaling::Refine() {
  ++work_.phases;
  PollLimits();
  if (is_done()) return;
  SaturateAdmissible();
  CollectActive();
  for (NodeIndex node = 0; node < network_.node_count(); ++node) {
    current(node) = network_.first(node);
  }
  if (active_.empty()) return;
  UpdatePrices();
  while (active_begin_ < active_.size() && !is_done()) {
    const NodeIndex node = active_[active_begin_++];
    Discharge(node);
    if (work_.arc_scans >= next_update_at_) UpdatePrices();
    if (work_.arc_scans >= next_poll_at_) PollLimits();
    // The queue is a vector with a gap in front; keep the gap bounded.
    if (active_begin_ > Size()) {
      active_.erase(active_.begin(),
                    active_.begin() + static_cast<int64_t>(active_begin_));
      active_begin_ = 0;
    }
  }
}

// Pushes along all half arcs of negative reduced cost, which makes the flow
// optimal for the prices, at the expense of conservation.
void CostScaling::SaturateAdmissible() {
  for (NodeIndex node = 0; node < network_.node_count(); ++node) {
    for (int32_t i = network_.first(node); i < network_.first(node + 1); ++i) {
      // A convex arc may stay admissible beyond its segment.
      while (IsAdmissible(node, network_.half_arc(i))) {
        network_.Push(node, i, network_.half_arc(i).residual);
        ++work_.pushes;
      }
    }
  }
  work_.arc_scans += network_.half_arc_count();
}

void CostScaling::CollectActive() {
  active_.clear();
  active_begin_ = 0;
  for (NodeIndex node = 0; node < network_.node_count(); ++node) {
    if (network_.excess(node) > 0) active_.push_back(node);
  }
}

void CostScaling::Discharge(NodeIndex node) {
  while (network_.excess(node) > 0) {
    if (!AdvanceToAdmissible(node)) {
      Relabel(node);
      if (work_.arc_scans >= next_poll_at_) PollLimits();
      // An update may find a shorter way, or that there is none.
      if (is_done() || work_.arc_scans >= next_update_at_) {
        active_.push_back(node);
        return;
      }
      continue;
    }
    const int32_t index = current(node);
    const NodeIndex head = network_.half_arc(index).head;
    // Look ahead: flow that the head could only send back is not sent.
    if (network_.excess(head) >= 0 && !AdvanceToAdmissible(head)) {
      Relabel(head);
      continue;
    }
    PushAlong(node, index);
  }
}

void CostScaling::PushAlong(NodeIndex node, int32_t index) {
  const ResidualNetwork::HalfArc& arc = network_.half_arc(index);
  const NodeIndex head = arc.head;
  const bool was_active = network_.excess(head) > 0;
  network_.Push(node, index, std::min(network_.excess(node), arc.residual));
  ++work_.pushes;
  if (!was_active && network_.excess(head) > 0) active_.push_back(head);
}

bool CostScaling::AdvanceToAdmissible(NodeIndex node) {
  int32_t& index = current(node);
  const int32_t begin = index;
  const int32_t end = network_.first(node + 1);
  const FlowCost tail_price = price(node);
  while (index < end) {
    const ResidualNetwork::HalfArc& arc = network_.half_arc(index);
    if (arc.residual > 0 && arc.cost + tail_price < price(arc.head)) break;
    ++index;
  }
  work_.arc_scans += index - begin + 1;
  return index < end;
}

// Lowers the price of `node`, which has no admissible half arc, as far as the
// tolerance allows.
void CostScaling::Relabel(NodeIndex node) {
  const int32_t begin = network_.first(node);
  const int32_t end = network_.first(node + 1);
  constexpr FlowCost kNowhere = std::numeric_limits<FlowCost>::min();
  FlowCost best = kNowhere;
  for (int32_t i = begin; i < end; ++i) {
    const ResidualNetwork::HalfArc& arc = network_.half_arc(i);
    if (arc.residual > 0) best = std::max(best, price(arc.head) - arc.cost);
  }
  if (best == kNowhere) {
    // A dead end.  Nothing bounds its price from below, so it falls until no
    // half arc into it is admissible, and no node pushes here.
    best = price(node) + epsilon_;
    for (int32_t i = begin; i < end; ++i) {
      const auto& twin = network_.half_arc(network_.half_arc(i).twin);
      const NodeIndex tail = network_.half_arc(i).head;
      if (twin.residual > 0) {
        best = std::min(best, price(tail) + twin.cost + epsilon_);
      }
    }
  }
  price(node) = best - epsilon_;
  current(node) = begin;
  work_.arc_scans += end - begin + 1;
  ++work_.relabels;
  if (price(node) < kPriceMin) outcome_ = SolveOutcome::kCostRange;
}

// Lowers prices by distances to the nearest deficit, in tolerances, so that
// excess finds its way from there on.
void CostScaling::UpdatePrices() {
  const int64_t bucket_count = std::clamp<int64_t>(
      kBucketsPerNode * network_.node_count(), 1, -kPriceMin / epsilon_);
  const int64_t farthest = MeasureDistances(bucket_count);
  if (farthest == bucket_count && work_.phases == 1) FindCut();
  for (NodeIndex node = 0; node < network_.node_count(); ++node) {
    price(node) -= std::min(distance(node), farthest) * epsilon_;
    current(node) = network_.first(node);
    if (price(node) < kPriceMin) outcome_ = SolveOutcome::kCostRange;
  }
  next_update_at_ =
      work_.arc_scans +
      kScansPerUpdate * (network_.half_arc_count() + network_.node_count());
}

// Sets the distances of nodes to the nearest deficit until all active nodes
// have theirs, and returns the last one; or bucket_count if some node's
// distance is at least that.
int64_t CostScaling::MeasureDistances(int64_t bucket_count) {
  buckets_.clear();
  bucket_entries_.clear();
  int64_t active_count = 0;
  for (NodeIndex node = 0; node < network_.node_count(); ++node) {
    distance(node) = bucket_count;
    if (network_.excess(node) > 0) ++active_count;
    if (network_.excess(node) < 0) PutInBucket(node, 0);
  }
  for (int64_t at = 0; at < static_cast<int64_t>(buckets_.size()); ++at) {
    while (buckets_[static_cast<size_t>(at)] != kNone) {
      const BucketEntry entry = bucket_entries_[static_cast<size_t>(
          buckets_[static_cast<size_t>(at)])];
      buckets_[static_cast<size_t>(at)] = entry.next;
      if (distance(entry.node) != at) continue;  // Found nearer since.
      if (network_.excess(entry.node) > 0 && --active_count == 0) return at;
      Reach(entry.node, at);
    }
  }
  return bucket_count;
}

// Offers the nodes with a residual half arc to `node` a way through it.
void CostScaling::Reach(NodeIndex node, int64_t at) {
  const FlowCost head_price = price(node);
  const int32_t end = network_.first(node + 1);
  for (int32_t i = network_.first(node); i < end; ++i) {
    if (network_.half_arc(i).is_twin_open == 0) continue;
    const NodeIndex tail = network_.half_arc(i).head;
    const int64_t slack = distance(tail) - at;
    if (slack <= 0) continue;
    const FlowCost drop = price(tail) - head_price;
    // A half arc's cost is at least the negative of its twin's.  That bound
    // saves most looks at twins.
    const FlowCost cost_min = drop - network_.half_arc(i).cost;
    if (cost_min >= (slack - 1) * epsilon_) continue;
    const FlowCost cost = drop + network_.TwinCost(i);
    // The first multiple of the tolerance above the cost, which is not below
    // the negative tolerance.
    if (cost < 0) {
      PutInBucket(tail, at);
    } else if (cost / epsilon_ + 1 < slack) {
      PutInBucket(tail, at + cost / epsilon_ + 1);
    }
  }
  work_.arc_scans += end - network_.first(node);
}

void CostScaling::PutInBucket(NodeIndex node, int64_t at) {
  const auto index = static_cast<size_t>(at);
  if (index >= buckets_.size()) buckets_.resize(index + 1, kNone);
  distance(node) = at;
  bucket_entries_.push_back({.node = node, .next = buckets_[index]});
  buckets_[index] = static_cast<int32_t>(bucket_entries_.size()) - 1;
}

// Marks what `seeds` reach over residual half arcs, forward or backward.
std::vector<bool> CostScaling::Reachable(std::vector<NodeIndex> seeds,
                                         bool is_forward) {
  std::vector<bool> is_reached(Size());
  for (const NodeIndex seed : seeds) {
    is_reached[static_cast<size_t>(seed)] = true;
  }
  while (!seeds.empty()) {
    const NodeIndex node = seeds.back();
    seeds.pop_back();
    for (int32_t i = network_.first(node); i < network_.first(node + 1); ++i) {
      const auto head = static_cast<size_t>(network_.half_arc(i).head);
      const int32_t used = is_forward ? i : network_.half_arc(i).twin;
      if (is_reached[head] || network_.half_arc(used).residual == 0) continue;
      is_reached[head] = true;
      seeds.push_back(network_.half_arc(i).head);
    }
  }
  work_.arc_scans += network_.half_arc_count();
  return is_reached;
}

// Ends the search if some excess cannot reach any deficit at any cost.  What
// the first such excess reaches has only saturated half arcs out of it: that
// set is the witness.
void CostScaling::FindCut() {
  std::vector<NodeIndex> deficits;
  for (NodeIndex node = 0; node < network_.node_count(); ++node) {
    if (network_.excess(node) < 0) deficits.push_back(node);
  }
  const std::vector<bool> can_drain = Reachable(std::move(deficits), false);
  for (NodeIndex node = 0; node < network_.node_count(); ++node) {
    if (network_.excess(node) <= 0 || can_drain[static_cast<size_t>(node)]) {
      continue;
    }
    const std::vector<bool> is_in_cut = Reachable({node}, true);
    for (NodeIndex i = 0; i < network_.node_count(); ++i) {
      if (is_in_cut[static_cast<size_t>(i)]) witness_cut_.push_back(i);
    }
    outcome_ = SolveOutcome::kInfeasible;
    return;
  }
}

// Tries to round the prices to whole units of unscaled cost such that no
// residual half arc has a negative reduced cost, which ends the search early.
// Rounding lifts reduced costs off zero by a unit here and there; those are
// repaired by label correcting.  On a flow that is not optimal yet this would
// never end, so it has a budget of scans.
bool CostScaling::RoundPrices() {
  if (epsilon_ > scale_ / kRoundingPart) return false;
  std::vector<FlowCost> rounded;
  std::vector<NodeIndex> queue;
  rounded.reserve(Size());
  for (NodeIndex node = 0; node < network_.node_count(); ++node) {
    rounded.push_back(RoundDown(price(node), scale_) * scale_);
    queue.push_back(node);
  }
  std::vector<bool> is_queued(Size(), true);
  const int64_t scans_max =
      work_.arc_scans +
      kScansPerRounding * (network_.half_arc_count() + network_.node_count());
  for (size_t begin = 0; begin < queue.size(); ++begin) {
    const NodeIndex node = queue[begin];
    is_queued[static_cast<size_t>(node)] = false;
    const int32_t end = network_.first(node + 1);
    for (int32_t i = network_.first(node); i < end; ++i) {
      const ResidualNetwork::HalfArc& arc = network_.half_arc(i);
      const auto head = static_cast<size_t>(arc.head);
      const FlowCost price_max = rounded[static_cast<size_t>(node)] + arc.cost;
      if (arc.residual == 0 || rounded[head] <= price_max) continue;
      rounded[head] = price_max;
      if (!is_queued[head]) queue.push_back(arc.head);
      is_queued[head] = true;
    }
    work_.arc_scans += end - network_.first(node) + 1;
    if (work_.arc_scans >= next_poll_at_) PollLimits();
    if (work_.arc_scans > scans_max || is_done()) return false;
  }
  prices_ = std::move(rounded);
  return true;
}

void CostScaling::PollLimits() {
  next_poll_at_ = work_.arc_scans + kScansPerPoll;
  if (limits_.cancelled != nullptr &&
      limits_.cancelled->load(std::memory_order_relaxed)) {
    outcome_ = SolveOutcome::kCancelled;
  } else if (limits_.work_max > 0 && work_.arc_scans >= limits_.work_max) {
    outcome_ = SolveOutcome::kBudgetSpent;
  }
}

// Rounds the prices to potentials of the unscaled costs that leave no negative
// reduced cost.  With s = scale_ and prices p within a tolerance of 1,
// p(head) <= p(tail) + s * cost + 1 on residual half arcs.  Dividing by s and
// rounding down keeps p(head) <= p(tail) + cost unless that 1 lifts p(head)
// onto a multiple of s.  There are s residues and s - 1 nodes: with the right
// offset added first, no price is a multiple.
std::vector<FlowCost> CostScaling::ExactPotentials() const {
  std::vector<bool> is_taken(static_cast<size_t>(scale_));
  for (const FlowCost price : prices_) {
    is_taken[static_cast<size_t>(-price % scale_)] = true;  // Prices are <= 0.
  }
  const auto free = std::find(is_taken.begin(), is_taken.end(), false);
  const FlowCost offset = free - is_taken.begin();
  std::vector<FlowCost> potentials;
  potentials.reserve(prices_.size());
  for (const FlowCost price : prices_) {
    potentials.push_back(RoundDown(price + offset, scale_));
  }
  return potentials;
}

void CostScaling::Finish(FlowSolution* solution) const {
  switch (solution->outcome) {
    case SolveOutcome::kOptimal: {
      std::vector<FlowUnits> flows = network_.Flows(problem_);
      const std::optional<FlowCost> objective = Objective(problem_, flows);
      if (!objective.has_value()) {
        solution->outcome = SolveOutcome::kCostRange;
        solution->error = "the objective is beyond 64 bits";
        return;
      }
      solution->objective = *objective;
      solution->flows = std::move(flows);
      solution->potentials = ExactPotentials();
      return;
    }
    case SolveOutcome::kInfeasible:
      solution->error = InfeasibleText(solution->witness_cut);
      return;
    case SolveOutcome::kCostRange:
      solution->error = "the potentials are beyond 64 bits";
      return;
    case SolveOutcome::kBudgetSpent:
    case SolveOutcome::kCancelled:
      solution->error = SolveOutcomeName(solution->outcome);
      return;
    case SolveOutcome::kUnbounded:
    case SolveOutcome::kInvalidProblem:
      return;
  }
}

}  // namespace

std::unique_ptr<Solver> Make_cost_scaling() {
  return std::make_unique<PureSolver<CostScaling>>();
}

}  // namespace sluice
