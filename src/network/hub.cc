#include "network/hub.h"

#include <algorithm>

namespace sluice {

void Hub::Share(size_t group, std::span<const CostSegment> machines,
                std::span<const CostSegment> aggregate) {
  FlowUnits of_machines = 0;  // Taken of the first segment.
  FlowUnits of_aggregate = 0;
  while (!machines.empty() && !aggregate.empty()) {
    const CostSegment& a = machines.front();
    const CostSegment& b = aggregate.front();
    const FlowUnits width =
        std::min(a.width - of_machines, b.width - of_aggregate);
    if (width > 0) steps.push_back({a.cost + b.cost, group, width});
    of_machines += width;
    of_aggregate += width;
    if (of_machines == a.width) {
      machines = machines.subspan(1);
      of_machines = 0;
    }
    if (of_aggregate == b.width) {
      aggregate = aggregate.subspan(1);
      of_aggregate = 0;
    }
  }
}

void Hub::Draw(NodeIndex sink, FlowUnits units, FlowProblem* problem) {
  if (steps.empty()) return;
  std::ranges::sort(steps);
  std::vector<CostSegment> segments;
  for (const auto& [cost, group, width] : steps) {
    const FlowUnits more = std::min(width, units);
    if (more == 0) break;
    units -= more;
    if (!segments.empty() && segments.back().cost == cost) {
      segments.back().width += more;
    } else {
      segments.push_back({more, cost});
    }
  }
  shared = problem->AddConvexArc(node, sink, segments);
}

std::deque<std::pair<size_t, FlowUnits>> Hub::UnitsBy(
    const FlowSolution& solution) const {
  const auto flow = [&solution](ArcIndex arc) {
    return solution.flows[static_cast<size_t>(arc)];
  };
  std::vector<FlowUnits> taken;  // By group.
  const auto take = [&taken](size_t group, FlowUnits count) {
    if (group >= taken.size()) taken.resize(group + 1);
    taken[group] += count;
  };
  for (const auto& [group, arc] : groups) take(group, flow(arc));
  FlowUnits left = shared.has_value() ? flow(*shared) : 0;
  for (const auto& [cost, group, width] : steps) {
    if (left == 0) break;
    const FlowUnits count = std::min(width, left);
    take(group, count);
    left -= count;
  }
  std::deque<std::pair<size_t, FlowUnits>> units;
  for (size_t group = 0; group < taken.size(); ++group) {
    if (taken[group] > 0) units.emplace_back(group, taken[group]);
  }
  return units;
}

}  // namespace sluice
