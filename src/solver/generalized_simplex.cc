// The generalized network simplex method with bounded, convex arcs.  The public
// header states the contract; gain_basis.h has the linear algebra.
//
// A convex arc is one column: outside the basis it rests on any of its
// breakpoints and may leave it in either direction, at the marginal cost of the
// segment there; in the basis it moves within one segment.
//
// Each node begins with an artificial self-loop in the basis, with a gain of 0
// (it swallows a surplus) or 2 (it supplies a deficit).

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "flow/validate.h"
#include "sluice/solver/generalized.h"
#include "solver/gain_basis.h"

namespace sluice {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The search comes closer to the optimum than the solution promises, so that
// rounding has room.
constexpr double kPricingTolerance = kGeneralizedTolerance / 4;

// Room up to a bound below this part of the flow's size counts as rounding.
constexpr double kSnap = 1e-12;

// The initial cost of artificial flow, in largest costs.  High enough to be
// avoided, low enough not to blur the other costs.
constexpr double kPenaltyFactor = 16;

// The minimum number of arcs that pricing looks at before it takes the best of
// them.
constexpr ArcIndex kPricingBlockMin = 32;

// After this many pivots in a row without progress, plus this many per node,
// Bland's rule takes over, which cannot cycle.  After a hundred times as many,
// rounding must be the cause.
constexpr int64_t kStallsMin = 1000;
constexpr int64_t kStallsPerNode = 4;
constexpr int64_t kBlandStallsFactor = 100;

// After this many pivots the flows of basic arcs are recomputed.
constexpr int64_t kPivotsPerRefresh = 5000;

// The number of arc scans between two checks of the limits.
constexpr int64_t kScansPerPoll = 4096;

// The limit that lets 32 bits number columns and segments.
constexpr int64_t kSizeMax = int64_t{1} << 30;

// Checks the limits of the solver.
absl::Status ValidateForDoubles(const FlowProblem& problem) {
  RETURN_IF_ERROR(ValidateProblem(problem));
  if (!problem.all_or_none().empty()) {
    return absl::InvalidArgumentError(
        StrCat("arc ", *problem.all_or_none().begin(),
               ": this algorithm does not support all-or-none arcs"));
  }
  const int64_t size = int64_t{1} * problem.node_count() + problem.arc_count() +
                       problem.segment_count();
  if (size > kSizeMax) {
    return absl::OutOfRangeError(
        StrCat("nodes, arcs and segments are ", size, ", beyond ", kSizeMax));
  }
  FlowUnits total = 0;
  for (NodeIndex node = 0; node < problem.node_count(); ++node) {
    total += std::abs(problem.supply(node));
  }
  for (ArcIndex arc = 0; arc < problem.arc_count(); ++arc) {
    total += problem.arc(arc).capacity();
    for (const CostSegment& segment : problem.segments(arc)) {
      if (std::abs(segment.cost) <= kGeneralizedCostMax) continue;
      return absl::OutOfRangeError(StrCat("arc ", arc, ": cost ", segment.cost,
                                          " is beyond ", kGeneralizedCostMax));
    }
  }
  if (total <= kGeneralizedFlowMax) return absl::OkStatus();
  return absl::OutOfRangeError(StrCat("supplies and capacities add up to ",
                                      total, ", beyond ", kGeneralizedFlowMax));
}

// The cost of `flow`.
double CostOf(std::span<const CostSegment> segments, double flow) {
  double cost = 0;
  double rest = flow;
  for (const CostSegment& segment : segments) {
    if (rest <= 0) break;
    const double units = std::min(rest, static_cast<double>(segment.width));
    cost += units * static_cast<double>(segment.cost);
    rest -= units;
  }
  return cost;
}

class GeneralizedSimplex {
 public:
  // REQUIRES: ValidateForDoubles().
  GeneralizedSimplex(const FlowProblem& problem, const SolveLimits& limits);

  GeneralizedSolution Run();

