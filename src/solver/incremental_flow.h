// Keeps a min-cost flow optimal while its problem changes, by successive
// shortest paths (Ahuja, Magnanti, Orlin 1993, ch. 9.7 and 9.8;
// docs/solver.md).
//
// The flow and the potentials of the last optimum stay.  A change sets the flow
// of its arc to what is best at the current potentials.  That leaves nodes with
// an excess or a deficit, but no half arc of negative reduced cost.  Then each
// excess is sent to the nearest deficit, and each remaining deficit is filled
// from the nearest excess, along shortest paths by reduced cost
// (solver/augmenting_search.h), which preserves that.  An update costs what it
// touches: only Adopt() and Solve() take time in proportion to the problem.
//
// The node of the largest supply or demand (usually the sink) is the
// *reservoir*: it takes any excess and fills any deficit, and is balanced in
// the end because all supplies add up to zero.  So no search crosses it,
// although it may have as many arcs as there are tasks.
//
// Exact: potentials are integers that fit 62 bits, or the outcome is
// kCostRange.  Deterministic.
//
// Threads: none; confined to its owner.

#ifndef SLUICE_SOLVER_INCREMENTAL_FLOW_H_
#define SLUICE_SOLVER_INCREMENTAL_FLOW_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/int128.h"
#include "sluice/flow/problem.h"
#include "sluice/solver/solver.h"
#include "solver/augmenting_search.h"
#include "solver/dynamic_residual_network.h"

namespace sluice {

class IncrementalFlow {
 public:
  using Thresholds = AugmentingSearch::Thresholds;

  explicit IncrementalFlow(const Thresholds& thresholds = {})
      : search_(thresholds, &network_) {}

  // Solves from scratch: from no flow at all.
  FlowSolution Solve(const FlowProblem& problem, const SolveLimits& limits);

  // As Solver::SolveFrom(), but also kCostRange if the initial potentials are
  // to blame.
  void SolveFrom(const FlowProblem& problem, const SolveLimits& limits,
                 FlowSolution* solution);

  // Takes over what another solver found for `problem`, in time linear in the
  // problem; memory is reused.  Potentials may move to equally good values that
  // make searches shorter.  REQUIRES: VerifySolution() would accept it.
  void Adopt(const FlowProblem& problem, FlowSolution* solution);

  // True if Resolve() has a solution to start from.
  bool has_optimum() const { return has_optimum_; }

  // As Solver::Resolve().  If the outcome is no optimum, the next call solves
  // from scratch, unless Adopt() comes first.
  void Resolve(const FlowProblem& problem, const SolveLimits& limits,
               FlowSolution* solution);

 private:
  using HalfArc = DynamicResidualNetwork::HalfArc;
  using HalfArcId = DynamicResidualNetwork::HalfArcId;
  FlowUnits& flow(ArcIndex arc) {
    return solution_->flows[static_cast<size_t>(arc)];
  }

  void Begin(const FlowProblem& problem, const SolveLimits& limits,
             FlowSolution* solution);
  void Start();
  void Build(const FlowSolution& solution);
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

  void Route();
  void RouteFrom(NodeIndex start, bool is_forward);
  void Augment(const AugmentingSearch::Path& path);
  FlowUnits RoomOver(HalfArcId id);
  void Finish();
  void SetObjective();

  // State of the current call.
  const FlowProblem* problem_ = nullptr;
  FlowSolution* solution_ = nullptr;
  std::optional<SolveOutcome> outcome_;  // Set once it ends before the optimum.
  SolveWork work_;

  // State of the last optimum, if there is one.
  bool has_optimum_ = false;
  DynamicResidualNetwork network_;
  AugmentingSearch search_;  // And who has an excess.
  std::vector<FlowUnits> supplies_;
  // By arc: the cost of its flow, if that does not follow from its half arcs
  // (convex arcs and self-loops).  Empty if there are none.
  std::vector<FlowCost> costs_;
  bool is_objective_known_ = false;
  Int128 objective_ = 0;
  // Upper bounds, to tell without looking at everything that a changed problem
  // is within the limits of flow/validate.h.
  FlowUnits size_total_ = 0;
  FlowCost cost_max_ = 0;
  NodeIndex reservoir_ = AugmentingSearch::kNoNode;

  // May have an excess or deficit.
  std::vector<NodeIndex> unbalanced_;
};

}  // namespace sluice

#endif  // SLUICE_SOLVER_INCREMENTAL_FLOW_H_
