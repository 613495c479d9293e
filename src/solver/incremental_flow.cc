#include "solver/incremental_flow.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "base/strings.h"
#include "flow/validate.h"
#include "solver/solution.h"

namespace sluice {
namespace {

// Searches are numbered in half a label.
constexpr uint32_t kSearchMax = (uint32_t{1} << 31) - 2;

// Potentials beyond this in size could overflow reduced costs.
constexpr FlowCost kPotentialMax = int64_t{1} << 60;

// How many arc scans go by between two looks at the limits.
constexpr int64_t kScansPerPoll = 4096;

// A search is not capped beyond.
constexpr FlowCost kCapMax = int64_t{1} << 40;

// No more half arcs than that are ever near.
constexpr int32_t kNearCountMax = 1 << 20;

// A node with more half arcs does not change its potential to suit one of them.
constexpr int32_t kFitDegreeMax = 16;

// A self-loop moves nothing: it carries its lower bound and whatever pays.
FlowUnits SelfLoopFlow(const FlowProblem& problem, ArcIndex arc) {
  FlowUnits flow = 0;
  for (const CostSegment& segment : problem.segments(arc)) {
    if (segment.cost >= 0) break;
    flow += segment.width;
  }
  return std::max(flow, problem.arc(arc).lower);
}

// Whether flow over the arc moves anything.
bool IsMoving(const FlowProblem::Arc& arc) {
  return arc.tail != arc.head && arc.capacity() > 0;
}

bool IsSound(std::span<const CostSegment> segments) {
  for (size_t i = 0; i < segments.size(); ++i) {
    if (segments[i].width < 0) return false;
    if (segments[i].width == 0 && segments.size() > 1) return false;
    if (i > 0 && segments[i].cost < segments[i - 1].cost) return false;
  }
  return true;
}

FlowUnits Size(FlowUnits amount) { return amount < 0 ? -amount : amount; }

}  // namespace

FlowSolution IncrementalFlow::Solve(const FlowProblem& problem,
                                    const SolveLimits& limits) {
  FlowSolution solution;
  has_optimum_ = false;
  if (std::optional<FlowSolution> refusal = RefuseUnlessPure(problem)) {
    return *std::move(refusal);
  }
  Begin(problem, limits, &solution);
  if (!outcome_.has_value()) {
    StartEmpty();
    Build(solution);
    Route();
  }
  Finish();
  return solution;
}

void IncrementalFlow::Adopt(const FlowProblem& problem,
                            const FlowSolution& solution) {
  problem_ = &problem;
  nodes_.assign(static_cast<size_t>(problem.node_count()), Node());
  search_ = 0;
  has_optimum_ = true;
  for (const FlowCost potential : solution.potentials) {
    if (Size(potential) > kPotentialMax) has_optimum_ = false;
  }
  unbalanced_.clear();
  Build(solution);
}

void IncrementalFlow::Resolve(const FlowProblem& problem,
                              const SolveLimits& limits,
                              FlowSolution* solution) {
  const std::vector<FlowChange>* log = problem.log();
  const bool is_known = has_optimum_ && log != nullptr &&
                        solution->outcome == SolveOutcome::kOptimal &&
                        solution->potentials.size() == nodes_.size();
  if (!is_known) {
    *solution = Solve(problem, limits);
    return;
  }
  has_optimum_ = false;
  Begin(problem, limits, solution);
  if (!IsWithinLimits(*log) || !ApplyToNodes(*log)) {
    if (std::optional<FlowSolution> refusal = RefuseUnlessPure(problem)) {
      *solution = *std::move(refusal);
      return;
    }
    MeasureLimits();
    ApplyToNodes(*log);
  }
  if (!outcome_.has_value()) ApplyToArcs(*log);
  if (!outcome_.has_value()) Route();
  Finish();
}

void IncrementalFlow::Begin(const FlowProblem& problem,
                            const SolveLimits& limits, FlowSolution* solution) {
  problem_ = &problem;
  limits_ = limits;
  solution_ = solution;
  outcome_.reset();
  work_ = {};
  solution->error.clear();
  solution->witness_cut.clear();
  solution->algorithm = "successive_shortest_paths";
  PollLimits();
}

// The flow that is best at potentials of zero, which is none where no cost is
// negative.
void IncrementalFlow::StartEmpty() {
  const auto size = static_cast<size_t>(problem_->node_count());
  nodes_.assign(size, Node());
  search_ = 0;
  unbalanced_.clear();
  solution_->potentials.assign(size, 0);
  solution_->flows.resize(static_cast<size_t>(problem_->arc_count()));
  for (NodeIndex index = 0; index < problem_->node_count(); ++index) {
    AddExcess(index, problem_->supply(index));
  }
  for (ArcIndex arc = 0; arc < problem_->arc_count(); ++arc) {
    const FlowProblem::Arc& of = problem_->arc(arc);
    flow(arc) = BestFlow(arc, of.lower);
    if (!IsMoving(of) || flow(arc) == 0) continue;
    AddExcess(of.tail, -flow(arc));
    AddExcess(of.head, flow(arc));
  }
}

void IncrementalFlow::Build(const FlowSolution& solution) {
  const std::vector<FlowUnits>& flows = solution.flows;
  network_.Build(problem_->node_count(), problem_->arc_count(),
                 [this, &flows](ArcIndex arc)
                     -> std::optional<DynamicResidualNetwork::ArcState> {
                   if (!IsMoving(problem_->arc(arc))) return std::nullopt;
                   return StateOf(arc, flows[static_cast<size_t>(arc)]);
                 });
  drift_ = drift_sum_ = {};
  TakeReferences(solution.potentials);
  for (std::vector<Split>& splits : splits_) {
    splits.assign(nodes_.size(), Split());
  }
  supplies_.clear();
  reservoir_ = kNoNode;
  for (NodeIndex index = 0; index < problem_->node_count(); ++index) {
    supplies_.push_back(problem_->supply(index));
    ChooseReservoir(index);
  }
  costs_.clear();
  is_objective_known_ = true;
  objective_ = 0;
  for (ArcIndex arc = 0; arc < problem_->arc_count(); ++arc) {
    objective_ += NewCost(arc, flows[static_cast<size_t>(arc)]);
  }
  MeasureLimits();
}

void IncrementalFlow::TakeReferences(const std::vector<FlowCost>& potentials) {
  references_ = potentials;
  for (const size_t side : {kForward, kBackward}) {
    drift_sum_[side] += std::exchange(drift_[side], 0);
  }
  far_scans_ = 0;
}

void IncrementalFlow::MeasureLimits() {
  size_total_ = 0;
  cost_max_ = 0;
  for (NodeIndex index = 0; index < problem_->node_count(); ++index) {
    size_total_ += Size(problem_->supply(index));
  }
  for (ArcIndex arc = 0; arc < problem_->arc_count(); ++arc) {
    const std::span<const CostSegment> segments = problem_->segments(arc);
    size_total_ += problem_->arc(arc).capacity();
    if (segments.empty()) continue;
    cost_max_ = std::max(
        {cost_max_, Size(segments.front().cost), Size(segments.back().cost)});
  }
}

DynamicResidualNetwork::ArcState IncrementalFlow::StateOf(
    ArcIndex arc, FlowUnits flow) const {
  const FlowProblem::Arc& of = problem_->arc(arc);
  DynamicResidualNetwork::ArcState state = {
      .tail = of.tail,
      .head = of.head,
      .can_rise = flow<of.capacity(), .can_fall = flow> of.lower,
      .next_cost = of.whole.cost,
      .last_cost = of.whole.cost,
      .is_convex = !of.is_plain()};
  if (of.is_plain()) return state;
  for (const auto& [width, cost] : problem_->segments(arc)) {
    if (flow > 0) state.last_cost = cost;
    state.next_cost = cost;
    if (flow < width) break;
    flow -= width;
  }
  return state;
}

// What `flow` units cost over an arc whose costs follow from no half arc, which
// is remembered; and 128 bits of it for all others.
Int128 IncrementalFlow::NewCost(ArcIndex arc, FlowUnits flow) {
  const FlowProblem::Arc& of = problem_->arc(arc);
  if (of.is_plain() && IsMoving(of)) return Int128{flow} * of.whole.cost;
  Int128 cost = 0;
  FlowUnits rest = flow;
  for (const CostSegment& segment : problem_->segments(arc)) {
    if (rest == 0) break;
    const FlowUnits units = std::min(rest, segment.width);
    cost += Int128{units} * segment.cost;
    rest -= units;
  }
  const auto kept = static_cast<FlowCost>(cost);
  if (kept != cost) is_objective_known_ = false;
  if (costs_.empty() && kept == 0) return cost;
  costs_.resize(static_cast<size_t>(problem_->arc_count()));
  costs_[static_cast<size_t>(arc)] = kept;
  return cost;
}

// What the arc's flow cost before a change of the arc.
Int128 IncrementalFlow::OldCost(ArcIndex arc) {
  const auto index = static_cast<size_t>(arc);
  if (network_.IsListed(arc)) {
    const HalfArc& along = network_.half_arc(2 * static_cast<HalfArcId>(arc));
    if (!along.is_convex()) return Int128{flow(arc)} * along.cost;
  }
  return index < costs_.size() ? std::exchange(costs_[index], 0) : 0;
}

void IncrementalFlow::ChooseReservoir(NodeIndex candidate) {
  if (reservoir_ == kNoNode ||
      Size(problem_->supply(candidate)) > Size(problem_->supply(reservoir_))) {
    reservoir_ = candidate;
  }
}

// Whether all changes are surely sound by flow/validate.h.
bool IncrementalFlow::IsWithinLimits(std::span<const FlowChange> log) {
  if (!problem_->gains().empty() || !problem_->all_or_none().empty() ||
      problem_->arc_count() > kArcCountMax) {
    return false;
  }
  for (const auto& [kind, index] : log) {
    if (kind == FlowChange::Kind::kNode ? !AddToTotal(problem_->supply(index))
                                        : !IsArcWithinLimits(index)) {
      return false;
    }
  }
  return cost_max_ <= kScaledCostMax / (problem_->node_count() + 1);
}

bool IncrementalFlow::IsArcWithinLimits(ArcIndex index) {
  const FlowProblem::Arc& arc = problem_->arc(index);
  for (const NodeIndex end : {arc.tail, arc.head}) {
    if (end < 0 || end >= problem_->node_count()) return false;
  }
  const std::span<const CostSegment> segments = problem_->segments(index);
  if (!IsSound(segments) || arc.lower < 0 || arc.lower > arc.capacity()) {
    return false;
  }
  if (segments.empty()) return true;
  for (const FlowCost cost : {segments.front().cost, segments.back().cost}) {
    if (cost < -kScaledCostMax || cost > kScaledCostMax) return false;
    cost_max_ = std::max(cost_max_, Size(cost));
  }
  return AddToTotal(arc.capacity());
}

// False once the sum of supplies and capacities may be beyond its limit.
bool IncrementalFlow::AddToTotal(FlowUnits amount) {
  // Written so that neither the negation nor the sum can overflow.
  if (amount < -kFlowTotalMax || amount > kFlowTotalMax) return false;
  size_total_ += Size(amount);
  return size_total_ <= kFlowTotalMax;
}

// Returns whether all supplies still add up to zero.
bool IncrementalFlow::ApplyToNodes(std::span<const FlowChange> log) {
  const auto size = static_cast<size_t>(problem_->node_count());
  nodes_.resize(size);
  for (std::vector<Split>& splits : splits_) splits.resize(size);
  references_.resize(size);
  supplies_.resize(size);
  solution_->potentials.resize(size);
  Int128 change = 0;
  for (const auto& [kind, index] : log) {
    if (kind != FlowChange::Kind::kNode) continue;
    FlowUnits& supply = supplies_[static_cast<size_t>(index)];
    const FlowUnits now = problem_->supply(index);
    change += Int128{now} - supply;
    AddExcess(index, now - supply);
    supply = now;
    ChooseReservoir(index);
  }
  return change == 0;
}

// Brings arcs, flow and potentials up to date such that no half arc has a
// negative reduced cost.
void IncrementalFlow::ApplyToArcs(std::span<const FlowChange> log) {
  network_.Grow(problem_->node_count(), problem_->arc_count());
  solution_->flows.resize(static_cast<size_t>(problem_->arc_count()));
  for (const auto& [kind, index] : log) {
    if (kind == FlowChange::Kind::kArc) Relist(index);
  }
  for (const auto& [kind, index] : log) {
    if (kind == FlowChange::Kind::kNode) Fit(index);
  }
  for (const auto& [kind, index] : log) {
    if (kind != FlowChange::Kind::kArc || !network_.IsListed(index)) continue;
    if (BestFlow(index, flow(index)) == flow(index)) continue;
    Fit(network_.tail(index));
    Fit(network_.head(index));
    const FlowUnits best = BestFlow(index, flow(index));
    const FlowUnits rise = best - flow(index);
    if (rise == 0) continue;
    AddExcess(network_.tail(index), -rise);
    AddExcess(network_.head(index), rise);
    ChangeFlow(index, best);
  }
}

// Lists a changed arc as it is now, its flow as it was if that may be.
void IncrementalFlow::Relist(ArcIndex arc) {
  const FlowProblem::Arc& of = problem_->arc(arc);
  objective_ -= OldCost(arc);
  FlowUnits& flow = this->flow(arc);
  const bool is_moving = IsMoving(of);
  if (network_.IsListed(arc)) {
    const NodeIndex tail = network_.tail(arc);
    const NodeIndex head = network_.head(arc);
    AddExcess(tail, flow);
    AddExcess(head, -flow);
    if (!is_moving || tail != of.tail || head != of.head) {
      network_.Remove(arc);
      flow = 0;
    }
  }
  if (is_moving) {
    flow = std::clamp(flow, of.lower, of.capacity());
    AddExcess(of.tail, -flow);
    AddExcess(of.head, flow);
    const DynamicResidualNetwork::ArcState state = StateOf(arc, flow);
    if (network_.IsListed(arc)) {
      network_.Update(arc, state);
    } else {
      network_.Add(arc, state);
    }
  } else {
    flow = of.is_removed() ? 0 : SelfLoopFlow(*problem_, arc);
  }
  objective_ += NewCost(arc, flow);
}

// Moves the potential of a node of few half arcs to where none of them has a
// negative reduced cost, if there is such a place.
void IncrementalFlow::Fit(NodeIndex index) {
  if (network_.degree(index) > kFitDegreeMax) return;
  FlowCost low = -kInfinity;
  FlowCost high = kInfinity;
  for (const auto& half_arcs : {network_.FarOut(index), network_.Out(index)}) {
    for (const HalfArc& half_arc : half_arcs) {
      low = std::max(low, potential(half_arc.head) - half_arc.cost);
    }
  }
  for (const auto& half_arcs :
       {network_.NearIn(index), network_.FarIn(index)}) {
    for (const HalfArc& half_arc : half_arcs) {
      high = std::min(high, potential(half_arc.head) - half_arc.cost);
    }
  }
  for (const HalfArc& half_arc : network_.Both(index)) {
    high = std::min(high,
                    potential(half_arc.head) + network_.CostOfTwin(half_arc));
  }
  if (low > high) return;
  // A bound that is infinite binds nothing.
  const FlowCost fitting = std::clamp(potential(index), low, high);
  if (fitting == potential(index)) return;
  SetPotential(index, fitting);
  // Nobody has half arcs to it that are far, so that it may have drifted.
  references_[static_cast<size_t>(index)] = fitting;
  network_.MakeNearAtHeads(index);
}

// The flow nearest to `flow` that is best at the potentials as they are.
FlowUnits IncrementalFlow::BestFlow(ArcIndex arc, FlowUnits flow) const {
  const FlowProblem::Arc& of = problem_->arc(arc);
  const FlowCost price = potential(of.head) - potential(of.tail);
  // Units below the price should flow, those above should not.
  FlowUnits low = 0;
  FlowUnits high = 0;
  for (const auto& [width, cost] : problem_->segments(arc)) {
    if (cost > price) break;
    high += width;
    if (cost < price) low += width;
  }
  return std::clamp(flow, std::max(low, of.lower), std::max(high, of.lower));
}

void IncrementalFlow::ChangeFlow(ArcIndex arc, FlowUnits to) {
  FlowUnits& flow = this->flow(arc);
  const FlowProblem::Arc& of = problem_->arc(arc);
  if (of.is_plain()) {
    objective_ += Int128{to - flow} * of.whole.cost;
  } else {
    objective_ -= OldCost(arc);
    objective_ += NewCost(arc, to);
  }
  flow = to;
  network_.Update(arc, StateOf(arc, to));
  ++work_.pushes;
}

void IncrementalFlow::AddExcess(NodeIndex index, FlowUnits amount) {
  if (amount == 0) return;
  FlowUnits& excess = node(index).excess;
  if (excess == 0) unbalanced_.push_back(index);
  excess += amount;
}

void IncrementalFlow::SetPotential(NodeIndex index, FlowCost potential) {
  solution_->potentials[static_cast<size_t>(index)] = potential;
  if (Size(potential) > kPotentialMax) outcome_ = SolveOutcome::kCostRange;
}

void IncrementalFlow::Route() {
  ++work_.phases;
  // Once the drift has cost more than that, anew is cheaper.
  if (far_scans_ > 4 * std::ssize(nodes_)) {
    TakeReferences(solution_->potentials);
  }
  std::ranges::sort(unbalanced_);
  const auto repeated = std::ranges::unique(unbalanced_);
  unbalanced_.erase(repeated.begin(), repeated.end());
  // Routing adds to the list, none of which is a start.
  const size_t count = unbalanced_.size();
  counterparts_ = unbalanced_;
  for (size_t i = 0; i < count; ++i) RouteFrom<true>(unbalanced_[i]);
  for (size_t i = 0; i < count; ++i) RouteFrom<false>(unbalanced_[i]);
  unbalanced_.clear();
}

// Sends the excess of `start` off, or fills its deficit.
template <bool is_forward>
void IncrementalFlow::RouteFrom(NodeIndex start) {
  if (start == reservoir_) return;
  const auto is_left = [this, start] {
    return is_forward ? node(start).excess > 0 : node(start).excess < 0;
  };
  while (is_left() && !outcome_.has_value()) {
    Search<is_forward>(start);
    if (outcome_.has_value()) return;
    if (join_ == Join::kNone) {
      FindCut<is_forward>();
      return;
    }
    UpdatePotentials();
    Augment();
  }
}

// Another start whose balance has the other sign, or none.
template <bool is_forward>
NodeIndex IncrementalFlow::Counterpart() {
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

// Finds a shortest path from `start` to a node that can take its excess (to
// `start` from one that can fill its deficit), which *_distance_ then say.
//
// A search that gets wide goes on from both ends: from `start` and from a
// counterpart.  Balls of half the radius hold far fewer nodes.
template <bool is_forward>
void IncrementalFlow::Search(NodeIndex start) {
  while (true) {
    SearchWithinCap<is_forward>(start);
    if (join_ != Join::kNone) {
      // About four times what the last ones needed.
      const FlowCost length =
          sides_[kForward].radius + sides_[kBackward].radius;
      cap_ = std::min(cap_, kCapMax) / 2 + 2 * std::min(length, kCapMax) + 8;
      return;
    }
    if (outcome_.has_value() || cap_ == kInfinity) return;
    cap_ = cap_ < kCapMax ? 8 * cap_ : kInfinity;
  }
}

template <bool is_forward>
void IncrementalFlow::SearchWithinCap(NodeIndex start) {
  if (++search_ > kSearchMax) {
    for (Node& node : nodes_) node.labels = {};
    search_ = 1;
  }
  Side& near = sides_[is_forward ? kForward : kBackward];
  Side& far = sides_[is_forward ? kBackward : kForward];
  near.is_far = false;
  far.is_far = true;
  join_ = Join::kNone;
  meeting_distance_ = kInfinity;
  far.Close(cap_);
  Open<is_forward>(start);
  while (!IsJoined()) {
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
    } else if (meeting_distance_ == kInfinity || cap_ < kInfinity) {
      return;
    }
    if (work_.arc_scans >= next_poll_at_) PollLimits();
    if (outcome_.has_value()) return;
  }
}

// Whether a path is found that is as short as can be, which is then chosen.
bool IncrementalFlow::IsJoined() {
  const FlowCost forward = sides_[kForward].Reach();
  const FlowCost backward = sides_[kBackward].Reach();
  if (sides_[kForward].hit != kNoNode &&
      sides_[kForward].hit_distance <= forward) {
    join_ = Join::kForwardHit;
    sides_[kForward].radius = sides_[kForward].hit_distance;
    sides_[kBackward].radius = 0;
  } else if (sides_[kBackward].hit != kNoNode &&
             sides_[kBackward].hit_distance <= backward) {
    join_ = Join::kBackwardHit;
    sides_[kForward].radius = 0;
    sides_[kBackward].radius = sides_[kBackward].hit_distance;
  } else if (meeting_distance_ < kInfinity &&
             meeting_distance_ - std::min(forward, meeting_distance_) <=
                 backward) {
    if (IsMeetingInDoubt()) return false;
    join_ = Join::kMeeting;
    sides_[kForward].radius = std::min(forward, meeting_distance_);
    sides_[kBackward].radius = meeting_distance_ - sides_[kForward].radius;
  }
  return join_ != Join::kNone;
}

// A half arc that is far on both sides may still join them at less.  One side's
// far ones, up to the distance, put that out of doubt.  Scans some if need be.
bool IncrementalFlow::IsMeetingInDoubt() {
  for (const Side& side : sides_) {
    if (side.NextFar() >= meeting_distance_) return false;
  }
  if (sides_[kForward].far_heap.size() <= sides_[kBackward].far_heap.size()) {
    ScanNextFar<true>();
  } else {
    ScanNextFar<false>();
  }
  return true;
}

void IncrementalFlow::Side::Close(FlowCost cap) {
  is_open = false;
  scans = 0;
  distance = 0;
  level.clear();
  level_begin = 0;
  heap.clear();
  far_heap.clear();
  settled.clear();
  hit = kNoNode;
  hit_distance = wall = kInfinity;
  bound = cap;
  radius = 0;
}

void IncrementalFlow::Push(const HeapEntry& entry,
                           std::vector<HeapEntry>* heap) {
  heap->push_back(entry);
  std::ranges::push_heap(*heap, std::greater<>());
}

NodeIndex IncrementalFlow::PopNearest(std::vector<HeapEntry>* heap) {
  std::ranges::pop_heap(*heap, std::greater<>());
  const NodeIndex nearest = heap->back().node;
  heap->pop_back();
  return nearest;
}

template <bool is_forward>
void IncrementalFlow::Open(NodeIndex root) {
  Side& side = sides_[is_forward ? kForward : kBackward];
  side.Close(cap_);
  side.is_open = true;
  side.root = root;
  Label& label = node(root).labels[is_forward ? kForward : kBackward];
  label.distance = 0;
  label.search = 2 * search_;
  side.level.push_back(root);
}

// Settles the nearest labeled node of one side, or scans the far half arcs of
// one that is settled.
template <bool is_forward>
void IncrementalFlow::SettleNext() {
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
    next = PopNearest(&side.heap);
  }
  Label& label = node(next).labels[kSide];
  if (label.search == 2 * search_ + 1) return;
  label.search = 2 * search_ + 1;
  side.settled.push_back(next);
  Scan<is_forward>(next);
}