 private:
  enum class Phase {
    kPenalty,      // Artificial flow is expensive.
    kFeasibility,  // Artificial flow costs 1, all other nothing.
    kCost,         // Artificial arcs are closed.
  };
  // What pricing reads: the marginal costs of more and of less flow, infinite
  // if there is no room or the arc is basic.
  struct Column {
    NodeIndex tail = 0;
    NodeIndex head = 0;
    double gain = 1;
    double up = kInfinity;
    double down = -kInfinity;
  };
  // A segment ends where the next one begins.  The last one of an arc costs an
  // infinity and marks the capacity.
  struct Segment {
    double begin = 0;
    double cost = 0;
  };
  struct Position {
    int32_t segment = 0;  // Outside the basis: `flow` is where it begins.
    bool is_basic = false;
    double flow = 0;
  };
  struct Entering {
    ArcIndex arc = 0;
    int direction = 0;  // 1: up, -1: down, 0: no arc would lower the cost.
  };

  bool is_artificial(ArcIndex arc) const { return arc >= problem_.arc_count(); }
  Column& column(ArcIndex arc) { return columns_[static_cast<size_t>(arc)]; }
  Position& position(ArcIndex arc) {
    return positions_[static_cast<size_t>(arc)];
  }
  const Position& position(ArcIndex arc) const {
    return positions_[static_cast<size_t>(arc)];
  }
  const Segment& segment(int32_t index) const {
    return segments_[static_cast<size_t>(index)];
  }

  void AddColumn(ArcIndex arc);
  void AddArtificials();
  double CostIn(ArcIndex arc, int32_t segment) const;
  void Minimize(Phase phase);
  void Rest(ArcIndex arc, int32_t breakpoint);
  Entering Price();
  void Pivot(const Entering& entering);
  std::optional<size_t> FindLeaving(std::span<const GainBasis::Step> steps,
                                    int direction, double* length) const;
  double Room(ArcIndex basic_arc, double change) const;
  bool UsesBlandsRule() const { return stalls_ > stalls_max_; }
  std::vector<double> Imbalances(const std::vector<double>& flows) const;
  void Refresh();
  bool IsProvenInfeasible() const;
  std::optional<std::vector<double>> PromisedFlows() const;
  void PollLimits();
  void Stop(SolveOutcome outcome, std::string error);
  bool AcceptFlows();
  void CopyPotentials();

