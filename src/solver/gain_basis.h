// A basis of a network with gains, and the linear algebra of the simplex method
// on it.
//
// The columns of a basis are as many arcs as there are nodes.  They form a
// forest of *good augmented trees*: each connected component is a tree with one
// more arc, whose cycle has a gain other than 1 (a self-loop is a cycle too).
// Here each node owns one basic arc that touches it and leads to its
// *predecessor*, such that every path of predecessors ends in the cycle of its
// component.  To exchange an arc is to turn around a piece of such a path.
//
// Solving with the basis or its transpose takes steps along paths only.
// Potentials are computed from their paths and never updated by differences, so
// their errors do not grow from pivot to pivot.
//
// Threads: none; confined to its owner.
// Source: Ahuja, Magnanti, Orlin: Network Flows, 1993, sections 15.4 to 15.6.

#ifndef SLUICE_SOLVER_GAIN_BASIS_H_
#define SLUICE_SOLVER_GAIN_BASIS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sluice/flow/problem.h"

namespace sluice {

// Column of an arc: 1 at its tail, -gain at its head, 1 - gain for a self-loop.
struct BasisArc {
  ArcIndex index = 0;
  NodeIndex tail = 0;
  NodeIndex head = 0;
  double gain = 1;
  double cost = 0;
};

class GainBasis {
 public:
  // A node's basic arc, and by how much its flow must rise (negative: fall) to
  // have the effect of a unit of flow on another arc.
  struct Step {
    NodeIndex node = 0;
    double rate = 0;
  };

  // Begins with a self-loop at each node, in node order.  REQUIRES: none of
  // these has a gain of 1.
  explicit GainBasis(std::span<const BasisArc> loops);

  int32_t node_count() const { return static_cast<int32_t>(nodes_.size()); }
  const BasisArc& arc(NodeIndex node) const { return at(node).arc; }
  // Solves: cost + potential of tail - gain * potential of head = 0 for each
  // basic arc.
  double potential(NodeIndex node) const { return at(node).potential; }

  // Writes the column of `arc` as a sum of basic columns.  A rate of zero marks
  // a column without a part in it, exactly or up to rounding.  Valid until the
  // next call.
  std::span<const Step> Represent(const BasisArc& arc);

  // Puts `entering` into the basis in place of the arc of the step with index
  // `leaving` of the last Represent(entering), and updates the potentials.
  // Returns how many nodes that took.  REQUIRES: the rate of that step is not
  // zero.
  int64_t Exchange(size_t leaving, const BasisArc& entering);

  // Sets the cost of the node's basic arc.  The potentials stay as they are
  // until ComputePotentials().
  void SetCost(NodeIndex node, double cost) { at(node).arc.cost = cost; }
  void ComputePotentials();

  // By node: the flow on its basic arc such that, at each node, the basic arcs
  // carry away `amounts` more than they bring.
  std::vector<double> Flows(std::vector<double> amounts);

 private:
  static constexpr int32_t kNone = -1;
  struct Node {
    BasisArc arc;
    double potential = 0;
    // Nodes whose predecessor this is, except a self-loop; and the list that
    // this node is in.
    NodeIndex first_child = kNone;
    NodeIndex next_sibling = kNone;
    NodeIndex previous_sibling = kNone;
  };

  Node& at(NodeIndex node) { return nodes_[static_cast<size_t>(node)]; }
  const Node& at(NodeIndex node) const {
    return nodes_[static_cast<size_t>(node)];
  }
  bool is_step(NodeIndex node) const {
    return step_of_[static_cast<size_t>(node)] != kNone;
  }
  size_t StepOf(NodeIndex node) const {
    return static_cast<size_t>(step_of_[static_cast<size_t>(node)]);
  }

  NodeIndex Predecessor(NodeIndex node) const;
  double Factor(NodeIndex node) const;
  double FlowFor(NodeIndex node, double amount) const;
  double PotentialFrom(NodeIndex node, double of_predecessor) const;
  double PotentialBehind(NodeIndex node, double of_node) const;
  double GainOfCycle(std::span<const Step> cycle) const;
  size_t Walk(NodeIndex from);
  void ForgetSteps();
  double Pass(size_t begin, size_t end);
  void Circulate(size_t begin, size_t end);
  void Attach(NodeIndex node);
  void Detach(NodeIndex node);
  void ComputeCycle();
  int64_t ComputeFrom(NodeIndex top);
  void AddCirculation(std::vector<double>* amounts) const;

  std::vector<Node> nodes_;
  // After Represent(): the path of predecessors from the tail, until it closes
  // its cycle, followed by that from the head, until it meets itself or the
  // first path.  Other calls use it, too.
  std::vector<Step> steps_;
  size_t second_path_ = 0;        // Index in steps_ of the path from the head.
  std::vector<double> amounts_;   // By step.
  std::vector<int32_t> step_of_;  // By node, or kNone.
  std::vector<NodeIndex> stack_;
};

}  // namespace sluice

#endif  // SLUICE_SOLVER_GAIN_BASIS_H_
