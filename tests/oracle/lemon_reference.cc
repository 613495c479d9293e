#include "oracle/lemon_reference.h"

#include <lemon/cost_scaling.h>
#include <lemon/dimacs.h>
#include <lemon/network_simplex.h>
#include <lemon/smart_graph.h>

#include <ctime>
#include <sstream>

namespace sluice {
namespace {

double ThreadCpuSeconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) +
         1e-9 * static_cast<double>(now.tv_nsec);
}

using ArcValues = lemon::SmartDigraph::ArcMap<int64_t>;
using NodeValues = lemon::SmartDigraph::NodeMap<int64_t>;

template <class Algorithm>
LemonResult Run(const lemon::SmartDigraph& graph, const ArcValues& lower,
                const ArcValues& upper, const ArcValues& cost,
                const NodeValues& supply) {
  Algorithm algorithm(graph);
  algorithm.lowerMap(lower).upperMap(upper).costMap(cost).supplyMap(supply);
  LemonResult result;
  const double start = ThreadCpuSeconds();
  const bool is_optimal = algorithm.run() == Algorithm::OPTIMAL;
  result.cpu_seconds = ThreadCpuSeconds() - start;
  if (is_optimal) {
    result.objective = algorithm.template totalCost<int64_t>();
  }
  return result;
}

template <class Algorithm>
LemonResult Run(const lemon::SmartDigraph& graph,
                const std::vector<int64_t>& supplies,
                const std::vector<PlainArc>& arcs) {
  using Graph = lemon::SmartDigraph;
  Graph::ArcMap<int64_t> lower(graph);
  Graph::ArcMap<int64_t> upper(graph);
  Graph::ArcMap<int64_t> cost(graph);
  Graph::NodeMap<int64_t> supply(graph);
  for (size_t i = 0; i < arcs.size(); ++i) {
    const Graph::Arc arc = graph.arcFromId(static_cast<int>(i));
    lower[arc] = arcs[i].lower;
    upper[arc] = arcs[i].capacity;
    cost[arc] = arcs[i].cost;
  }
  for (size_t i = 0; i < supplies.size(); ++i) {
    supply[graph.nodeFromId(static_cast<int>(i))] = supplies[i];
  }
  return Run<Algorithm>(graph, lower, upper, cost, supply);
}

}  // namespace

LemonResult SolveDimacsWithLemon(const std::string& text) {
  using Graph = lemon::SmartDigraph;
  Graph graph;
  Graph::ArcMap<int64_t> lower(graph);
  Graph::ArcMap<int64_t> upper(graph);
  Graph::ArcMap<int64_t> cost(graph);
  Graph::NodeMap<int64_t> supply(graph);
  std::istringstream stream(text);
  lemon::readDimacsMin(stream, graph, lower, upper, cost, supply);
  return Run<lemon::NetworkSimplex<Graph, int64_t, int64_t>>(
      graph, lower, upper, cost, supply);
}

LemonResult SolveWithLemon(LemonAlgorithm algorithm,
                           const std::vector<int64_t>& supplies,
                           const std::vector<PlainArc>& arcs) {
  using Graph = lemon::SmartDigraph;
  Graph graph;
  graph.reserveNode(static_cast<int>(supplies.size()));
  graph.reserveArc(static_cast<int>(arcs.size()));
  for (size_t i = 0; i < supplies.size(); ++i) graph.addNode();
  for (const PlainArc& arc : arcs) {
    graph.addArc(graph.nodeFromId(arc.tail), graph.nodeFromId(arc.head));
  }
  switch (algorithm) {
    case LemonAlgorithm::kNetworkSimplex:
      return Run<lemon::NetworkSimplex<Graph, int64_t, int64_t>>(
          graph, supplies, arcs);
    case LemonAlgorithm::kCostScaling:
      return Run<lemon::CostScaling<Graph, int64_t, int64_t>>(graph, supplies,
                                                              arcs);
  }
  return {};
}

}  // namespace sluice
