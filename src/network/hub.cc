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
  std::vector<std::pair<size_t, FlowUnits>> taken;
  for (const auto& [group, arc] : groups) taken.emplace_back(group, flow(arc));
  FlowUnits left = shared.has_value() ? flow(*shared) : 0;
  for (const auto& [cost, group, width] : steps) {
    if (left == 0) break;
    taken.emplace_back(group, std::min(width, left));
    left -= taken.back().second;
  }
  std::ranges::sort(taken);
  std::deque<std::pair<size_t, FlowUnits>> units;
  for (const auto& [group, count] : taken) {
    if (count == 0) continue;
    if (units.empty() || units.back().first != group) {
      units.emplace_back(group, 0);
    }
    units.back().second += count;
  }
  return units;
}

}  // namespace sluice
