#include "oracle/random_gains.h"

#include <iterator>
#include <vector>

namespace sluice {
namespace {

constexpr FlowGain kGains[] = {{1, 3}, {1, 2}, {2, 3}, {9, 10}, {1, 1},
                               {6, 5}, {3, 2}, {2, 1}, {3, 1}};

FlowGain DrawGain(Rng* rng) { return kGains[rng->Below(std::size(kGains))]; }

}  // namespace

FlowProblem MakeRandomGains(const RandomShape& shape, Rng* rng) {
  FlowProblem problem = MakeRandomProblem(shape, rng);
  const bool is_feasible = rng->Chance(2, 3);
  const uint64_t gains_in_4 = rng->Between(1, 4);
  std::vector<FlowUnits> served(static_cast<size_t>(problem.node_count()));
  for (ArcIndex index = 0; index < problem.arc_count(); ++index) {
    const FlowProblem::Arc& arc = problem.arc(index);
    FlowGain gain = rng->Chance(gains_in_4, 4) ? DrawGain(rng) : FlowGain();
    FlowUnits flow = rng->Between(arc.lower, arc.capacity());
    flow -= flow % gain.denominator;
    if (flow < arc.lower) {
      // No whole amount arrives; take a gain for which one does.
      gain.denominator = 1;
      flow = arc.lower;
    }
    problem.SetGain(index, gain);
    served[static_cast<size_t>(arc.tail)] += flow;
    served[static_cast<size_t>(arc.head)] -=
        flow / gain.denominator * gain.numerator;
  }
  for (NodeIndex node = 0; is_feasible && node < problem.node_count(); ++node) {
    problem.SetSupply(node, served[static_cast<size_t>(node)]);
  }
  if (problem.gains().empty() && problem.node_count() > 0) {
    // Keeps the supplies from having to balance.
    problem.SetGain(problem.AddArc(0, 0, 1, 0), {1, 2});
  }
  return problem;
}

void MarkAllOrNone(int count_max, Rng* rng, FlowProblem* problem) {
  if (problem->arc_count() == 0) return;
  for (int64_t i = rng->Between(1, count_max); i > 0; --i) {
    const int64_t arc = rng->Between(0, problem->arc_count() - 1);
    problem->SetAllOrNone(static_cast<ArcIndex>(arc), true);
  }
}

}  // namespace sluice
