#include "solver/incremental_flow.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "flow/validate.h"
#include "solver/solution.h"

namespace sluice {
namespace {

// A node with more half arcs than this does not change its potential to suit
// one of them.
constexpr int32_t kFitDegreeMax = 16;

// The maximum of a start's potentials: searches move them farther.
constexpr FlowCost kStartPotentialMax = AugmentingSearch::kPotentialMax / 2;

// True if flow over the arc moves anything.
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
  SolveFrom(problem, limits, &solution);
  solution.is_warm = false;
  return solution;
}

void IncrementalFlow::SolveFrom(const FlowProblem& problem,
                                const SolveLimits& limits,
                                FlowSolution* solution) {
  has_optimum_ = false;
  if (std::optional<FlowSolution> refusal = RefuseUnlessPure(problem)) {
    *solution = *std::move(refusal);
    return;
  }
  search_.Reset();
  solution->is_warm = true;
  for (FlowCost& potential : solution->potentials) {
    potential = std::clamp(potential, -kStartPotentialMax, kStartPotentialMax);
  }
  Begin(problem, limits, solution);
  if (!outcome_.has_value()) {
    Start();
    Build(*solution);
    Route();
  }
  Finish();
}

void IncrementalFlow::Adopt(const FlowProblem& problem,
                            FlowSolution* solution) {
  has_optimum_ =
      std::ranges::all_of(solution->potentials, [](FlowCost potential) {
        return Size(potential) <= AugmentingSearch::kPotentialMax;
      });
  if (!has_optimum_) return;
  problem_ = &problem;
  unbalanced_.clear();
  Build(*solution);
  search_.Reset();
  search_.Begin({}, &solution->potentials);
  search_.RecedeAll();
}

void IncrementalFlow::Resolve(const FlowProblem& problem,
                              const SolveLimits& limits,
                              FlowSolution* solution) {
  const std::vector<FlowChange>* log = problem.log();
  const bool is_known = has_optimum_ && log != nullptr &&
                        solution->outcome == SolveOutcome::kOptimal &&
                        solution->potentials.size() == supplies_.size();
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
  solution_ = solution;
  outcome_.reset();
  work_ = {};
  solution->error.clear();
  solution->witness_cut.clear();
  solution->algorithm = "successive_shortest_paths";
  solution->potentials.resize(static_cast<size_t>(problem.node_count()));
  search_.Begin(limits, &solution->potentials);
  outcome_ = search_.outcome();
}

// Sets the flow to what is best at the potentials.  If these are zero and no
// cost is negative, that is no flow.
void IncrementalFlow::Start() {
  unbalanced_.clear();
  solution_->flows.resize(static_cast<size_t>(problem_->arc_count()));
  for (NodeIndex index = 0; index < problem_->node_count(); ++index) {
    AddExcess(index, problem_->supply(index));
  }
  for (ArcIndex arc = 0; arc < problem_->arc_count(); ++arc) {
    const FlowProblem::Arc& of = problem_->arc(arc);
    flow(arc) = BestFlow(arc, std::clamp(flow(arc), of.lower, of.capacity()));
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
  supplies_.clear();
  reservoir_ = AugmentingSearch::kNoNode;
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

// The cost of `flow` units over an arc whose cost follows from no half arc.  It
// is remembered; all other arcs get it in 128 bits.
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
  if (reservoir_ == AugmentingSearch::kNoNode ||
      Size(problem_->supply(candidate)) > Size(problem_->supply(reservoir_))) {
    reservoir_ = candidate;
  }
}

// True if all changes are surely valid by flow/validate.h.
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

// Returns false once the sum of supplies and capacities may exceed its limit.
bool IncrementalFlow::AddToTotal(FlowUnits amount) {
  // Written so that neither the negation nor the sum can overflow.
  if (amount < -kFlowTotalMax || amount > kFlowTotalMax) return false;
  size_total_ += Size(amount);
  return size_total_ <= kFlowTotalMax;
}

// Returns whether all supplies still add up to zero.
bool IncrementalFlow::ApplyToNodes(std::span<const FlowChange> log) {
  supplies_.resize(static_cast<size_t>(problem_->node_count()));
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

// Lists a changed arc as it is now, with its former flow if that is allowed.
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

// Moves the potential of a node with few half arcs to where none of them has a
// negative reduced cost, if there is such a value.
void IncrementalFlow::Fit(NodeIndex index) {
  if (network_.degree(index) > kFitDegreeMax) return;
  const FlowCost low = search_.LowestPotential(index);
  const FlowCost high = search_.HighestPotential(index);
  if (low > high) return;
  const FlowCost fitting = std::clamp(search_.potential(index), low, high);
  if (fitting != search_.potential(index)) search_.SetPotential(index, fitting);
}

// The flow nearest to `flow` that is best at the current potentials.
FlowUnits IncrementalFlow::BestFlow(ArcIndex arc, FlowUnits flow) const {
  const FlowProblem::Arc& of = problem_->arc(arc);
  const FlowCost price =
      search_.potential(of.head) - search_.potential(of.tail);
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
  if (search_.excess(index) == 0) unbalanced_.push_back(index);
  search_.AddExcess(index, amount);
}

void IncrementalFlow::Route() {
  ++work_.phases;
  std::ranges::sort(unbalanced_);
  const auto repeated = std::ranges::unique(unbalanced_);
  unbalanced_.erase(repeated.begin(), repeated.end());
  search_.SetEnds(unbalanced_, reservoir_);
  // Routing adds nodes to the list, none of which is a start.
  const size_t count = unbalanced_.size();
  for (const bool is_forward : {true, false}) {
    for (size_t i = 0; i < count; ++i) RouteFrom(unbalanced_[i], is_forward);
  }
  unbalanced_.clear();
}

// Sends the excess of `start` off, or fills its deficit.
void IncrementalFlow::RouteFrom(NodeIndex start, bool is_forward) {
  if (start == reservoir_) return;
  while (!outcome_.has_value() &&
         (is_forward ? search_.excess(start) > 0 : search_.excess(start) < 0)) {
    const auto path = search_.FindPath(start);
    outcome_ = search_.outcome();
    if (outcome_.has_value()) return;
    if (!path.has_value()) {
      outcome_ = SolveOutcome::kInfeasible;
      solution_->witness_cut = search_.FindCut();
      return;
    }
    Augment(*path);
  }
}

// Moves as many units as fit along the path.
void IncrementalFlow::Augment(const AugmentingSearch::Path& path) {
  ++work_.paths;
  FlowUnits amount = std::numeric_limits<FlowUnits>::max();
  for (const NodeIndex end : {path.source, path.target}) {
    if (end != reservoir_) amount = std::min(amount, Size(search_.excess(end)));
  }
  for (const HalfArcId id : path.half_arcs) {
    if (amount == 1) break;
    amount = std::min(amount, RoomOver(id));
  }
  for (const HalfArcId id : path.half_arcs) {
    const ArcIndex arc = DynamicResidualNetwork::ArcOf(id);
    const bool is_along = DynamicResidualNetwork::IsAlong(id);
    ChangeFlow(arc, flow(arc) + (is_along ? amount : -amount));
  }
  AddExcess(path.source, -amount);
  AddExcess(path.target, amount);
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

void IncrementalFlow::Finish() {
  if (!outcome_.has_value()) outcome_ = search_.outcome();
  if (!outcome_.has_value()) SetObjective();
  work_ += search_.work();
  solution_->work = work_;
  solution_->outcome = outcome_.value_or(SolveOutcome::kOptimal);
  has_optimum_ = !outcome_.has_value();
  switch (solution_->outcome) {
    case SolveOutcome::kOptimal:
      return;
    case SolveOutcome::kInfeasible:
      solution_->error = InfeasibleText(solution_->witness_cut);
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
  solution_->is_warm = false;
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
