// A packing problem measured in one of its resources, as a flow with gains: a
// bound of the problem that takes little time however many classes and groups
// of machines it has.
//
//   class c --cost, as many as fit; gain its request--> kind k --its room--.
//     '-----------waiting cost, gain waiting cost-----> level l --held-----+>
//     sink
//
// A unit is a task up to its arc's end, and from there on so much of the
// resource, which machines of a kind have together, or so much waiting cost of
// a level.  The sink loses all of it, on a loop of gain 1/2.  What the other
// resources, gangs and terms between tasks forbid is not drawn, and a machine
// may hold a part of a task: so what the flow costs at least is a lower bound
// for every packing.  Amounts and costs are divided by what all are multiples
// of, or by more where a gain would be too large, and then rounded down.
//
// Bounds are proved in integers from the prices that a solver found
// (solver/dual_bound.h), so that no rounding of a solver makes one too large.
//
// Threads: values.
//
// Source: docs/decisions/0037-gains.md says what this is for and what it is no
// use for.

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

// The resources that machines run out of, by dimension: those first of which
// the most is asked for, as a part of what there is.
std::vector<size_t> FindScarce(const PackingProblem& problem);

class ShareNetwork {
 public:
  // In the resource of the dimension.  `problem` must outlive this.
  ShareNetwork(const PackingProblem& problem, size_t dimension);

  // Aims at the least that the next level leaves waiting where those above
  // leave at most so much, by level; or, where that is every level, at the
  // least that placements cost.
  void AimAt(std::span<const int64_t> held);

  const FlowProblem& problem() const { return problem_; }
  // Of what it aims at; 0 where the solution has no prices.
  int64_t BoundOf(const GeneralizedSolution& solution) const;
  // By node.  `machines`: of each group of the problem.
  std::vector<NodeMeaning> Meanings(
      std::span<const std::vector<MachineId>> machines) const;

 private:
  struct PlaceArc {
    ArcIndex arc = 0;
    FlowCost cost = 0;  // In the unit of costs.
  };
  struct WaitArc {
    ArcIndex arc = 0;
    size_t level = 0;
    FlowCost cost = 0;  // In the unit of waiting costs.
  };

  void AddKinds(size_t dimension);
  void AddLevels();
  void AddClasses(size_t dimension);

  const PackingProblem& packing_;
  FlowProblem problem_;
  int64_t amount_unit_ = 1;
  int64_t waiting_unit_ = 1;
  int64_t cost_unit_ = 1;
  int64_t unit_ = 1;  // Of what it aims at.
  NodeIndex sink_ = 0;
  std::vector<NodeIndex> kinds_;   // By kind.
  std::vector<NodeIndex> levels_;  // By level.
  std::vector<ArcIndex> held_;     // By level, from there to the sink.
  std::vector<int64_t> most_;      // By level, in the unit of waiting costs.
  std::vector<PlaceArc> place_arcs_;
  std::vector<WaitArc> wait_arcs_;
};

}  // namespace sluice

#endif  // SLUICE_NETWORK_SHARE_NETWORK_H_