// Labels the nodes one half arc farther than `from`, far half arcs only when
// the search gets to where they may matter.
template <bool is_forward>
void IncrementalFlow::Scan(NodeIndex from) {
  constexpr size_t kSide = is_forward ? kForward : kBackward;
  Side& side = sides_[kSide];
  size_t near_count = 0;
  if constexpr (is_forward) {
    near_count = network_.NearOut(from).size();
    ScanHalfArcs<is_forward>(from, network_.Out(from));
  } else {
    const FlowCost price = side.distance - potential(from);
    const auto both = network_.Both(from);
    for (const HalfArc& half_arc : both) {
      Reach<is_forward>(half_arc, price + network_.CostOfTwin(half_arc) +
                                      potential(half_arc.head));
    }
    CountScans(kSide, both.size());
    near_count = network_.NearIn(from).size();
    ScanHalfArcs<is_forward>(from, network_.NearIn(from));
  }
  const bool has_far = is_forward ? !network_.FarOut(from).empty()
                                  : !network_.FarIn(from).empty();
  Split& split = splits_[kSide][static_cast<size_t>(from)];
  if (!has_far) {
    if (near_count > thresholds_.unsplit_count) SplitHalfArcs<is_forward>(from);
    return;
  }
  ++split.scan_count;
  // No far half arc has a reduced cost below this.
  const FlowCost reduced_min =
      split.level - drift_sum_[kSide] - drift_[kSide] +
      (is_forward ? potential(from) : -potential(from));
  if (reduced_min <= 0) {
    ScanFar<is_forward>(from);
  } else if (side.distance + reduced_min < side.bound) {
    Push({side.distance + reduced_min, from}, &side.far_heap);
  }
}

