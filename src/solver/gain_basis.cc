#include "solver/gain_basis.h"

#include <glog/logging.h>

#include <cmath>
#include <utility>

namespace sluice {
namespace {

// A sum this much smaller than its terms counts as zero: terms are products
// along paths, each factor wrong by 1e-16.  It is also the minimum difference
// of a cycle's gain from 1.
constexpr double kCancelled = 1e-10;

double Sum(double a, double b) {
  const double sum = a + b;
  return std::abs(sum) <= kCancelled * (std::abs(a) + std::abs(b)) ? 0 : sum;
}

}  // namespace

GainBasis::GainBasis(std::span<const BasisArc> loops)
    : nodes_(loops.size()), step_of_(loops.size(), kNone) {
  for (size_t i = 0; i < loops.size(); ++i) {
    CHECK(loops[i].tail == loops[i].head && loops[i].gain != 1);
    nodes_[i].arc = loops[i];
  }
  ComputePotentials();
}

NodeIndex GainBasis::Predecessor(NodeIndex node) const {
  const BasisArc& arc = at(node).arc;
  return arc.tail == node ? arc.head : arc.tail;
}

// How much arrives at the predecessor for each unit taken from `node` over its
// basic arc.
double GainBasis::Factor(NodeIndex node) const {
  const BasisArc& arc = at(node).arc;
  return arc.tail == node ? arc.gain : 1 / arc.gain;
}

// The flow on the basic arc of `node` that takes `amount` away from it.
double GainBasis::FlowFor(NodeIndex node, double amount) const {
  const BasisArc& arc = at(node).arc;
  return arc.tail == node ? amount : -amount / arc.gain;
}

double GainBasis::PotentialFrom(NodeIndex node, double of_predecessor) const {
  const BasisArc& arc = at(node).arc;
  return arc.tail == node ? arc.gain * of_predecessor - arc.cost
                          : (of_predecessor + arc.cost) / arc.gain;
}

double GainBasis::PotentialBehind(NodeIndex node, double of_node) const {
  const BasisArc& arc = at(node).arc;
  return arc.tail == node ? (of_node + arc.cost) / arc.gain
                          : arc.gain * of_node - arc.cost;
}

double GainBasis::GainOfCycle(std::span<const Step> cycle) const {
  double gain = 1;
  for (const Step& step : cycle) gain *= Factor(step.node);
  return gain;
}

// Appends the path of predecessors from `from` to steps_, up to a node that is
// there already, and returns the step of that node.
size_t GainBasis::Walk(NodeIndex from) {
  NodeIndex node = from;
  while (!is_step(node)) {
    step_of_[static_cast<size_t>(node)] = static_cast<int32_t>(steps_.size());
    steps_.push_back({.node = node});
    node = Predecessor(node);
  }
  return StepOf(node);
}

void GainBasis::ForgetSteps() {
  for (const Step& step : steps_) {
    step_of_[static_cast<size_t>(step.node)] = kNone;
  }
}

// Carries the amounts at the steps along the path and returns what arrives
// behind its end.
double GainBasis::Pass(size_t begin, size_t end) {
  double carried = 0;
  for (size_t i = begin; i < end; ++i) {
    const double amount = Sum(carried, amounts_[i]);
    steps_[i].rate = FlowFor(steps_[i].node, amount);
    carried = amount * Factor(steps_[i].node);
  }
  return carried;
}

// Sends each amount on a cycle around it again and again, which is a geometric
// series.  One at a time, since their sum may be large even if the parts are
// small.
void GainBasis::Circulate(size_t begin, size_t end) {
  const double gain =
      GainOfCycle(std::span(steps_).subspan(begin, end - begin));
  for (size_t from = begin; from < end; ++from) {
    if (amounts_[from] == 0) continue;
    double carried = amounts_[from] / (1 - gain);
    size_t i = from;
    do {
      Step& step = steps_[i];
      step.rate = Sum(step.rate, FlowFor(step.node, carried));
      carried *= Factor(step.node);
      i = i + 1 == end ? begin : i + 1;
    } while (i != from);
  }
}

std::span<const GainBasis::Step> GainBasis::Represent(const BasisArc& arc) {
  steps_.clear();
  const size_t first_cycle = Walk(arc.tail);
  second_path_ = steps_.size();
  const size_t meeting = Walk(arc.head);
  amounts_.assign(steps_.size(), 0);
  amounts_[0] = 1;
  amounts_[StepOf(arc.head)] -= arc.gain;
  // From the head to its cycle or to the path from the tail; then that one.
  const bool has_second_cycle = meeting >= second_path_;
  const double arriving =
      Pass(second_path_, has_second_cycle ? meeting : steps_.size());
  amounts_[meeting] = Sum(amounts_[meeting], arriving);
  if (has_second_cycle) Circulate(meeting, steps_.size());
  amounts_[first_cycle] = Sum(amounts_[first_cycle], Pass(0, first_cycle));
  Circulate(first_cycle, second_path_);
  ForgetSteps();
  return steps_;
}

int64_t GainBasis::Exchange(size_t leaving, const BasisArc& entering) {
  const size_t begin = leaving < second_path_ ? 0 : second_path_;
  BasisArc handed_on = entering;
  for (size_t i = begin; i <= leaving; ++i) {
    const NodeIndex node = steps_[i].node;
    Detach(node);
    std::swap(at(node).arc, handed_on);
    Attach(node);
  }
  // Only what hangs on the entering arc has new potentials.
  return ComputeFrom(steps_[begin].node);
}

void GainBasis::Attach(NodeIndex node) {
  const NodeIndex predecessor = Predecessor(node);
  if (predecessor == node) return;
  NodeIndex& first = at(predecessor).first_child;
  at(node).previous_sibling = kNone;
  at(node).next_sibling = first;
  if (first != kNone) at(first).previous_sibling = node;
  first = node;
}

void GainBasis::Detach(NodeIndex node) {
  const NodeIndex predecessor = Predecessor(node);
  if (predecessor == node) return;
  const Node& of = at(node);
  if (of.previous_sibling == kNone) {
    at(predecessor).first_child = of.next_sibling;
  } else {
    at(of.previous_sibling).next_sibling = of.next_sibling;
  }
  if (of.next_sibling != kNone) {
    at(of.next_sibling).previous_sibling = of.previous_sibling;
  }
}

// Sets the potentials of the cycle in steps_.  Errors grow by the gain in one
// direction around it and shrink in the other, so it goes in the latter.
void GainBasis::ComputeCycle() {
  const double gain = GainOfCycle(steps_);
  double offset = 0;  // Once around, a potential p becomes gain * p + offset.
  for (size_t i = steps_.size(); i-- > 0;) {
    offset = PotentialFrom(steps_[i].node, offset);
  }
  double last = offset / (1 - gain);
  at(steps_[0].node).potential = last;
  for (size_t i = 1; i < steps_.size(); ++i) {
    if (std::abs(gain) <= 1) {
      const NodeIndex node = steps_[steps_.size() - i].node;
      at(node).potential = last = PotentialFrom(node, last);
    } else {
      last = PotentialBehind(steps_[i - 1].node, last);
      at(steps_[i].node).potential = last;
    }
  }
}

// Sets the potentials of all nodes whose path of predecessors leads through
// `top`, and returns their number.
int64_t GainBasis::ComputeFrom(NodeIndex top) {
  steps_.clear();
  if (Walk(top) == 0) {
    ComputeCycle();
  } else {
    ForgetSteps();
    steps_.clear();
    at(top).potential = PotentialFrom(top, potential(Predecessor(top)));
  }
  int64_t count = 0;
  stack_.assign(1, top);
  while (!stack_.empty()) {
    const NodeIndex parent = stack_.back();
    stack_.pop_back();
    ++count;
    for (NodeIndex child = at(parent).first_child; child != kNone;
         child = at(child).next_sibling) {
      if (child == top) continue;  // It closes the cycle.
      if (!is_step(child)) {
        at(child).potential = PotentialFrom(child, potential(parent));
      }
      stack_.push_back(child);
    }
  }
  ForgetSteps();
  return count;
}

void GainBasis::ComputePotentials() {
  std::vector<NodeIndex> seen_from(nodes_.size(), kNone);
  for (NodeIndex from = 0; from < node_count(); ++from) {
    NodeIndex node = from;
    while (seen_from[static_cast<size_t>(node)] == kNone) {
      seen_from[static_cast<size_t>(node)] = from;
      node = Predecessor(node);
    }
    // Otherwise the path ended in a component that is done.
    if (seen_from[static_cast<size_t>(node)] == from) ComputeFrom(node);
  }
}

std::vector<double> GainBasis::Flows(std::vector<double> amounts) {
  const auto amount = [&amounts](NodeIndex node) -> double& {
    return amounts[static_cast<size_t>(node)];
  };
  std::vector<int32_t> children_left(nodes_.size());
  for (NodeIndex node = 0; node < node_count(); ++node) {
    ++children_left[static_cast<size_t>(Predecessor(node))];
  }
  // The trees, from their leaves to the cycles.
  std::vector<bool> is_done(nodes_.size());
  for (NodeIndex leaf = 0; leaf < node_count(); ++leaf) {
    NodeIndex node = leaf;
    while (children_left[static_cast<size_t>(node)] == 0 &&
           !is_done[static_cast<size_t>(node)]) {
      is_done[static_cast<size_t>(node)] = true;
      const NodeIndex predecessor = Predecessor(node);
      amount(predecessor) += amount(node) * Factor(node);
      --children_left[static_cast<size_t>(predecessor)];
      node = predecessor;
    }
  }
  for (NodeIndex node = 0; node < node_count(); ++node) {
    if (is_done[static_cast<size_t>(node)]) continue;
    steps_.clear();
    Walk(node);
    ForgetSteps();
    for (const Step& step : steps_) {
      is_done[static_cast<size_t>(step.node)] = true;
    }
    AddCirculation(&amounts);
  }
  for (NodeIndex node = 0; node < node_count(); ++node) {
    amount(node) = FlowFor(node, amount(node));
  }
  return amounts;
}

// Adds to the amounts on the cycle in steps_ what arrives around it.
void GainBasis::AddCirculation(std::vector<double>* amounts) const {
  const double gain = GainOfCycle(steps_);
  const auto amount = [this, amounts](size_t step) -> double& {
    return (*amounts)[static_cast<size_t>(steps_[step].node)];
  };
  double arriving = 0;
  for (size_t i = 1; i < steps_.size(); ++i) {
    arriving = (arriving + amount(i)) * Factor(steps_[i].node);
  }
  const double own = amount(0);
  amount(0) = (own + arriving) / (1 - gain);
  // As for potentials, the direction decides whether errors grow.
  if (std::abs(gain) <= 1) {
    for (size_t i = 1; i < steps_.size(); ++i) {
      amount(i) += amount(i - 1) * Factor(steps_[i - 1].node);
    }
    return;
  }
  double needed = amount(0) - own;
  for (size_t i = steps_.size(); i-- > 1;) {
    const double total = needed / Factor(steps_[i].node);
    needed = total - amount(i);
    amount(i) = total;
  }
}

}  // namespace sluice
