#include "solver/warm_solver.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "base/int128.h"
#include "flow/validate.h"

namespace sluice {
namespace {

// In problems with at least twice as many arcs, repairing what prices got wrong
// took longer than solving from scratch.
constexpr ArcIndex kArcsMax = 2048;

// How many of four sources must be known.
constexpr int64_t kKnownOfFour = 3;

// Beyond this, all names are forgotten: most are of classes that no longer
// exist.
constexpr size_t kNamesMax = 100000;

// Networks of rounds have fewer levels.
constexpr int kLevelsMax = 8;

// No path costs more.
constexpr FlowCost kPriceMax = kScaledCostMax;

constexpr FlowCost kUnknown = std::numeric_limits<FlowCost>::max();

// Where most units of the sources end up.
NodeIndex LargestDemand(const FlowProblem& problem) {
  NodeIndex largest = 0;
  for (NodeIndex node = 1; node < problem.node_count(); ++node) {
    if (problem.supply(node) < problem.supply(largest)) largest = node;
  }
  return largest;
}

// Gives a potential to each node that has none but has an arc to a node with
// one: the lowest at which no arc out of the node pays.  If an arc into it
// would pay at that potential, it gets the highest at which none does, and arcs
// out of it will carry some flow.  Returns whether there were any.
bool SpreadPotentials(const FlowProblem& problem,
                      std::vector<FlowCost>* potentials) {
  std::vector<FlowCost> lowest(potentials->size(), kUnknown);
  std::vector<FlowCost> highest(potentials->size(), kUnknown);
  for (ArcIndex index = 0; index < problem.arc_count(); ++index) {
    const FlowProblem::Arc& arc = problem.arc(index);
    if (arc.capacity() == 0) continue;
    const auto tail = static_cast<size_t>(arc.tail);
    const auto head = static_cast<size_t>(arc.head);
    const FlowCost of_tail = (*potentials)[tail];
    const FlowCost of_head = (*potentials)[head];
    const FlowCost cost = problem.segments(index).front().cost;
    if (of_tail == kUnknown && of_head != kUnknown) {
      lowest[tail] = lowest[tail] == kUnknown
                         ? of_head - cost
                         : std::max(lowest[tail], of_head - cost);
    } else if (of_tail != kUnknown && of_head == kUnknown) {
      highest[head] = std::min(highest[head], of_tail + cost);
    }
  }
  bool has_found = false;
  for (size_t node = 0; node < potentials->size(); ++node) {
    if ((*potentials)[node] != kUnknown || lowest[node] == kUnknown) continue;
    (*potentials)[node] = std::min(lowest[node], highest[node]);
    has_found = true;
  }
  return has_found;
}

// The flow that is best at the potentials.  If more would be equally good, as
// much more as one arc can take on to the sink: nearly all ties at these prices
// find their place here, and need not be searched for one by one.
std::vector<FlowUnits> SpreadFlow(const FlowProblem& problem, NodeIndex sink,
                                  const std::vector<FlowCost>& potentials) {
  const auto arc_count = static_cast<size_t>(problem.arc_count());
  std::vector<FlowUnits> flows(arc_count);
  std::vector<FlowUnits> more(arc_count);  // What ties.
  std::vector<FlowUnits> excess(potentials.size());
  std::vector<FlowUnits> way_on(potentials.size());  // To the sink.
  for (NodeIndex node = 0; node < problem.node_count(); ++node) {
    excess[static_cast<size_t>(node)] = problem.supply(node);
  }
  const auto move = [&](size_t index, FlowUnits units) {
    const FlowProblem::Arc& arc = problem.arc(static_cast<ArcIndex>(index));
    flows[index] += units;
    excess[static_cast<size_t>(arc.tail)] -= units;
    excess[static_cast<size_t>(arc.head)] += units;
  };
  for (size_t index = 0; index < arc_count; ++index) {
    const FlowProblem::Arc& arc = problem.arc(static_cast<ArcIndex>(index));
    const FlowCost price = potentials[static_cast<size_t>(arc.head)] -
                           potentials[static_cast<size_t>(arc.tail)];
    FlowUnits best = 0;
    for (const auto& [width, cost] :
         problem.segments(static_cast<ArcIndex>(index))) {
      if (cost < price) best += width;
      if (cost == price) more[index] += width;
    }
    move(index, best);
    if (arc.head == sink) way_on[static_cast<size_t>(arc.tail)] += more[index];
  }
  for (const bool is_last : {false, true}) {
    for (size_t index = 0; index < arc_count; ++index) {
      const FlowProblem::Arc& arc = problem.arc(static_cast<ArcIndex>(index));
      if ((arc.head == sink) != is_last) continue;
      const auto head = static_cast<size_t>(arc.head);
      FlowUnits units =
          std::min(more[index], excess[static_cast<size_t>(arc.tail)]);
      if (!is_last) units = std::min(units, way_on[head] - excess[head]);
      if (units > 0) move(index, units);
    }
  }
  return flows;
}

}  // namespace

FlowSolution WarmSolver::Solve(const FlowProblem& problem,
                               const AllOrNoneLimits& limits) {
  FlowSolution solution =
      SolveWithAllOrNone(problem, solver_, limits, Recall(problem));
  if (solution.outcome == SolveOutcome::kOptimal) Remember(problem, solution);
  return solution;
}

// Initial potentials, if there are any.
std::optional<FlowSolution> WarmSolver::Recall(
    const FlowProblem& problem) const {
  if (prices_.empty() || problem.arc_count() > kArcsMax ||
      problem.node_count() > kArcsMax || !ValidateProblem(problem).ok()) {
    return std::nullopt;
  }
  FlowSolution start;
  start.potentials.resize(static_cast<size_t>(problem.node_count()), kUnknown);
  int64_t sources = 0;
  int64_t known = 0;
  for (NodeIndex node = 0; node < problem.node_count(); ++node) {
    if (problem.supply(node) <= 0) continue;
    ++sources;
    const auto it = prices_.find(problem.name(node));
    if (it == prices_.end()) continue;
    start.potentials[static_cast<size_t>(node)] = it->second;
    ++known;
  }
  if (known == 0 || 4 * known < kKnownOfFour * sources) return std::nullopt;
  const NodeIndex sink = LargestDemand(problem);
  start.potentials[static_cast<size_t>(sink)] = 0;
  for (int level = 0; level < kLevelsMax; ++level) {
    if (!SpreadPotentials(problem, &start.potentials)) break;
  }
  std::ranges::replace(start.potentials, kUnknown, 0);
  start.flows = SpreadFlow(problem, sink, start.potentials);
  return start;
}

void WarmSolver::Remember(const FlowProblem& problem,
                          const FlowSolution& solution) {
  // The solution has not been checked yet, and may be arbitrarily wrong.
  if (problem.node_count() == 0 ||
      std::ssize(solution.potentials) != problem.node_count()) {
    return;
  }
  if (prices_.size() >= kNamesMax) prices_.clear();
  const Int128 base =
      solution.potentials[static_cast<size_t>(LargestDemand(problem))];
  for (NodeIndex node = 0; node < problem.node_count(); ++node) {
    if (problem.supply(node) <= 0 || problem.name(node) == 0) continue;
    const Int128 price = solution.potentials[static_cast<size_t>(node)] - base;
    if (price < -kPriceMax || price > kPriceMax) continue;
    prices_[problem.name(node)] = static_cast<FlowCost>(price);
  }
}

}  // namespace sluice