template <bool is_forward>
void IncrementalFlow::ScanNextFar() {
  Side& side = sides_[is_forward ? kForward : kBackward];
  ScanFar<is_forward>(PopNearest(&side.far_heap));
}

template <bool is_forward>
void IncrementalFlow::ScanFar(NodeIndex from) {
  far_scans_ += network_.degree(from);
  ScanHalfArcs<is_forward>(
      from, is_forward ? network_.FarOut(from) : network_.FarIn(from));
  SplitHalfArcs<is_forward>(from);
}

// Of half arcs open one way only.
template <bool is_forward>
void IncrementalFlow::ScanHalfArcs(NodeIndex from,
                                   std::span<const HalfArc> half_arcs) {
  constexpr size_t kSide = is_forward ? kForward : kBackward;
  const Node& of = node(from);
  const FlowCost price = of.labels[kSide].distance +
                         (is_forward ? potential(from) : -potential(from));
  for (const HalfArc& half_arc : half_arcs) {
    const FlowCost cost = half_arc.cost - potential(half_arc.head);
    Reach<is_forward>(half_arc, is_forward ? price + cost : price - cost);
  }
  CountScans(kSide, half_arcs.size());
}

void IncrementalFlow::CountScans(size_t side, size_t count) {
  sides_[side].scans += static_cast<int64_t>(count);
  work_.arc_scans += static_cast<int64_t>(count);
}

