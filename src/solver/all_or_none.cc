#include "solver/all_or_none.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "base/strings.h"
#include "solver/verify.h"

namespace sluice {
namespace {

enum class Choice : int8_t { kOpen, kNone, kAll };

// A flow this close to an end, as a part of the capacity, counts as at it.
// Well below the tolerance of its nodes.
constexpr double kSnap = kGeneralizedTolerance / 16;

void Fix(const FlowProblem& problem, ArcIndex arc, Choice choice,
         FlowProblem* relaxed) {
  switch (choice) {
    case Choice::kOpen:
      relaxed->SetConvexArc(arc, problem.segments(arc), problem.arc(arc).lower);
      return;
    case Choice::kNone:
      relaxed->SetConvexArc(arc, {}, 0);
      return;
    case Choice::kAll:
      relaxed->SetConvexArc(arc, problem.segments(arc),
                            problem.arc(arc).capacity());
      return;
  }
}

template <class Units>
FlowProblem FixTo(const FlowProblem& problem, const std::vector<Units>& flows) {
  FlowProblem fixed = problem;
  for (const ArcIndex arc : problem.all_or_none()) {
    const bool is_all = flows[static_cast<size_t>(arc)] > 0;
    Fix(problem, arc, is_all ? Choice::kAll : Choice::kNone, &fixed);
    fixed.SetAllOrNone(arc, false);
  }
  return fixed;
}

// The differences between integral and real flows.
class PureRelaxation {
 public:
  using Solution = FlowSolution;

  PureRelaxation(Solver& solver, std::optional<FlowSolution> start)
      : solver_(solver), start_(std::move(start)) {}

  void Solve(const FlowProblem& problem, const SolveLimits& limits,
             FlowSolution* solution) {
    if (is_warm_.has_value()) {
      solver_.Resolve(problem, limits, solution);
    } else if (start_.has_value()) {
      *solution = *std::exchange(start_, std::nullopt);
      solver_.SolveFrom(problem, limits, solution);
    } else {
      *solution = solver_.Solve(problem, limits);
    }
    if (!is_warm_.has_value()) is_warm_ = solution->is_warm;
    solution->is_warm = *is_warm_;
  }
  // The nearest end of [0, capacity], if `flow` counts as being there.
  static std::optional<FlowUnits> End(FlowUnits flow, FlowUnits capacity) {
    if (flow > 0 && flow < capacity) return std::nullopt;
    return flow;
  }
  static bool IsBelow(FlowCost bound, FlowCost objective) {
    return bound < objective;
  }

 private:
  Solver& solver_;
  std::optional<FlowSolution> start_;
  std::optional<bool> is_warm_;  // How the first was found counts for all.
};

class GeneralizedRelaxation {
 public:
  using Solution = GeneralizedSolution;

  explicit GeneralizedRelaxation(GeneralizedSolver& solver) : solver_(solver) {}

  void Solve(const FlowProblem& problem, const SolveLimits& limits,
             GeneralizedSolution* solution) {
    *solution = solver_.Solve(problem, limits);
  }
  static std::optional<double> End(double flow, FlowUnits capacity) {
    const auto all = static_cast<double>(capacity);
    if (flow <= kSnap * all) return 0;
    if (flow >= all - kSnap * all) return all;
    return std::nullopt;
  }
  static bool IsBelow(double bound, double objective) {
    return bound <
           objective - kGeneralizedTolerance * (1 + std::abs(objective));
  }

 private:
  GeneralizedSolver& solver_;
};

template <class Relaxation>
class BranchAndBound {
 public:
  using Solution = typename Relaxation::Solution;
  using Cost = decltype(Solution::objective);

  BranchAndBound(const FlowProblem& problem, Relaxation relaxation,
                 const AllOrNoneLimits& limits)
      : problem_(problem),
        limits_(limits),
        relaxation_(std::move(relaxation)),
        relaxed_(problem),
        arcs_(problem.all_or_none().begin(), problem.all_or_none().end()),
        choices_(arcs_.size(), Choice::kOpen) {
    for (const ArcIndex arc : arcs_) relaxed_.SetAllOrNone(arc, false);
    relaxed_.StartLog();
  }