  const FlowProblem& problem_;
  const SolveLimits limits_;
  const int64_t stalls_max_;
  Phase phase_ = Phase::kPenalty;
  double cost_max_ = 1;   // Of any segment, in size; at least 1.
  double tolerance_ = 0;  // On reduced costs, in this phase.
  // By arc; the artificial ones of the nodes follow those of the problem.
  std::vector<Column> columns_;
  std::vector<Position> positions_;
  std::vector<int32_t> first_segments_;
  std::vector<Segment> segments_;
  std::optional<GainBasis> basis_;
  ArcIndex next_arc_ = 0;  // Where pricing goes on.
  int64_t stalls_ = 0;     // Pivots in a row without progress.
  int64_t next_poll_at_ = 0;
  int64_t next_refresh_at_ = kPivotsPerRefresh;
  bool is_stopped_ = false;  // The outcome is known.
  GeneralizedSolution solution_;
};

GeneralizedSimplex::GeneralizedSimplex(const FlowProblem& problem,
                                       const SolveLimits& limits)
    : problem_(problem),
      limits_(limits),
      stalls_max_(kStallsMin + kStallsPerNode * problem.node_count()) {
  for (ArcIndex arc = 0; arc < problem.arc_count(); ++arc) AddColumn(arc);
  for (const auto& [arc, gain] : problem.gains()) {
    column(arc).gain = static_cast<double>(gain.numerator) / gain.denominator;
  }
  AddArtificials();
}

// Begins at the lower bound.
void GeneralizedSimplex::AddColumn(ArcIndex index) {
  const FlowProblem::Arc& arc = problem_.arc(index);
  columns_.push_back({.tail = arc.tail, .head = arc.head});
  const auto first = static_cast<int32_t>(segments_.size());
  first_segments_.push_back(first);
  positions_.push_back(
      {.segment = first, .flow = static_cast<double>(arc.lower)});
  FlowUnits end = 0;
  for (const auto& [width, cost] : problem_.segments(index)) {
    const FlowUnits begin = std::max(end, arc.lower);
    end += width;
    if (begin >= end) continue;
    const auto slope = static_cast<double>(cost);
    cost_max_ = std::max(cost_max_, std::abs(slope));
    const bool is_new =
        std::ssize(segments_) == first || segments_.back().cost != slope;
    if (is_new) segments_.push_back({static_cast<double>(begin), slope});
  }
  segments_.push_back({static_cast<double>(end), kInfinity});
}

void GeneralizedSimplex::AddArtificials() {
  std::vector<double> flows;
  for (const Position& at : positions_) flows.push_back(at.flow);
  const std::vector<double> imbalances = Imbalances(flows);
  const double penalty = kPenaltyFactor * cost_max_;
  std::vector<BasisArc> loops;
  for (NodeIndex node = 0; node < problem_.node_count(); ++node) {
    const double imbalance = imbalances[static_cast<size_t>(node)];
    const double gain = imbalance < 0 ? 2 : 0;
    loops.push_back({.index = problem_.arc_count() + node,
                     .tail = node,
                     .head = node,
                     .gain = gain,
                     .cost = penalty});
    columns_.push_back({.tail = node, .head = node, .gain = gain});
    const auto first = static_cast<int32_t>(segments_.size());
    first_segments_.push_back(first);
    positions_.push_back({first, true, std::abs(imbalance)});
    segments_.push_back({0, penalty});
    segments_.push_back({kInfinity, kInfinity});
  }
  basis_.emplace(loops);
}

// Penalty first: it nearly always ends at an optimum without artificial flow,
// in far fewer pivots than the two classical phases.  These follow if it does
// not.
GeneralizedSolution GeneralizedSimplex::Run() {
  Minimize(Phase::kPenalty);
  if (!is_stopped_ && !AcceptFlows()) {
    Minimize(Phase::kFeasibility);
    if (!is_stopped_ && IsProvenInfeasible()) {
      Stop(SolveOutcome::kInfeasible,
           "the bounds and gains leave no way to balance all nodes");
      CopyPotentials();
    }
    if (!is_stopped_) Minimize(Phase::kCost);
    if (!is_stopped_ && !AcceptFlows()) {
      Stop(SolveOutcome::kCostRange,
           "the gains are too close to balance, or multiply too far, for "
           "64-bit floating point");
    }
  }
  return std::move(solution_);
}

double GeneralizedSimplex::CostIn(ArcIndex arc, int32_t index) const {
  const double cost = segment(index).cost;
  if (phase_ != Phase::kFeasibility || cost == kInfinity) return cost;
  return is_artificial(arc) ? 1 : 0;
}

void GeneralizedSimplex::Minimize(Phase phase) {
  ++solution_.work.phases;
  phase_ = phase;
  tolerance_ =
      kPricingTolerance * (phase == Phase::kFeasibility ? 1 : 1 + cost_max_);
  if (phase == Phase::kCost) {
    for (NodeIndex node = 0; node < problem_.node_count(); ++node) {
      const auto first = static_cast<size_t>(
          first_segments_[static_cast<size_t>(problem_.arc_count()) +
                          static_cast<size_t>(node)]);
      segments_[first].cost = 0;
      segments_[first + 1].begin = 0;
    }
  }
  for (ArcIndex arc = 0; arc < problem_.arc_count(); ++arc) {
    if (!position(arc).is_basic) Rest(arc, position(arc).segment);
  }
  for (NodeIndex node = 0; node < problem_.node_count(); ++node) {
    const ArcIndex arc = basis_->arc(node).index;
    basis_->SetCost(node, CostIn(arc, position(arc).segment));
  }
  basis_->ComputePotentials();
  PollLimits();
  while (!is_stopped_) {
    const Entering entering = Price();
    if (entering.direction == 0) break;
    Pivot(entering);
    if (solution_.work.arc_scans >= next_poll_at_) PollLimits();
    if (solution_.work.pivots >= next_refresh_at_) Refresh();
  }
  Refresh();
}

// Puts `arc` outside the basis.
void GeneralizedSimplex::Rest(ArcIndex arc, int32_t breakpoint) {
  position(arc) = {breakpoint, false, segment(breakpoint).begin};
  if (is_artificial(arc)) return;  // For good: its column stays closed.
  const bool is_first = breakpoint == first_segments_[static_cast<size_t>(arc)];
  column(arc).up = CostIn(arc, breakpoint);
  column(arc).down = is_first ? -kInfinity : CostIn(arc, breakpoint - 1);
}

// The arc of the most negative reduced cost in the next block that has one.
// By Bland's rule, the first arc of all that has one.
GeneralizedSimplex::Entering GeneralizedSimplex::Price() {
  const ArcIndex arc_count = problem_.arc_count();
  ArcIndex block =
      std::max(kPricingBlockMin,
               static_cast<ArcIndex>(std::sqrt(double{1} * arc_count)));
  if (UsesBlandsRule()) {
    next_arc_ = 0;
    block = 1;
  }
  Entering entering;
  double worst = tolerance_;
  ArcIndex left_in_block = block;
  for (ArcIndex scanned = 0; scanned < arc_count; ++scanned) {
    ++solution_.work.arc_scans;
    const Column& at = columns_[static_cast<size_t>(next_arc_)];
    const double drop =
        basis_->potential(at.tail) - at.gain * basis_->potential(at.head);
    if (-drop - at.up > worst) {
      worst = -drop - at.up;
      entering = {next_arc_, 1};
    } else if (drop + at.down > worst) {
      worst = drop + at.down;
      entering = {next_arc_, -1};
    }
    next_arc_ = next_arc_ + 1 == arc_count ? 0 : next_arc_ + 1;
    if (--left_in_block > 0) continue;
    if (entering.direction != 0) break;
    left_in_block = block;
  }
  return entering;
}

void GeneralizedSimplex::Pivot(const Entering& entering) {
  const auto [arc, direction] = entering;
  const int32_t breakpoint = position(arc).segment;
  const int32_t within = direction > 0 ? breakpoint : breakpoint - 1;
  const Column& in = column(arc);
  const BasisArc basis_arc = {arc, in.tail, in.head, in.gain,
                              CostIn(arc, within)};
  const std::span<const GainBasis::Step> steps = basis_->Represent(basis_arc);
  double length = segment(within + 1).begin - segment(within).begin;
  const std::optional<size_t> leaving = FindLeaving(steps, direction, &length);
  for (const auto& [node, rate] : steps) {
    position(basis_->arc(node).index).flow -= direction * rate * length;
  }
  ++solution_.work.pivots;
  solution_.work.arc_scans += std::ssize(steps);
  stalls_ = length > 0 ? 0 : stalls_ + 1;
  if (!leaving.has_value()) {
    Rest(arc, breakpoint + direction);
    return;
  }
  const auto [node, rate] = steps[*leaving];
  const ArcIndex out = basis_->arc(node).index;
  const bool has_risen = direction * rate < 0;
  Rest(out, position(out).segment + (has_risen ? 1 : 0));
  position(arc) = {within, true, position(arc).flow + direction * length};
  column(arc).up = kInfinity;
  column(arc).down = -kInfinity;
  solution_.work.arc_scans += basis_->Exchange(*leaving, basis_arc);
  if (stalls_ > kBlandStallsFactor * stalls_max_) {
    Stop(SolveOutcome::kCostRange, "rounding keeps the solver from an optimum");
  }
}

// The step whose arc reaches an end of its segment first, within `*length`,
// which is then set to how far the entering arc gets.
std::optional<size_t> GeneralizedSimplex::FindLeaving(
    std::span<const GainBasis::Step> steps, int direction,
    double* length) const {
  std::optional<size_t> leaving;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].rate == 0) continue;
    const ArcIndex arc = basis_->arc(steps[i].node).index;
    const double change = -direction * steps[i].rate;
    const double ratio = Room(arc, change) / std::abs(change);
    if (ratio > *length) continue;
    if (ratio == *length) {
      // The entering arc itself may stay outside the basis; among others, the
      // largest rate keeps the basis sound.
      if (!leaving.has_value()) continue;
      const GainBasis::Step& best = steps[*leaving];
      const ArcIndex best_arc = basis_->arc(best.node).index;
      const double rates = std::abs(change) - std::abs(best.rate);
      const bool is_better =
          UsesBlandsRule() || rates == 0 ? arc < best_arc : rates > 0;
      if (!is_better) continue;
    }
    *length = ratio;
    leaving = i;
  }
  return leaving;
}