// Divides the half arcs of a node that has many into those of least reduced
// cost, near, and the others.
template <bool is_forward>
void IncrementalFlow::SplitHalfArcs(NodeIndex from) {
  constexpr size_t kSide = is_forward ? kForward : kBackward;
  Split& split = splits_[kSide][static_cast<size_t>(from)];
  const auto key_of = [this](const HalfArc& half_arc) {
    const FlowCost key =
        half_arc.cost - references_[static_cast<size_t>(half_arc.head)];
    return is_forward ? key : -key;
  };
  keys_.clear();
  for (const auto& half_arcs :
       {is_forward ? network_.NearOut(from) : network_.NearIn(from),
        is_forward ? network_.FarOut(from) : network_.FarIn(from)}) {
    for (const HalfArc& half_arc : half_arcs) {
      keys_.push_back(key_of(half_arc));
    }
  }
  const auto size = static_cast<int64_t>(keys_.size());
  CountScans(kSide, keys_.size());
  // Splitting should cost about as much as the scans of what is near.
  const int64_t scans = int64_t{split.scan_count} * split.near_count;
  if (scans < 2 * size) {
    split.near_count = 2 * split.near_count;
  } else if (scans > 16 * size) {
    split.near_count = split.near_count / 2;
  }
  split.near_count = std::clamp<int32_t>(
      split.near_count, thresholds_.near_count_min, kNearCountMax);
  split.scan_count = 0;
  FlowCost level = kInfinity;
  if (split.near_count < size) {
    const auto nth = keys_.begin() + split.near_count;
    std::ranges::nth_element(keys_, nth);
    level = *nth;
    split.level = level + drift_sum_[kSide];
  }
  const auto is_far = [&key_of, level](const HalfArc& half_arc) {
    return key_of(half_arc) >= level;
  };
  if constexpr (is_forward) {
    network_.SplitFarOut(from, is_far);
  } else {
    network_.SplitFarIn(from, is_far);
  }
}

