// Random changes to a flow problem, for the oracles of solvers that solve
// again: every kind of change, in every mixture.
//
// Threads: free functions without state.

#ifndef SLUICE_TESTS_ORACLE_RANDOM_CHANGES_H_
#define SLUICE_TESTS_ORACLE_RANDOM_CHANGES_H_

#include "absl/container/btree_set.h"
#include "base/rng.h"
#include "oracle/random_problem.h"
#include "sluice/flow/problem.h"

namespace sluice {

// Changes one problem, again and again, so that it stays valid; it may become
// infeasible, and feasible again.
class RandomChanger {
 public:
  // REQUIRES: `problem` is valid and pure, has a node and none removed; it
  // outlives this and is changed by nobody else.
  RandomChanger(const RandomShape& shape, FlowProblem* problem)
      : shape_(shape), problem_(*problem) {}

  // Makes up to `count_max` changes: arcs set anew, added and removed, nodes
  // added and removed with their arcs, supply moved between nodes.
  void Change(int count_max, Rng* rng);

 private:
  NodeIndex DrawNode(Rng* rng) const;
  void MoveSupply(NodeIndex from, NodeIndex to, FlowUnits units);
  void AddArc(NodeIndex tail, NodeIndex head, Rng* rng);
  void ChangeArc(Rng* rng);
  void AddNode(Rng* rng);
  void RemoveNode(Rng* rng);

  const RandomShape shape_;
  FlowProblem& problem_;
  absl::btree_set<NodeIndex> removed_;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_ORACLE_RANDOM_CHANGES_H_
