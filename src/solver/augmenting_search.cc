#include "solver/augmenting_search.h"

#include <functional>

namespace sluice {
namespace {

// Search numbers use half of a label's range.
constexpr uint32_t kSearchMax = (uint32_t{1} << 31) - 2;

// The number of arc scans between two checks of the limits.
constexpr int64_t kScansPerPoll = 4096;

// The maximum of a search's cap.
constexpr FlowCost kCapMax = int64_t{1} << 40;

// A node with more ways on does not recede.
constexpr size_t kRecedeWaysMax = 4;

}  // namespace

void AugmentingSearch::Reset() {
  nodes_.clear();
  tiers_.Reset();
  search_ = 0;
}

void AugmentingSearch::Begin(const SolveLimits& limits,
                             std::vector<FlowCost>* potentials) {
  limits_ = limits;
  potentials_ = potentials;
  outcome_.reset();
  work_ = {};
  nodes_.resize(potentials->size());
  tiers_.Begin(potentials);
  PollLimits();
}

void AugmentingSearch::SetPotential(NodeIndex index, FlowCost potential) {
  (*potentials_)[static_cast<size_t>(index)] = potential;
  work_.arc_scans += static_cast<int64_t>(tiers_.MovePotential(index));
  if (potential > kPotentialMax || potential < -kPotentialMax) {
    outcome_ = SolveOutcome::kCostRange;
  }
}

FlowCost AugmentingSearch::LowestPotential(NodeIndex index) const {
  FlowCost low = -kInfinity;
  for (const HalfArc& half_arc : network_.Out(index)) {
    low = std::max(low, potential(half_arc.head) - half_arc.cost);
  }
  return low;
}

FlowCost AugmentingSearch::HighestPotential(NodeIndex index) const {
  FlowCost high = kInfinity;
  for (const HalfArc& half_arc :
       network_.Tiers<false>(index, 0, HubTiers::kTierCount - 1)) {
    high = std::min(high, potential(half_arc.head) - half_arc.cost);
  }
  for (const HalfArc& half_arc : network_.Both(index)) {
    high = std::min(high,
                    potential(half_arc.head) + network_.CostOfTwin(half_arc));
  }
  return high;
}

void AugmentingSearch::SetEnds(const std::vector<NodeIndex>& ends,
                               NodeIndex reservoir) {
  counterparts_ = ends;
  reservoir_ = reservoir;
}

std::optional<AugmentingSearch::Path> AugmentingSearch::FindPath(
    NodeIndex start) {
  is_forward_ = excess(start) > 0;
  while (true) {
    if (is_forward_) {
      SearchWithinCap<true>(start);
    } else {
      SearchWithinCap<false>(start);
    }
    if (join_ != Join::kNone) break;
    if (outcome_.has_value() || cap_ == kInfinity) return std::nullopt;
    cap_ = cap_ < kCapMax ? 8 * cap_ : kInfinity;
  }
  // About four times what the last ones needed.
  const FlowCost length = sides_[kForward].radius + sides_[kBackward].radius;
  cap_ = std::min(cap_, kCapMax) / 2 + 2 * std::min(length, kCapMax) + 8;
  UpdatePotentials();
  Recede();
  return TracePath();
}

std::vector<NodeIndex> AugmentingSearch::FindCut() const {
  std::vector<NodeIndex> cut;
  for (size_t index = 0; index < nodes_.size(); ++index) {
    const Label& label =
        nodes_[index].labels[is_forward_ ? kForward : kBackward];
    const bool is_reached = label.search >= 2 * search_;
    if (is_reached == is_forward_) {
      cut.push_back(static_cast<NodeIndex>(index));
    }
  }
  return cut;
}

void AugmentingSearch::PollLimits() {
  next_poll_at_ = work_.arc_scans + kScansPerPoll;
  if (limits_.cancelled != nullptr &&
      limits_.cancelled->load(std::memory_order_relaxed)) {
    outcome_ = SolveOutcome::kCancelled;
  } else if (limits_.work_max > 0 && work_.arc_scans >= limits_.work_max) {
    outcome_ = SolveOutcome::kBudgetSpent;
  }
}

// Another start whose balance has the opposite sign, or none.
template <bool is_forward>
NodeIndex AugmentingSearch::Counterpart() {
  while (!counterparts_.empty()) {
    const NodeIndex index = counterparts_.back();
    const FlowUnits excess = node(index).excess;
    if (index != reservoir_ && (is_forward ? excess < 0 : excess > 0)) {
      return index;
    }
    counterparts_.pop_back();
  }
  return kNoNode;
}

template <bool is_forward>
void AugmentingSearch::SearchWithinCap(NodeIndex start) {
  if (++search_ > kSearchMax) {
    for (Node& node : nodes_) node.labels = {};
    search_ = 1;
  }
  Side& near = sides_[is_forward ? kForward : kBackward];
  Side& far = sides_[is_forward ? kBackward : kForward];
  near.is_far = false;
  far.is_far = true;
  join_ = Join::kNone;
  length_ = cap_;
  far.Close();
  Open<is_forward>(start);
  while (!IsShortest()) {
    if (!far.is_open && near.scans > thresholds_.one_sided_scans) {
      const NodeIndex counterpart = Counterpart<is_forward>();
      if (counterpart != kNoNode) Open<!is_forward>(counterpart);
    }
    const bool has_near = near.Next() < kInfinity;
    const bool has_far =
        far.is_open && far.Next() < std::min(far.wall, kInfinity);
    if (has_far && (!has_near || far.scans < near.scans)) {
      SettleNext<!is_forward>();
    } else if (has_near) {
      SettleNext<is_forward>();
    } else if (join_ == Join::kNone) {
      return;
    }
    if (work_.arc_scans >= next_poll_at_) PollLimits();
    if (outcome_.has_value()) return;
  }
}

// All nodes nearer than this are settled.
FlowCost AugmentingSearch::Reach(const Side& side) const {
  return side.is_open ? std::min({side.Next(), side.wall, length_}) : 0;
}

// True if a shortest path is found; if so, it determines how far potentials
// move on either side.
bool AugmentingSearch::IsShortest() {
  Side& forward = sides_[kForward];
  Side& backward = sides_[kBackward];
  switch (join_) {
    case Join::kNone:
      return false;
    case Join::kForward:
      forward.radius = length_;
      backward.radius = 0;
      return Reach(forward) == length_;
    case Join::kBackward:
      forward.radius = 0;
      backward.radius = length_;
      return Reach(backward) == length_;
    case Join::kBoth:
      forward.radius = Reach(forward);
      backward.radius = length_ - forward.radius;
      return backward.radius <= Reach(backward) && !IsMeetingInDoubt();
  }
  return false;
}

// A half arc whose tier waits on both sides may still join them at a lower
// cost.  Reading one side's tiers, up to the distance, rules that out.  Scans
// some if necessary.
bool AugmentingSearch::IsMeetingInDoubt() {
  for (const Side& side : sides_) {
    if (side.NextFar() >= length_) return false;
  }
  if (sides_[kForward].far_heap.size() <= sides_[kBackward].far_heap.size()) {
    ScanNextFar<true>();
  } else {
    ScanNextFar<false>();
  }
  return true;
}

FlowCost AugmentingSearch::Side::Next() const {
  if (!level.empty()) return distance;
  return std::min(heap.empty() ? kInfinity : heap.front().distance, NextFar());
}

void AugmentingSearch::Side::Close() {
  is_open = false;
  scans = 0;
  distance = 0;
  level.clear();
  level_begin = 0;
  heap.clear();
  far_heap.clear();
  settled.clear();
  wall = kInfinity;
  radius = 0;
}

void AugmentingSearch::Push(const HeapEntry& entry,
                            std::vector<HeapEntry>* heap) {
  heap->push_back(entry);
  std::ranges::push_heap(*heap, std::greater<>());
}

AugmentingSearch::HeapEntry AugmentingSearch::PopNearest(
    std::vector<HeapEntry>* heap) {
  std::ranges::pop_heap(*heap, std::greater<>());
  const HeapEntry nearest = heap->back();
  heap->pop_back();
  return nearest;
}

template <bool is_forward>
void AugmentingSearch::Open(NodeIndex root) {
  Side& side = sides_[is_forward ? kForward : kBackward];
  side.Close();
  side.is_open = true;
  side.root = root;
  Label& label = node(root).labels[is_forward ? kForward : kBackward];
  label.distance = 0;
  label.search = 2 * search_;
  side.level.push_back(root);
}

// Settles the nearest labeled node of one side, or scans the next tier of a
// settled one.
template <bool is_forward>
void AugmentingSearch::SettleNext() {
  constexpr size_t kSide = is_forward ? kForward : kBackward;
  Side& side = sides_[kSide];
  NodeIndex next = kNoNode;
  if (!side.level.empty()) {
    next = side.level[side.level_begin++];
    if (side.level_begin == side.level.size()) {
      side.level.clear();
      side.level_begin = 0;
    }
  } else {
    side.distance = side.Next();
    if (side.NextFar() == side.distance) {
      ScanNextFar<is_forward>();
      return;
    }
    next = PopNearest(&side.heap).node;
  }
  Label& label = node(next).labels[kSide];
  if (label.search == 2 * search_ + 1) return;
  label.search = 2 * search_ + 1;
  side.settled.push_back(next);
  Scan<is_forward>(next);
}

// Labels the nodes one half arc beyond `from`.  Tiers other than the first are
// scanned only when the search gets to where they may matter.
template <bool is_forward>
void AugmentingSearch::Scan(NodeIndex from) {
  constexpr size_t kSide = is_forward ? kForward : kBackward;
  if constexpr (is_forward) {
    ScanHalfArcs<is_forward>(from, network_.NearOut(from));
  } else {
    const FlowCost price = sides_[kSide].distance - potential(from);
    const auto both = network_.Both(from);
    for (const HalfArc& half_arc : both) {
      Offer<is_forward>(half_arc, price + network_.CostOfTwin(half_arc) +
                                      potential(half_arc.head));
    }
    CountScans(kSide, both.size());
    ScanHalfArcs<is_forward>(from, network_.Tier<is_forward>(from, 0));
  }
  CountScans(kSide, tiers_.CountRead<is_forward>(from, 0));
  ScanTiers<is_forward>(from, 1);
}

// Scans the tiers from `tier` on that may lead to where the search is; the rest
// of them wait.
template <bool is_forward>
void AugmentingSearch::ScanTiers(NodeIndex from, int tier) {
  constexpr size_t kSide = is_forward ? kForward : kBackward;
  Side& side = sides_[kSide];
  for (; tier < HubTiers::kTierCount; ++tier) {
    const auto half_arcs = network_.Tier<is_forward>(from, tier);
    if (half_arcs.empty()) continue;
    const FlowCost distance = node(from).labels[kSide].distance +
                              tiers_.LeastReducedCost<is_forward>(from, tier);
    if (distance > side.distance) {
      if (distance < length_) Push({distance, from, tier}, &side.far_heap);
      return;
    }
    ScanTier<is_forward>(from, tier);
  }
}

template <bool is_forward>
void AugmentingSearch::ScanNextFar() {
  Side& side = sides_[is_forward ? kForward : kBackward];
  const HeapEntry next = PopNearest(&side.far_heap);
  ScanTier<is_forward>(next.node, next.tier);
  ScanTiers<is_forward>(next.node, next.tier + 1);
}

template <bool is_forward>
void AugmentingSearch::ScanTier(NodeIndex from, int tier) {
  ScanHalfArcs<is_forward>(from, network_.Tier<is_forward>(from, tier));
  CountScans(is_forward ? kForward : kBackward,
             tiers_.CountRead<is_forward>(from, tier));
}

// Scans half arcs open one way only.
template <bool is_forward>
void AugmentingSearch::ScanHalfArcs(NodeIndex from,
                                    std::span<const HalfArc> half_arcs) {
  constexpr size_t kSide = is_forward ? kForward : kBackward;
  const Node& of = node(from);
  const FlowCost price = of.labels[kSide].distance +
                         (is_forward ? potential(from) : -potential(from));
  for (const HalfArc& half_arc : half_arcs) {
    const FlowCost cost = half_arc.cost - potential(half_arc.head);
    Offer<is_forward>(half_arc, is_forward ? price + cost : price - cost);
  }
  CountScans(kSide, half_arcs.size());
}

void AugmentingSearch::CountScans(size_t side, size_t count) {
  sides_[side].scans += static_cast<int64_t>(count);
  work_.arc_scans += static_cast<int64_t>(count);
}

template <bool is_forward>
void AugmentingSearch::Offer(const HalfArc& over, FlowCost distance) {
  constexpr size_t kSide = is_forward ? kForward : kBackward;
  Side& side = sides_[kSide];
  if (distance >= length_) return;
  Node& to = node(over.head);
  Label& label = to.labels[kSide];
  if (label.search >= 2 * search_ && label.distance <= distance) return;
  label = {.distance = distance, .search = 2 * search_, .parent = over.id()};
  const Label& other = to.labels[1 - kSide];
  if (other.search >= 2 * search_ && distance + other.distance < length_) {
    length_ = distance + other.distance;
    join_ = Join::kBoth;
    joint_ = over.head;
  }
  const bool is_end =
      over.head == reservoir_ || (is_forward ? to.excess < 0 : to.excess > 0);
  if (is_end && !side.is_far) {
    if (distance >= length_) return;
    length_ = distance;
    join_ = is_forward ? Join::kForward : Join::kBackward;
    joint_ = over.head;
  } else if (over.head == reservoir_) {
    side.wall = distance;
  } else if (distance == side.distance) {
    side.level.push_back(over.head);
  } else {
    Push({distance, over.head}, &side.heap);
  }
}

// Makes the reduced costs along the chosen path zero.
void AugmentingSearch::UpdatePotentials() {
  for (const size_t kind : {kForward, kBackward}) {
    const Side& side = sides_[kind];
    for (const NodeIndex index : side.settled) {
      const FlowCost change = side.radius - node(index).labels[kind].distance;
      if (change <= 0) continue;
      SetPotential(index,
                   potential(index) + (kind == kForward ? -change : change));
      ++work_.relabels;
    }
  }
}

// Moves dead ends away until one of their ways on has a reduced cost of zero.
// So later searches find them late, most of them never.  This matters if
// thousands of tasks end at one class.
void AugmentingSearch::Recede() {
  for (const NodeIndex index : sides_[kForward].settled) RecedeForward(index);
  for (const NodeIndex index : sides_[kBackward].settled) {
    RecedeBackward(index);
  }
}

// The ends of the path are no dead ends, although none of their ways on may be
// part of it: each may have been settled by the other side.
bool AugmentingSearch::IsDeadEnd(NodeIndex index, size_t ways) const {
  return ways > 0 && ways <= kRecedeWaysMax && excess(index) == 0;
}

void AugmentingSearch::RecedeForward(NodeIndex index) {
  if (!IsDeadEnd(index, network_.Out(index).size())) return;
  const FlowCost low = LowestPotential(index);
  if (low < potential(index)) SetPotential(index, low);
}

void AugmentingSearch::RecedeBackward(NodeIndex index) {
  const size_t ways =
      network_.Tiers<false>(index, 0, HubTiers::kTierCount - 1).size() +
      network_.Both(index).size();
  if (!IsDeadEnd(index, ways)) return;
  const FlowCost high = HighestPotential(index);
  if (high > potential(index)) SetPotential(index, high);
}

// A node with several ways on may be needed for one of them soon.
void AugmentingSearch::RecedeAll() {
  for (NodeIndex index = 0; index < std::ssize(nodes_); ++index) {
    if (network_.Out(index).size() == 1) RecedeForward(index);
  }
}

// Appends the half arcs between the root of the side and `from` to the path;
// returns the root.
NodeIndex AugmentingSearch::Trace(size_t side, NodeIndex from) {
  while (from != sides_[side].root) {
    const HalfArcId parent = node(from).labels[side].parent;
    const HalfArcId twin = DynamicResidualNetwork::Twin(parent);
    path_.push_back(side == kForward ? parent : twin);
    from = network_.half_arc(twin).head;
  }
  return from;
}

AugmentingSearch::Path AugmentingSearch::TracePath() {
  path_.clear();
  Path path;
  path.source = join_ == Join::kBackward ? joint_ : Trace(kForward, joint_);
  path.target = join_ == Join::kForward ? joint_ : Trace(kBackward, joint_);
  path.half_arcs = path_;
  return path;
}

}  // namespace sluice