  AllOrNoneResult<Solution> Run();

 private:
  // A node of the search tree: its parent's choices and one more.
  struct Node {
    int64_t parent = -1;
    size_t slot = 0;  // In arcs_.
    Choice choice = Choice::kOpen;
    int64_t depth = 0;
    Cost bound = 0;  // What the parent's relaxation costs.
  };
  // Lowest bound first, then the deepest, then the earliest.
  using OpenNode = std::tuple<Cost, int64_t, int64_t>;

  OpenNode OpenNodeOf(int64_t id) const {
    const Node& node = nodes_[static_cast<size_t>(id)];
    return {node.bound, -node.depth, id};
  }
  void Open(const Node& node);
  int64_t ChooseNext();
  void MoveTo(int64_t id);
  bool Relax();
  std::optional<size_t> FindBranch() const;
  void Branch(int64_t id, size_t slot);
  void Accept();
  void Finish();

  const FlowProblem& problem_;
  const AllOrNoneLimits limits_;
  Relaxation relaxation_;
  FlowProblem relaxed_;
  const std::vector<ArcIndex> arcs_;
  std::vector<Choice> choices_;  // By slot: what relaxed_ is at.
  std::vector<Node> nodes_;
  absl::btree_set<OpenNode> open_;
  // The open nodes in the order in which they were made; once there is a flow,
  // those of the last Branch().
  std::vector<int64_t> newest_;
  bool has_branched_ = false;  // At the last node.
  Solution last_;              // Of relaxed_.
  std::optional<SolveOutcome> stopped_by_;
  AllOrNoneResult<Solution> result_;
};

template <class Relaxation>
AllOrNoneResult<typename Relaxation::Solution>
BranchAndBound<Relaxation>::Run() {
  Open({});
  while (!open_.empty()) {
    const int64_t id = ChooseNext();
    has_branched_ = false;
    if (result_.has_flow() &&
        !Relaxation::IsBelow(nodes_[static_cast<size_t>(id)].bound,
                             result_.solution.objective)) {
      break;  // Nor is any other.
    }
    MoveTo(id);
    if (!Relax()) break;  // The node stays open.
    open_.erase(OpenNodeOf(id));
    if (last_.outcome == SolveOutcome::kInfeasible ||
        (result_.has_flow() &&
         !Relaxation::IsBelow(last_.objective, result_.solution.objective))) {
      continue;
    }
    const std::optional<size_t> slot = FindBranch();
    if (slot.has_value()) {
      Branch(id, *slot);
    } else {
      Accept();
    }
  }
  Finish();
  return std::move(result_);
}

template <class Relaxation>
void BranchAndBound<Relaxation>::Open(const Node& node) {
  const auto id = static_cast<int64_t>(nodes_.size());
  nodes_.push_back(node);
  open_.insert(OpenNodeOf(id));
  newest_.push_back(id);
}

// Goes down as long as possible.  Then back to the newest node until there is a
// flow, and from then on to the one with the lowest bound.
template <class Relaxation>
int64_t BranchAndBound<Relaxation>::ChooseNext() {
  if (result_.has_flow() && !has_branched_) {
    return std::get<2>(*open_.begin());
  }
  const int64_t id = newest_.back();
  newest_.pop_back();
  if (result_.has_flow()) newest_.clear();
  return id;
}

template <class Relaxation>
void BranchAndBound<Relaxation>::MoveTo(int64_t id) {
  std::vector<Choice> wanted(arcs_.size(), Choice::kOpen);
  for (size_t slot = 0; slot < arcs_.size(); ++slot) {
    // An arc that must carry something carries all.  Contradictory bounds stay;
    // the solver rejects them.
    const FlowProblem::Arc& arc = problem_.arc(arcs_[slot]);
    if (arc.lower > 0 && arc.lower < arc.capacity()) {
      wanted[slot] = Choice::kAll;
    }
  }
  for (int64_t i = id; i > 0; i = nodes_[static_cast<size_t>(i)].parent) {
    const Node& node = nodes_[static_cast<size_t>(i)];
    wanted[node.slot] = node.choice;
  }
  for (size_t slot = 0; slot < arcs_.size(); ++slot) {
    if (wanted[slot] == choices_[slot]) continue;
    Fix(problem_, arcs_[slot], wanted[slot], &relaxed_);
  }
  choices_ = std::move(wanted);
}

// Solves relaxed_.  Returns false, with the reason, if the search must end.
template <class Relaxation>
bool BranchAndBound<Relaxation>::Relax() {
  SolveLimits limits = limits_.solve;
  if (limits.work_max > 0) limits.work_max -= result_.work.arc_scans;
  const bool is_search_spent =
      result_.node_count > 0 && limits_.search_work_max > 0 &&
      result_.work.arc_scans >= limits_.search_work_max;
  if (is_search_spent || (limits_.solve.work_max > 0 && limits.work_max <= 0) ||
      (limits_.nodes_max > 0 && result_.node_count >= limits_.nodes_max)) {
    stopped_by_ = SolveOutcome::kBudgetSpent;
    return false;
  }
  relaxation_.Solve(relaxed_, limits, &last_);
  relaxed_.StartLog();
  ++result_.node_count;
  result_.work += last_.work;
  const bool is_optimal = last_.outcome == SolveOutcome::kOptimal;
  if (!is_optimal && result_.node_count == 1) result_.solution = last_;
  if (is_optimal || last_.outcome == SolveOutcome::kInfeasible) return true;
  stopped_by_ = last_.outcome;
  return false;
}

// The slot of the arc to branch on, or none if all are at an end.  On the way
// to a first flow, the arc that lacks least goes first, which disturbs the
// others least.  Later the one farthest from both ends does, which raises
// bounds most.
template <class Relaxation>
std::optional<size_t> BranchAndBound<Relaxation>::FindBranch() const {
  std::optional<size_t> best;
  double best_score = 0;
  for (size_t slot = 0; slot < arcs_.size(); ++slot) {
    const auto flow = last_.flows[static_cast<size_t>(arcs_[slot])];
    const FlowUnits capacity = problem_.arc(arcs_[slot]).capacity();
    if (Relaxation::End(flow, capacity).has_value()) continue;
    const double part =
        static_cast<double>(flow) / static_cast<double>(capacity);
    const double score = result_.has_flow() ? std::min(part, 1 - part) : part;
    if (best.has_value() && score <= best_score) continue;
    best = slot;
    best_score = score;
  }
  return best;
}

template <class Relaxation>
void BranchAndBound<Relaxation>::Branch(int64_t id, size_t slot) {
  const ArcIndex arc = arcs_[slot];
  const auto flow = static_cast<double>(last_.flows[static_cast<size_t>(arc)]);
  const auto capacity = static_cast<double>(problem_.arc(arc).capacity());
  Node child = {.parent = id,
                .slot = slot,
                .choice = Choice::kAll,
                .depth = nodes_[static_cast<size_t>(id)].depth + 1,
                .bound = last_.objective};
  Node other = child;
  other.choice = Choice::kNone;
  if (2 * flow >= capacity) std::swap(child, other);
  Open(child);
  Open(other);  // The newest: where the flow leans to.
  has_branched_ = true;
}

template <class Relaxation>
void BranchAndBound<Relaxation>::Accept() {
  result_.solution = last_;
  for (const ArcIndex arc : arcs_) {
    auto& flow = result_.solution.flows[static_cast<size_t>(arc)];
    flow = *Relaxation::End(flow, problem_.arc(arc).capacity());
  }
}

template <class Relaxation>
void BranchAndBound<Relaxation>::Finish() {
  result_.has_bound =
      result_.has_flow() || (!open_.empty() && nodes_.size() > 1);
  if (result_.has_flow()) result_.bound = result_.solution.objective;
  if (result_.has_bound && !open_.empty()) {
    const Cost open_bound = std::get<0>(*open_.begin());
    result_.bound =
        result_.has_flow() ? std::min(result_.bound, open_bound) : open_bound;
  }
  if (stopped_by_.has_value()) {
    result_.outcome = *stopped_by_;
    result_.error = last_.outcome == result_.outcome
                        ? last_.error
                        : SolveOutcomeName(result_.outcome);
  } else if (result_.has_flow()) {
    result_.outcome = SolveOutcome::kOptimal;
  } else {
    result_.outcome = SolveOutcome::kInfeasible;
    result_.error = result_.node_count == 1
                        ? last_.error
                        : StrCat("no choice of the ", arcs_.size(),
                                 " all-or-none arcs has a flow");
  }
  if (!result_.has_flow()) result_.solution.outcome = result_.outcome;
}

}  // namespace

AllOrNoneResult<FlowSolution> SolveAllOrNone(const FlowProblem& problem,
                                             Solver& solver,
                                             const AllOrNoneLimits& limits) {
  return BranchAndBound(problem, PureRelaxation(solver, {}), limits).Run();
}

AllOrNoneResult<GeneralizedSolution> SolveAllOrNone(
    const FlowProblem& problem, GeneralizedSolver& solver,
    const AllOrNoneLimits& limits) {
  return BranchAndBound(problem, GeneralizedRelaxation(solver), limits).Run();
}

FlowProblem FixAllOrNone(const FlowProblem& problem,
                         const std::vector<FlowUnits>& flows) {
  return FixTo(problem, flows);
}

FlowProblem FixAllOrNone(const FlowProblem& problem,
                         const std::vector<double>& flows) {
  return FixTo(problem, flows);
}

FlowSolution SolveWithAllOrNone(const FlowProblem& problem, Solver& solver,
                                const AllOrNoneLimits& limits,
                                std::optional<FlowSolution> start) {
  PureRelaxation relaxation(solver, std::move(start));
  if (problem.all_or_none().empty()) {
    FlowSolution solution;
    relaxation.Solve(problem, limits.solve, &solution);
    return solution;
  }
  AllOrNoneResult<FlowSolution> result =
      BranchAndBound(problem, std::move(relaxation), limits).Run();
  if (!result.has_flow() && result.outcome == SolveOutcome::kBudgetSpent) {
    // In a round: no gang starts, but everything else is placed.
    const std::vector<FlowUnits> none(static_cast<size_t>(problem.arc_count()),
                                      0);
    FlowSolution closed = solver.Solve(FixAllOrNone(problem, none),
                                       {.cancelled = limits.solve.cancelled});
    if (closed.outcome == SolveOutcome::kOptimal) return closed;
  }
  if (!result.has_flow()) {
    result.solution.outcome = result.outcome;
    result.solution.error = result.error;
  }
  return std::move(result.solution);
}

absl::Status VerifyWithAllOrNone(const FlowProblem& problem,
                                 const FlowSolution& solution) {
  // If flows are missing there is nothing to fix; the verifier reports that.
  if (problem.all_or_none().empty() ||
      std::ssize(solution.flows) != problem.arc_count()) {
    return VerifySolution(problem, solution);
  }
  for (const ArcIndex arc : problem.all_or_none()) {
    const FlowUnits flow = solution.flows[static_cast<size_t>(arc)];
    if (flow != 0 && flow != problem.arc(arc).capacity()) {
      return absl::InternalError(StrCat("arc ", arc, " carries ", flow,
                                        ", which is neither nothing nor all"));
    }
  }
  return VerifySolution(FixAllOrNone(problem, solution.flows), solution);
}

}  // namespace sluice