template <bool is_forward>
void IncrementalFlow::Reach(const HalfArc& over, FlowCost distance) {
  constexpr size_t kSide = is_forward ? kForward : kBackward;
  Side& side = sides_[kSide];
  if (distance >= side.bound) return;
  Node& to = node(over.head);
  Label& label = to.labels[kSide];
  if (label.search >= 2 * search_ && label.distance <= distance) return;
  label = {.distance = distance, .search = 2 * search_, .parent = over.id()};
  const Label& other = to.labels[1 - kSide];
  if (other.search >= 2 * search_ &&
      distance + other.distance < meeting_distance_) {
    meeting_distance_ = distance + other.distance;
    meeting_ = over.head;
    for (Side& each : sides_) {
      each.bound = std::min(each.bound, meeting_distance_);
    }
  }
  if (over.head == reservoir_ && side.is_far) {
    side.wall = std::min(side.wall, distance);
  } else if (over.head == reservoir_ ||
             (is_forward ? to.excess < 0 : to.excess > 0)) {
    side.hit_distance = distance;
    side.hit = over.head;
    side.bound = distance;
  } else if (distance == side.distance) {
    side.level.push_back(over.head);
  } else {
    Push({distance, over.head}, &side.heap);
  }
}

// Makes the reduced costs along the chosen path zero.
void IncrementalFlow::UpdatePotentials() {
  for (const size_t kind : {kForward, kBackward}) {
    const Side& side = sides_[kind];
    for (const NodeIndex index : side.settled) {
      const FlowCost change = side.radius - node(index).labels[kind].distance;
      if (change <= 0) continue;
      SetPotential(index,
                   potential(index) + (kind == kForward ? -change : change));
      const FlowCost drift =
          potential(index) - references_[static_cast<size_t>(index)];
      drift_[kForward] = std::max(drift_[kForward], drift);
      drift_[kBackward] = std::max(drift_[kBackward], -drift);
      ++work_.relabels;
    }
  }
}

