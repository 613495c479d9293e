// A problem in which equal parts are merged, for a caller that provides a node
// per task and an arc per step.
//
// * Parallel plain arcs become one convex arc.
// * Sources that nothing can tell apart (no arc leads there, and the arcs from
//   there lead to the same nodes at the same costs, with room for all of their
//   supply) become one source.
//
// The optimum is the same, and flows and potentials of one are easily converted
// to those of the other.  Classes as nodes are worth more than any other
// improvement of a solver (docs/performance.md).
//
// Threads: values.  Determinism: groups are numbered by their first members.

#ifndef SLUICE_SOLVER_GROUPED_PROBLEM_H_
#define SLUICE_SOLVER_GROUPED_PROBLEM_H_

#include <cstdint>
#include <span>
#include <vector>

#include "sluice/flow/problem.h"

namespace sluice {

class GroupedProblem {
 public:
  // REQUIRES: ValidatePureProblem(problem) is OK; `problem` outlives this and
  // does not change.
  explicit GroupedProblem(const FlowProblem& problem);

  // True if grouping saves enough to be worth a second problem.  If false, call
  // nothing else.
  bool is_worthwhile() const { return is_worthwhile_; }

  // The smaller problem.
  const FlowProblem& problem() const { return grouped_; }

  // The solution of the whole problem that corresponds to `solution`, one of
  // problem(), whatever its outcome.
  FlowSolution Expand(FlowSolution solution) const;

 private:
  void ListArcs();
  // By node: a hash of what its arcs offer, equal for equal sources. 0 for a
  // node that is no source, or that has an arc that could be full.
  std::vector<uint64_t> HashOffers() const;
  // By node: true if two of its arcs lead to the same node.
  std::vector<bool> FindParallels() const;
  // Both return how many arcs that saves.
  int64_t GroupSources();
  int64_t GroupArcs();
  void Draw();
  void ExpandFlows(FlowSolution* solution) const;
  std::vector<NodeIndex> ExpandCut(const std::vector<NodeIndex>& cut) const;

  std::span<ArcIndex> ArcsFrom(NodeIndex node);
  std::span<const ArcIndex> ArcsFrom(NodeIndex node) const;
  // True if the node is one of several.
  bool IsGrouped(NodeIndex node) const {
    const auto index = static_cast<size_t>(node);
    return first_member_[index] != node || next_member_[index] >= 0;
  }

  const FlowProblem& problem_;
  FlowProblem grouped_;
  bool is_worthwhile_ = false;

  // The open arcs by tail; of a source that may be grouped, by head and cost.
  std::vector<ArcIndex> arcs_;
  std::vector<NodeIndex> heads_;    // Their heads, in any order per tail.
  std::vector<int32_t> first_arc_;  // By node, and one more: into both.
  std::vector<bool> has_arrivals_;  // By node: an open arc leads there.

  // By node: the first of its group, and the next one, or -1.
  std::vector<NodeIndex> first_member_;
  std::vector<NodeIndex> next_member_;
  // By arc: the next more expensive one of its parallels, or none; and whether
  // it follows another.
  std::vector<ArcIndex> next_parallel_;
  std::vector<bool> is_follower_;

  // By node and by arc: its counterpart in grouped_, if it has its own.
  std::vector<NodeIndex> node_;
  std::vector<ArcIndex> arc_;
};

}  // namespace sluice

#endif  // SLUICE_SOLVER_GROUPED_PROBLEM_H_
