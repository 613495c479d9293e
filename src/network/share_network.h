// A packing problem measured in one of its resources, as a flow with gains: a
// bound that takes little time for any number of classes and groups of
// machines.
//
//   class c --cost, as many as fit; gain its request--> kind k --its room--.
//     '-----------waiting cost, gain waiting cost-----> level l --held-----+>
//     sink
//
// A unit is a task up to the end of its arc.  From there on it is an amount of
// the resource, which machines of a kind offer together, or an amount of
// waiting cost of a level.  The sink loses all of it, on a loop of gain 1/2.
// What other resources, gangs and terms between tasks forbid is not drawn, and
// a machine may hold a fraction of a task.  So the minimum cost of the flow is
// a lower bound for every packing.  Amounts and costs are divided by a common
// divisor, or by more if a gain would be too large, and then rounded down.
//
// Bounds are proved in integers from the solver's prices (solver/dual_bound.h),
// so no rounding of a solver makes one too large.
//
// Threads: values.
//
// Source: docs/decisions/0037-gains.md says what this is useful for and what
// not.

#ifndef SLUICE_NETWORK_SHARE_NETWORK_H_
#define SLUICE_NETWORK_SHARE_NETWORK_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "network/node_meaning.h"
#include "packing/packing_problem.h"
#include "sluice/flow/problem.h"
#include "sluice/solver/generalized.h"

namespace sluice {

// The resources that machines run out of, by dimension: those with the highest
// demand relative to the supply first.
std::vector<size_t> FindScarce(const PackingProblem& problem);

class ShareNetwork {
 public:
  // Measured in the resource of the dimension.  `problem` must outlive this.
  ShareNetwork(const PackingProblem& problem, size_t dimension);

  // Sets the objective: the minimum waiting cost of the next level if the
  // levels above leave at most `held`; or, if that covers every level, the
  // minimum cost of placements.
  void AimAt(std::span<const int64_t> held);

  const FlowProblem& problem() const { return problem_; }
  // The bound of the objective; 0 if the solution has no prices.
  int64_t BoundOf(const GeneralizedSolution& solution) const;
  // By node.  `machines`: those of each group of the problem.
  std::vector<NodeMeaning> Meanings(
      std::span<const std::vector<MachineId>> machines) const;

 private:
  struct PlaceArc {
    ArcIndex arc = 0;
    FlowCost cost = 0;  // In units of cost_unit_.
  };
  struct WaitArc {
    ArcIndex arc = 0;
    size_t level = 0;
    FlowCost cost = 0;  // In units of waiting_unit_.
  };

  void AddKinds(size_t dimension);
  void AddLevels();
  void AddClasses(size_t dimension);

  const PackingProblem& packing_;
  FlowProblem problem_;
  int64_t amount_unit_ = 1;
  int64_t waiting_unit_ = 1;
  int64_t cost_unit_ = 1;
  int64_t unit_ = 1;  // Of the objective.
  NodeIndex sink_ = 0;
  std::vector<NodeIndex> kinds_;   // By kind.
  std::vector<NodeIndex> levels_;  // By level.
  std::vector<ArcIndex> held_;     // By level, from there to the sink.
  std::vector<int64_t> most_;      // By level, in units of waiting_unit_.
  std::vector<PlaceArc> place_arcs_;
  std::vector<WaitArc> wait_arcs_;
};

}  // namespace sluice

#endif  // SLUICE_NETWORK_SHARE_NETWORK_H_
