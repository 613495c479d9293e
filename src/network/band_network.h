// The flow network of one pass: a band of classes of similar size against the
// machines as they are loaded now (docs/flow-network.md).
//
//   class c --preference + size, cap fit(c,m)--> machine m --load, slots-->
//   sink
//     '--waiting, by age--> unscheduled(job) ---------------------------> sink
//
// A class is one node with a supply of as many units as it has tasks here.  An
// integral flow of this network can be committed as it stands: a machine has
// as many slots as the band's largest request fits into what is free there,
// and at least one where any class fits.
//
// This is the only place that knows which node stands for what.
//
// Threads: values; confined to the core thread.

#ifndef SLUICE_NETWORK_BAND_NETWORK_H_
#define SLUICE_NETWORK_BAND_NETWORK_H_

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "constraints/constraint_set.h"
#include "cost/policy_set.h"
#include "sluice/flow/problem.h"
#include "state/cluster_state.h"

namespace sluice {

// The tasks of one class that a pass may place, oldest first.
struct BandClass {
  ClassKey key;
  std::vector<const Task*> tasks;
};

struct Proposal {
  size_t class_index = 0;  // Into the classes the network was drawn of.
  TaskId task;
  MachineId machine;
};

class BandNetwork {
 public:
  // Draws the network as of `now_ms`.  Needs no class to be non-empty.
  BandNetwork(const ClusterState& state, const PolicySet& policies,
              const ConstraintSet& constraints,
              std::span<const BandClass> classes, int64_t now_ms);

  const FlowProblem& problem() const { return problem_; }
  // Gives the problem away: decoding needs only the index.
  FlowProblem TakeProblem() { return std::move(problem_); }
  // Whether any class has any machine; if not, there is nothing to solve.
  bool has_machines() const { return !placement_arcs_.empty(); }

  // Reads an optimal flow: of each class the oldest tasks of each job are
  // placed, in the order of machine ids.
  std::vector<Proposal> Decode(const FlowSolution& solution) const;

 private:
  struct PlacementArc {
    size_t class_index;
    MachineId machine;
    ArcIndex arc;
  };
  struct WaitingArc {
    ArcIndex arc;
    std::vector<TaskId> tasks;  // Of one class and job, oldest first.
  };

  void AddMachine(const Machine& machine, const PolicySet& policies,
                  const ConstraintSet& constraints,
                  std::span<const BandClass> classes);
  void AddWaitingArcs(std::span<const BandClass> classes, int64_t now_ms);

  FlowProblem problem_;
  NodeIndex sink_ = 0;
  FlowUnits supply_ = 0;
  Resources mean_request_;
  std::vector<PlacementArc> placement_arcs_;           // By machine, class.
  std::vector<std::vector<WaitingArc>> waiting_arcs_;  // By class, job.
};

}  // namespace sluice

#endif  // SLUICE_NETWORK_BAND_NETWORK_H_