// How much the flow of a basic arc may move in the direction of `change`
// within its segment.
double GeneralizedSimplex::Room(ArcIndex basic_arc, double change) const {
  const Position& at = position(basic_arc);
  const double bound = segment(at.segment + (change > 0 ? 1 : 0)).begin;
  const double room = change > 0 ? bound - at.flow : at.flow - bound;
  return room <= kSnap * (1 + std::abs(at.flow)) ? 0 : room;
}

// By node: supply plus inflow less outflow; `flows` by arc.
std::vector<double> GeneralizedSimplex::Imbalances(
    const std::vector<double>& flows) const {
  std::vector<double> imbalances;
  for (NodeIndex node = 0; node < problem_.node_count(); ++node) {
    imbalances.push_back(static_cast<double>(problem_.supply(node)));
  }
  for (size_t i = 0; i < static_cast<size_t>(problem_.arc_count()); ++i) {
    const Column& at = columns_[i];
    imbalances[static_cast<size_t>(at.tail)] -= flows[i];
    imbalances[static_cast<size_t>(at.head)] += at.gain * flows[i];
  }
  return imbalances;
}

// Computes the flows of the basic arcs from those of the others.
void GeneralizedSimplex::Refresh() {
  next_refresh_at_ = solution_.work.pivots + kPivotsPerRefresh;
  std::vector<double> resting;
  for (const Position& at : positions_) {
    resting.push_back(at.is_basic ? 0 : at.flow);
  }
  const std::vector<double> flows = basis_->Flows(Imbalances(resting));
  for (NodeIndex node = 0; node < problem_.node_count(); ++node) {
    position(basis_->arc(node).index).flow = flows[static_cast<size_t>(node)];
  }
  solution_.work.arc_scans += problem_.arc_count();
}

