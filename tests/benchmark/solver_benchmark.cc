// The solvers on generated scheduling and random networks, beside LEMON where
// it is installed.
//
// Rows are named family/size/solver.  The "small" size runs in seconds for
// all rows together; the "full" one (10,000 machines, 100,000 tasks) is
// registered only where SLUICE_BENCHMARK_FULL is set.  Counters: arcs (ladders
// count once), segments, the work of the solve, and lemon_x: the CPU time of
// LEMON's better solver, on the network with an arc a segment, over ours (a
// plain ratio, though the library prints "/s" after it).  A solution that its
// certificate does not prove ends the row with an error.

#include <benchmark/benchmark.h>
#include <glog/logging.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "base/strings.h"
#include "sluice/flow/problem.h"
#include "solver/registry.h"
#include "solver/verify.h"
#ifdef SLUICE_HAVE_LEMON
#include "oracle/lemon_reference.h"
#endif

namespace sluice {
namespace {

struct Size {
  const char* name;
  int machines;
  int tasks;
};
constexpr Size kSmall = {"small", 300, 3000};
constexpr Size kFull = {"full", 10000, 100000};

FlowCost UniformCost(Rng* rng, FlowCost lo, FlowCost hi) {
  return rng->Between(lo, hi);
}

// A network under construction: nodes for the machines and the sink.
struct Cluster {
  FlowProblem problem;
  std::vector<NodeIndex> machines;
  NodeIndex sink = 0;
};

Cluster MakeCluster(const Size& size) {
  Cluster cluster;
  for (int i = 0; i < size.machines; ++i) {
    cluster.machines.push_back(cluster.problem.AddNode(0));
  }
  cluster.sink = cluster.problem.AddNode(-size.tasks);
  return cluster;
}

// Slots for `tasks / load` tasks spread evenly, all free of cost.
void AddSlots(const Size& size, double load, Cluster* cluster) {
  const auto slots = static_cast<int>(size.tasks / load);
  for (int i = 0; i < size.machines; ++i) {
    const int here =
        slots / size.machines + (i < slots % size.machines ? 1 : 0);
    cluster->problem.AddArc(cluster->machines[static_cast<size_t>(i)],
                            cluster->sink, here, 0);
  }
}

// From each class a ladder of four units to each of some random machines.
void AddClassLadders(const std::vector<NodeIndex>& classes, Rng* rng,
                     Cluster* cluster) {
  const size_t machines = cluster->machines.size();
  const size_t fan_out =
      std::min(machines, std::max<size_t>(50, 20 * machines / classes.size()));
  std::vector<FlowCost> own_cost(machines);
  for (FlowCost& cost : own_cost) cost = UniformCost(rng, 0, 250);
  std::vector<size_t> order(machines);
  for (size_t i = 0; i < machines; ++i) order[i] = i;
  for (const NodeIndex from : classes) {
    rng->Shuffle(order);
    for (size_t i = 0; i < fan_out; ++i) {
      FlowCost cost = own_cost[order[i]] + UniformCost(rng, 0, 750);
      std::vector<CostSegment> ladder;
      for (int step = 0; step < 4; ++step) {
        ladder.push_back({.width = 1, .cost = cost});
        cost += UniformCost(rng, 10, 50);
      }
      cluster->problem.AddConvexArc(from, cluster->machines[order[i]], ladder);
    }
  }
}

// Classes as nodes; a task may stay with its job's unscheduled node.
FlowProblem MakeGrouped(const Size& size, int class_count, double load,
                        uint64_t seed) {
  Rng rng(seed);
  Cluster cluster = MakeCluster(size);
  AddSlots(size, load, &cluster);
  FlowProblem& problem = cluster.problem;
  std::vector<NodeIndex> classes;
  for (int i = 0; i < class_count; ++i) classes.push_back(problem.AddNode(0));
  const int job_count = std::max(class_count, size.tasks / 100);
  for (int job = 0; job < job_count; ++job) {
    const NodeIndex of = classes[static_cast<size_t>(job % class_count)];
    const int tasks = (size.tasks + job) / job_count;
    problem.SetSupply(of, problem.supply(of) + tasks);
    const NodeIndex unscheduled = problem.AddNode(0);
    problem.AddArc(of, unscheduled, tasks, UniformCost(&rng, 2500, 5000));
    problem.AddArc(unscheduled, cluster.sink, tasks, 0);
  }
  AddClassLadders(classes, &rng, &cluster);
  return std::move(cluster.problem);
}

// A node a task, `prefs` arcs from each straight to machines.
FlowProblem MakeTasks(const Size& size, int class_count, int prefs, double load,
                      uint64_t seed) {
  Rng rng(seed);
  Cluster cluster = MakeCluster(size);
  AddSlots(size, load, &cluster);
  FlowProblem& problem = cluster.problem;
  std::vector<NodeIndex> classes;
  for (int i = 0; i < class_count; ++i) classes.push_back(problem.AddNode(0));
  const int job_count = std::max(class_count, size.tasks / 100);
  for (int job = 0; job < job_count; ++job) {
    const NodeIndex unscheduled = problem.AddNode(0);
    const FlowCost wait_cost = UniformCost(&rng, 2500, 5000);
    const int tasks = (size.tasks + job) / job_count;
    for (int task = 0; task < tasks; ++task) {
      const NodeIndex node = problem.AddNode(1);
      problem.AddArc(node, classes[static_cast<size_t>(job % class_count)], 1,
                     0);
      problem.AddArc(node, unscheduled, 1, wait_cost);
      for (int i = 0; i < prefs; ++i) {
        const size_t machine = rng.Below(cluster.machines.size());
        problem.AddArc(node, cluster.machines[machine], 1,
                       UniformCost(&rng, 0, 375));
      }
    }
    problem.AddArc(unscheduled, cluster.sink, tasks, 0);
  }
  AddClassLadders(classes, &rng, &cluster);
  return std::move(cluster.problem);
}

// What a round builds: plain arcs from each class to every machine (a
// preference and the task's own share), one load ladder a machine, waiting
// dearer than any placement.
FlowProblem MakeRound(const Size& size, int class_count, double load,
                      uint64_t seed) {
  Rng rng(seed);
  Cluster cluster = MakeCluster(size);
  FlowProblem& problem = cluster.problem;
  const int slots = static_cast<int>(size.tasks / load) / size.machines;
  for (const NodeIndex machine : cluster.machines) {
    std::vector<CostSegment> ladder;
    const FlowCost step = UniformCost(&rng, 5, 60);
    FlowCost cost = UniformCost(&rng, 0, 500);
    const auto length = rng.Between(slots / 2, slots + slots / 2);
    for (int64_t i = 0; i < length; ++i) {
      ladder.push_back({.width = 1, .cost = cost});
      cost += step;
    }
    problem.AddConvexArc(machine, cluster.sink, ladder);
  }
  for (int i = 0; i < class_count; ++i) {
    const int tasks = (size.tasks + i) / class_count;
    const NodeIndex from = problem.AddNode(tasks);
    const NodeIndex unscheduled = problem.AddNode(0);
    problem.AddArc(from, unscheduled, tasks,
                   UniformCost(&rng, 1000000, 5000000));
    problem.AddArc(unscheduled, cluster.sink, tasks, 0);
    for (const NodeIndex machine : cluster.machines) {
      problem.AddArc(from, machine, rng.Between(1, slots),
                     UniformCost(&rng, 0, 1000));
    }
  }
  return std::move(cluster.problem);
}

// A tenth of the nodes sources, a tenth sinks; a dear ring keeps it feasible.
FlowProblem MakeRandom(int node_count, int degree, uint64_t seed) {
  Rng rng(seed);
  FlowProblem problem;
  for (int i = 0; i < node_count; ++i) problem.AddNode(0);
  const auto random_node = [&rng, node_count] {
    return static_cast<NodeIndex>(rng.Below(static_cast<uint64_t>(node_count)));
  };
  FlowUnits total = 0;
  for (int i = 0; i < node_count / 10; ++i) {
    const FlowUnits units = rng.Between(1, 1000);
    const NodeIndex from = random_node();
    const NodeIndex to = random_node();
    problem.SetSupply(from, problem.supply(from) + units);
    problem.SetSupply(to, problem.supply(to) - units);
    total += units;
  }
  for (int i = 0; i < node_count; ++i) {
    problem.AddArc(i, (i + 1) % node_count, total, 10000);
  }
  for (int i = 0; i < node_count * (degree - 1); ++i) {
    problem.AddArc(random_node(), random_node(), rng.Between(1, 1000),
                   UniformCost(&rng, 0, 10000));
  }
  return problem;
}

#ifdef SLUICE_HAVE_LEMON
// CPU seconds of the better of LEMON's solvers on a plain arc a segment.
double BestLemonSeconds(const FlowProblem& problem, FlowCost objective) {
  std::vector<int64_t> supplies;
  for (NodeIndex node = 0; node < problem.node_count(); ++node) {
    supplies.push_back(problem.supply(node));
  }
  std::vector<PlainArc> arcs;
  for (ArcIndex arc = 0; arc < problem.arc_count(); ++arc) {
    for (const CostSegment& segment : problem.segments(arc)) {
      arcs.push_back({.tail = problem.arc(arc).tail,
                      .head = problem.arc(arc).head,
                      .lower = 0,
                      .capacity = segment.width,
                      .cost = segment.cost});
    }
  }
  double best = std::numeric_limits<double>::infinity();
  for (const LemonAlgorithm algorithm :
       {LemonAlgorithm::kNetworkSimplex, LemonAlgorithm::kCostScaling}) {
    const LemonResult result = SolveWithLemon(algorithm, supplies, arcs);
    CHECK(result.objective == objective) << "LEMON's objective differs";
    best = std::min(best, result.cpu_seconds);
  }
  return best;
}
#endif

void RunRow(benchmark::State& state, const SolverEntry& entry,
            const FlowProblem& problem) {
  const std::unique_ptr<Solver> solver = entry.make();
  FlowSolution solution;
  for (auto _ : state) solution = solver->Solve(problem);
  if (const absl::Status status = VerifySolution(problem, solution);
      !status.ok()) {
    state.SkipWithError(status.ToString().c_str());
    return;
  }
  const auto show = [&state](const char* name, auto value) {
    state.counters[name] = benchmark::Counter(static_cast<double>(value));
  };
  show("arcs", problem.arc_count());
  show("segments", problem.segment_count());
  show("objective", solution.objective);
  show("phases", solution.work.phases);
  show("pushes", solution.work.pushes);
  show("relabels", solution.work.relabels);
  show("scans", solution.work.arc_scans);
#ifdef SLUICE_HAVE_LEMON
  // Shown divided by the CPU time of one iteration.
  state.counters["lemon_x"] =
      benchmark::Counter(BestLemonSeconds(problem, solution.objective),
                         benchmark::Counter::kIsIterationInvariantRate);
#endif
}

struct Family {
  const char* name;
  FlowProblem (*make)(const Size& size);
};
// Named after the table in docs/performance.md.
constexpr Family kFamilies[] = {
    {"round_c20", [](const Size& size) { return MakeRound(size, 20, 1.0, 1); }},
    {"round_c20_load1.3",
     [](const Size& size) { return MakeRound(size, 20, 1.3, 2); }},
    {"A_prefs_c20",
     [](const Size& size) { return MakeTasks(size, 20, 3, 1.0, 3); }},
    {"B_prefs_c200",
     [](const Size& size) { return MakeTasks(size, 200, 3, 1.0, 4); }},
    {"D_prefs_c200_load1.1",
     [](const Size& size) { return MakeTasks(size, 200, 3, 1.1, 5); }},
    {"F_grouped_c200",
     [](const Size& size) { return MakeGrouped(size, 200, 1.0, 6); }},
    {"G_grouped_c200_load1.1",
     [](const Size& size) { return MakeGrouped(size, 200, 1.1, 7); }},
    {"random_d16",
     [](const Size& size) { return MakeRandom(size.machines / 2, 16, 8); }},
};

void RegisterSize(const Size& size, int iterations) {
  for (const Family& family : kFamilies) {
    for (const SolverEntry& entry : Solvers()) {
      const std::string row =
          StrCat(family.name, "/", size.name, "/", entry.name);
      benchmark::RegisterBenchmark(
          row.c_str(),
          [&family, &entry, size](benchmark::State& state) {
            RunRow(state, entry, family.make(size));
          })
          // Fixed, so that each row builds its network once.
          ->Iterations(iterations)
          ->Unit(benchmark::kMillisecond);
    }
  }
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  sluice::RegisterSize(sluice::kSmall, 5);
  if (std::getenv("SLUICE_BENCHMARK_FULL") != nullptr) {
    sluice::RegisterSize(sluice::kFull, 3);
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
