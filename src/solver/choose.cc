#include "solver/choose.h"

#include <cstdint>

namespace sluice {
namespace {

// The thresholds are where the two were equally fast on the families of
// tests/benchmark/families.h, in sizes from 300 to 110,000 nodes, and on the
// passes of round_benchmark.

// A simplex pivot costs up to a walk over all nodes, and there are about as
// many pivots as nodes.
constexpr NodeIndex kSimplexNodesMax = 5000;

// But if there are many arcs per node, most of a pivot is spent on finding the
// arc, and cost scaling, which works on every arc, takes longer.
constexpr NodeIndex kDenseSimplexNodesMax = 10000;
constexpr NodeIndex kDenseArcsPerNode = 64;

// If demand is spread over the nodes, paths are long and excess moves slowly:
// the simplex method is two to ten times faster.
constexpr NodeIndex kSpreadDemandShare = 100;  // One node in this many.
constexpr NodeIndex kSpreadSimplexNodesMax = 100000;

// Each segment of a ladder can stop a pivot, but not a discharge.
constexpr double kSimplexSegmentsPerArcMax = 2.5;

// That matters only if there are many pivots.  Up to this many arcs the simplex
// method was faster on all families, and three to twelve times faster on passes
// of rounds, which have few arcs.
constexpr ArcIndex kLadderedSimplexArcsMax = 8000;

}  // namespace

std::string_view ChooseSolver(const FlowProblem& problem) {
  const NodeIndex nodes = problem.node_count();
  NodeIndex demand_count = 0;
  for (NodeIndex node = 0; node < nodes; ++node) {
    if (problem.supply(node) < 0) ++demand_count;
  }
  const bool is_demand_spread =
      demand_count > nodes / kSpreadDemandShare && demand_count > 1;
  const bool is_laddered =
      problem.arc_count() > kLadderedSimplexArcsMax &&
      static_cast<double>(problem.segment_count()) >
          kSimplexSegmentsPerArcMax * static_cast<double>(problem.arc_count());
  const NodeIndex simplex_nodes_max =
      problem.arc_count() / kDenseArcsPerNode > nodes ? kDenseSimplexNodesMax
                                                      : kSimplexNodesMax;
  const bool is_simplex = is_demand_spread
                              ? nodes <= kSpreadSimplexNodesMax
                              : nodes <= simplex_nodes_max && !is_laddered;
  return is_simplex ? "network_simplex" : "cost_scaling";
}

}  // namespace sluice