// Moves as many units as fit along the chosen path.
void IncrementalFlow::Augment() {
  ++work_.paths;
  path_.clear();
  const auto trace = [this](size_t kind, NodeIndex from) {
    while (from != sides_[kind].root) {
      const HalfArcId parent = node(from).labels[kind].parent;
      const HalfArcId twin = DynamicResidualNetwork::Twin(parent);
      path_.push_back(kind == kForward ? parent : twin);
      from = network_.half_arc(twin).head;
    }
    return from;
  };
  NodeIndex source = meeting_;
  NodeIndex target = meeting_;
  switch (join_) {
    case Join::kForwardHit:
      target = sides_[kForward].hit;
      source = trace(kForward, target);
      break;
    case Join::kBackwardHit:
      source = sides_[kBackward].hit;
      target = trace(kBackward, source);
      break;
    case Join::kMeeting:
      source = trace(kForward, meeting_);
      target = trace(kBackward, meeting_);
      break;
    case Join::kNone:
      return;
  }
  FlowUnits amount = std::numeric_limits<FlowUnits>::max();
  for (const NodeIndex end : {source, target}) {
    if (end != reservoir_) amount = std::min(amount, Size(node(end).excess));
  }
  for (const HalfArcId id : path_) {
    if (amount == 1) break;
    amount = std::min(amount, RoomOver(id));
  }
  for (const HalfArcId id : path_) {
    const ArcIndex arc = DynamicResidualNetwork::ArcOf(id);
    const bool is_along = DynamicResidualNetwork::IsAlong(id);
    ChangeFlow(arc, flow(arc) + (is_along ? amount : -amount));
  }
  AddExcess(source, -amount);
  AddExcess(target, amount);
}

