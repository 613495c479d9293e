#include "oracle/random_problem.h"

#include <algorithm>
#include <vector>

namespace sluice {
namespace {

// What the problems of one seed are like.
struct Features {
  FlowCost cost_min = 0;
  FlowCost cost_max = 0;
  bool has_lower_bounds = false;
  bool is_feasible = false;
};

Features DrawFeatures(Rng* rng) {
  constexpr FlowCost kCostMax[] = {1, 10, 1000, 5000000};
  Features features;
  features.cost_max = kCostMax[rng->Below(std::size(kCostMax))];
  features.cost_min = rng->Chance(1, 2) ? -features.cost_max : 0;
  features.has_lower_bounds = rng->Chance(1, 2);
  features.is_feasible = rng->Chance(2, 3);
  return features;
}

std::vector<CostSegment> DrawSegments(const RandomShape& shape,
                                      const Features& features, Rng* rng) {
  const int64_t count = rng->Between(0, shape.segment_count_max);
  std::vector<FlowCost> costs;
  for (int64_t i = 0; i < count; ++i) {
    costs.push_back(rng->Between(features.cost_min, features.cost_max));
  }
  std::ranges::sort(costs);
  std::vector<CostSegment> segments;
  for (const FlowCost cost : costs) {
    segments.push_back(
        {.width = rng->Between(1, shape.capacity_max), .cost = cost});
  }
  return segments;
}

void AddTo(NodeIndex node, FlowUnits amount, FlowProblem* problem) {
  problem->SetSupply(node, problem->supply(node) + amount);
}

}  // namespace

FlowProblem MakeRandomProblem(const RandomShape& shape, Rng* rng) {
  const Features features = DrawFeatures(rng);
  FlowProblem problem;
  const int64_t node_count = rng->Between(1, shape.node_count_max);
  for (int64_t i = 0; i < node_count; ++i) problem.AddNode(0);
  const auto draw_node = [rng, node_count] {
    return static_cast<NodeIndex>(rng->Between(0, node_count - 1));
  };
  const int64_t arc_count = rng->Between(0, shape.arc_count_max);
  for (int64_t i = 0; i < arc_count; ++i) {
    const NodeIndex tail = draw_node();
    const NodeIndex head = draw_node();
    const std::vector<CostSegment> segments =
        DrawSegments(shape, features, rng);
    FlowUnits capacity = 0;
    for (const CostSegment& segment : segments) capacity += segment.width;
    const FlowUnits lower = features.has_lower_bounds && rng->Chance(1, 3)
                                ? rng->Between(0, capacity)
                                : 0;
    problem.AddConvexArc(tail, head, segments, lower);
    if (!features.is_feasible) continue;
    // The supplies are what some flow within the bounds moves.
    const FlowUnits flow = rng->Between(lower, capacity);
    AddTo(tail, flow, &problem);
    AddTo(head, -flow, &problem);
  }
  if (!features.is_feasible) {
    for (int64_t i = rng->Between(0, 2); i > 0; --i) {
      const FlowUnits units = rng->Between(1, shape.capacity_max);
      AddTo(draw_node(), units, &problem);
      AddTo(draw_node(), -units, &problem);
    }
  }
  return problem;
}

FlowProblem MakeRandomCluster(int class_count, int machine_count, int task_max,
                              Rng* rng) {
  FlowProblem problem;
  const NodeIndex sink = problem.AddNode(0);
  const NodeIndex first_machine = problem.node_count();
  for (int i = 0; i < machine_count; ++i) {
    const NodeIndex machine = problem.AddNode(0);
    std::vector<CostSegment> ladder;
    FlowCost cost = rng->Between(0, 100);
    for (int64_t rung = rng->Between(0, 12); rung > 0; --rung) {
      ladder.push_back({.width = 1, .cost = cost});
      cost += rng->Between(0, 30);
    }
    problem.AddConvexArc(machine, sink, ladder);
  }
  for (int i = 0; i < class_count; ++i) {
    const FlowUnits tasks = rng->Between(0, task_max);
    const NodeIndex from = problem.AddNode(tasks);
    AddTo(sink, -tasks, &problem);
    const NodeIndex unscheduled = problem.AddNode(0);
    problem.AddArc(from, unscheduled, tasks, rng->Between(1000, 5000000));
    problem.AddArc(unscheduled, sink, tasks, 0);
    for (int machine = 0; machine < machine_count; ++machine) {
      if (rng->Chance(1, 3)) continue;
      problem.AddArc(from, first_machine + machine, rng->Between(0, 6),
                     rng->Between(0, 400));
    }
  }
  return problem;
}

}  // namespace sluice