// True if the potentials are the proof that the header describes, beyond doubts
// of rounding.
bool GeneralizedSimplex::IsProvenInfeasible() const {
  double margin = 0;
  double size = 0;
  const auto add = [&margin, &size](double term) {
    margin += term;
    size += std::abs(term);
  };
  for (NodeIndex node = 0; node < problem_.node_count(); ++node) {
    add(-static_cast<double>(problem_.supply(node)) * basis_->potential(node));
  }
  for (ArcIndex index = 0; index < problem_.arc_count(); ++index) {
    const FlowProblem::Arc& arc = problem_.arc(index);
    const Column& at = columns_[static_cast<size_t>(index)];
    const double drop =
        basis_->potential(at.tail) - at.gain * basis_->potential(at.head);
    add(drop * static_cast<double>(drop > 0 ? arc.lower : arc.capacity()));
  }
  return margin > kGeneralizedTolerance * size;
}

// The flows by arc, or none if they would break a guarantee of the header: some
// artificial flow is left, or rounding has grown too much.  Comparisons are
// written so that a NaN fails them, too.
std::optional<std::vector<double>> GeneralizedSimplex::PromisedFlows() const {
  std::vector<double> flows;
  std::vector<double> largest;  // Amount at each node.
  for (NodeIndex node = 0; node < problem_.node_count(); ++node) {
    largest.push_back(std::abs(static_cast<double>(problem_.supply(node))));
  }
  for (ArcIndex arc = 0; arc < problem_.arc_count(); ++arc) {
    const Column& at = columns_[static_cast<size_t>(arc)];
    const auto& [index, is_basic, flow] = position(arc);
    double kept = flow;
    if (is_basic) {
      // Not std::clamp(), which would keep a -0.
      kept = std::min(std::max(segment(index).begin, flow),
                      segment(index + 1).begin);
      const double at_tail = basis_->potential(at.tail);
      const double at_head = at.gain * basis_->potential(at.head);
      const double allowed =
          kGeneralizedTolerance * cost_max_ +
          kGeneralizedRounding * (std::abs(at_tail) + std::abs(at_head));
      if (!(std::abs(kept - flow) <= kGeneralizedTolerance * (1 + kept)) ||
          !(std::abs(segment(index).cost + (at_tail - at_head)) <= allowed)) {
        return std::nullopt;
      }
    }
    flows.push_back(kept);
    double& leaves = largest[static_cast<size_t>(at.tail)];
    double& arrives = largest[static_cast<size_t>(at.head)];
    leaves = std::max(leaves, kept);
    arrives = std::max(arrives, at.gain * kept);
  }
  const std::vector<double> imbalances = Imbalances(flows);
  for (size_t i = 0; i < imbalances.size(); ++i) {
    const double allowed = kGeneralizedTolerance * (1 + largest[i]);
    if (!(std::abs(imbalances[i]) <= allowed / 2)) return std::nullopt;
  }
  return flows;
}