// How many units fit over the half arc at one cost.
FlowUnits IncrementalFlow::RoomOver(HalfArcId id) {
  const ArcIndex arc = DynamicResidualNetwork::ArcOf(id);
  const FlowProblem::Arc& of = problem_->arc(arc);
  const bool is_along = DynamicResidualNetwork::IsAlong(id);
  const FlowUnits flow = this->flow(arc);
  const FlowUnits room = is_along ? of.capacity() - flow : flow - of.lower;
  if (of.is_plain()) return room;
  FlowUnits end = 0;
  for (const CostSegment& segment : problem_->segments(arc)) {
    const FlowUnits begin = end;
    end += segment.width;
    if (is_along && end > flow) return std::min(room, end - flow);
    if (!is_along && end >= flow) return std::min(room, flow - begin);
  }
  return room;
}

// What the search from an excess reaches has no way out; what the search to a
// deficit does not reach has none into what it does.
template <bool is_forward>
void IncrementalFlow::FindCut() {
  outcome_ = SolveOutcome::kInfeasible;
  for (NodeIndex index = 0; index < problem_->node_count(); ++index) {
    const Label& label = node(index).labels[is_forward ? kForward : kBackward];
    const bool is_reached = label.search >= 2 * search_;
    if (is_reached == is_forward) solution_->witness_cut.push_back(index);
  }
}

