#include "oracle/shortest_paths.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace sluice {
namespace {

// A residual edge and, at the same index with the lowest bit flipped, its
// reverse.
struct Edge {
  size_t from = 0;
  size_t to = 0;
  FlowUnits residual = 0;
  FlowCost cost = 0;
};

class Paths {
 public:
  // The problem's nodes, then a source of all supply and a sink of all demand.
  explicit Paths(const FlowProblem& problem)
      : balance_(static_cast<size_t>(problem.node_count())),
        source_(balance_.size()),
        sink_(balance_.size() + 1) {
    for (NodeIndex node = 0; node < problem.node_count(); ++node) {
      balance_[static_cast<size_t>(node)] = problem.supply(node);
    }
    for (ArcIndex arc = 0; arc < problem.arc_count(); ++arc) {
      AddSegments(problem, arc);
    }
    for (size_t node = 0; node < balance_.size(); ++node) {
      if (balance_[node] > 0) AddEdge(source_, node, balance_[node], 0);
      if (balance_[node] < 0) AddEdge(node, sink_, -balance_[node], 0);
      to_route_ += std::max<FlowUnits>(balance_[node], 0);
    }
  }

  std::optional<FlowCost> Optimum() {
    while (to_route_ > 0) {
      if (!FindPath()) return std::nullopt;
      FlowUnits amount = to_route_;
      for (size_t at = sink_; at != source_; at = edges_[into_[at]].from) {
        amount = std::min(amount, edges_[into_[at]].residual);
      }
      for (size_t at = sink_; at != source_; at = edges_[into_[at]].from) {
        edges_[into_[at]].residual -= amount;
        edges_[into_[at] ^ 1].residual += amount;
        cost_ += amount * edges_[into_[at]].cost;
      }
      to_route_ -= amount;
    }
    return cost_;
  }

 private:
  static constexpr FlowCost kFar = std::numeric_limits<FlowCost>::max() / 4;

  void AddEdge(size_t from, size_t to, FlowUnits capacity, FlowCost cost) {
    edges_.push_back({from, to, capacity, cost});
    edges_.push_back({to, from, 0, -cost});
  }

  // Units below the lower bound flow from the start and for good.  Units of
  // negative cost flow from the start too, so that no residual edge has a
  // negative cost, but may be taken back.
  void AddSegments(const FlowProblem& problem, ArcIndex arc) {
    const auto tail = static_cast<size_t>(problem.arc(arc).tail);
    const auto head = static_cast<size_t>(problem.arc(arc).head);
    FlowUnits lower = problem.arc(arc).lower;
    for (const auto& [width, cost] : problem.segments(arc)) {
      const FlowUnits fixed = std::min(lower, width);
      lower -= fixed;
      const FlowUnits at_once = cost < 0 ? width : fixed;
      balance_[tail] -= at_once;
      balance_[head] += at_once;
      cost_ += at_once * cost;
      if (cost < 0) {
        AddEdge(head, tail, width - fixed, -cost);
      } else {
        AddEdge(tail, head, width - fixed, cost);
      }
    }
  }

  // Bellman-Ford from the source.  Sets into_ along the tree of shortest paths.
  bool FindPath() {
    std::vector<FlowCost> distance(balance_.size() + 2, kFar);
    into_.assign(distance.size(), 0);
    distance[source_] = 0;
    for (bool is_changed = true; is_changed;) {
      is_changed = false;
      for (size_t i = 0; i < edges_.size(); ++i) {
        const Edge& edge = edges_[i];
        if (edge.residual == 0 || distance[edge.from] == kFar) continue;
        const FlowCost through = distance[edge.from] + edge.cost;
        if (through >= distance[edge.to]) continue;
        distance[edge.to] = through;
        into_[edge.to] = i;
        is_changed = true;
      }
    }
    return distance[sink_] < kFar;
  }

  std::vector<FlowUnits> balance_;
  const size_t source_;
  const size_t sink_;
  std::vector<Edge> edges_;
  std::vector<size_t> into_;  // By node: the last edge of its shortest path.
  FlowUnits to_route_ = 0;
  FlowCost cost_ = 0;
};

}  // namespace

std::optional<FlowCost> ShortestPathsOptimum(const FlowProblem& problem) {
  return Paths(problem).Optimum();
}

}  // namespace sluice