// Ends the search with the current flows, if they meet the guarantees.
bool GeneralizedSimplex::AcceptFlows() {
  std::optional<std::vector<double>> flows = PromisedFlows();
  if (!flows.has_value()) return false;
  solution_.outcome = SolveOutcome::kOptimal;
  solution_.flows = *std::move(flows);
  for (ArcIndex arc = 0; arc < problem_.arc_count(); ++arc) {
    solution_.objective += CostOf(problem_.segments(arc),
                                  solution_.flows[static_cast<size_t>(arc)]);
  }
  CopyPotentials();
  return true;
}

void GeneralizedSimplex::CopyPotentials() {
  for (NodeIndex node = 0; node < problem_.node_count(); ++node) {
    solution_.potentials.push_back(basis_->potential(node));
  }
}

void GeneralizedSimplex::PollLimits() {
  next_poll_at_ = solution_.work.arc_scans + kScansPerPoll;
  SolveOutcome outcome = SolveOutcome::kBudgetSpent;
  if (limits_.cancelled != nullptr &&
      limits_.cancelled->load(std::memory_order_relaxed)) {
    outcome = SolveOutcome::kCancelled;
  } else if (limits_.work_max == 0 ||
             solution_.work.arc_scans < limits_.work_max) {
    return;
  }
  Stop(outcome, SolveOutcomeName(outcome));
}

void GeneralizedSimplex::Stop(SolveOutcome outcome, std::string error) {
  is_stopped_ = true;
  solution_.outcome = outcome;
  solution_.error = std::move(error);
}

}  // namespace

GeneralizedSolution GeneralizedSolver::Solve(const FlowProblem& problem,
                                             const SolveLimits& limits) {
  const absl::Status status = ValidateForDoubles(problem);
  if (status.ok()) return GeneralizedSimplex(problem, limits).Run();
  GeneralizedSolution solution;
  solution.outcome = absl::IsOutOfRange(status) ? SolveOutcome::kCostRange
                                                : SolveOutcome::kInvalidProblem;
  solution.error = Message(status);
  return solution;
}

}  // namespace sluice