void IncrementalFlow::PollLimits() {
  next_poll_at_ = work_.arc_scans + kScansPerPoll;
  if (limits_.cancelled != nullptr &&
      limits_.cancelled->load(std::memory_order_relaxed)) {
    outcome_ = SolveOutcome::kCancelled;
  } else if (limits_.work_max > 0 && work_.arc_scans >= limits_.work_max) {
    outcome_ = SolveOutcome::kBudgetSpent;
  }
}

void IncrementalFlow::Finish() {
  if (!outcome_.has_value()) SetObjective();
  solution_->work = work_;
  solution_->outcome = outcome_.value_or(SolveOutcome::kOptimal);
  has_optimum_ = !outcome_.has_value();
  switch (solution_->outcome) {
    case SolveOutcome::kOptimal:
      return;
    case SolveOutcome::kInfeasible:
      solution_->error =
          StrCat("the supply of ", solution_->witness_cut.size(),
                 " nodes, node ", solution_->witness_cut.front(),
                 " the first, exceeds what the arcs out of them can carry");
      break;
    case SolveOutcome::kCostRange:
      if (solution_->error.empty()) {
        solution_->error = "the potentials are beyond 64 bits";
      }
      break;
    case SolveOutcome::kBudgetSpent:
    case SolveOutcome::kCancelled:
    case SolveOutcome::kUnbounded:
    case SolveOutcome::kInvalidProblem:
      solution_->error = SolveOutcomeName(solution_->outcome);
      break;
  }
  solution_->flows.clear();
  solution_->potentials.clear();
  solution_->objective = 0;
}

void IncrementalFlow::SetObjective() {
  if (!is_objective_known_) {
    const std::optional<FlowCost> objective =
        Objective(*problem_, solution_->flows);
    objective_ = objective.value_or(0);
    if (!objective.has_value()) objective_ = Int128{1} << 64;
  }
  solution_->objective = static_cast<FlowCost>(objective_);
  if (solution_->objective == objective_) return;
  outcome_ = SolveOutcome::kCostRange;
  solution_->error = "the objective is beyond 64 bits";
}

}  // namespace sluice
