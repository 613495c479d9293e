// The generalized network simplex method beside GLPK's simplex method, where
// that is installed.
//
// Rows are named family/nodes/arcs.  Families: "random", with gains from 1/2 to
// 3/2 on all arcs; "pure", the same with all gains 1; "sizes", classes of tasks
// of different sizes on machines with convex costs of load, where the gain is
// the size.  Counters: the work of the solve and glpk_x, GLPK's CPU time over
// ours (a plain ratio, though the library prints "/s" after it), up to 10,000
// arcs.  A solution that does not verify ends the row with an error.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <vector>

#include "base/rng.h"
#include "base/status_macros.h"
#include "sluice/flow/problem.h"
#include "sluice/solver/generalized.h"
#include "solver/verify_generalized.h"
#ifdef SLUICE_HAVE_GLPK
#include "oracle/glpk_reference.h"
#endif

namespace sluice {
namespace {

constexpr int64_t kGlpkArcsMax = 10000;

FlowProblem MakeRandom(int64_t node_count, int64_t arc_count, bool has_gains) {
  Rng rng(1);
  FlowProblem problem;
  for (int64_t i = 0; i < node_count; ++i) problem.AddNode(0);
  const auto draw_node = [&rng, node_count] {
    return static_cast<NodeIndex>(rng.Between(0, node_count - 1));
  };
  const auto add = [&problem](NodeIndex node, FlowUnits amount) {
    problem.SetSupply(node, problem.supply(node) + amount);
  };
  for (int64_t i = 0; i < arc_count; ++i) {
    const NodeIndex tail = draw_node();
    const NodeIndex head = draw_node();
    const FlowUnits capacity = rng.Between(1, 1000);
    const ArcIndex arc =
        problem.AddArc(tail, head, capacity, rng.Between(0, 10000));
    const auto parts = static_cast<int32_t>(rng.Between(2, 10));
    FlowGain gain;
    if (has_gains) {
      gain = {static_cast<int32_t>(rng.Between(parts - 1, parts + 1)), parts};
    }
    problem.SetGain(arc, gain);
    // A quarter of the arcs say what supply there is.
    if (!rng.Chance(1, 4)) continue;
    const FlowUnits arriving = rng.Between(0, capacity) / gain.denominator;
    add(tail, arriving * gain.denominator);
    add(head, -arriving * gain.numerator);
  }
  return problem;
}

FlowProblem MakeSizes(int64_t node_count, int64_t arc_count) {
  constexpr FlowUnits kTasks = 40;
  Rng rng(1);
  FlowProblem problem;
  const int64_t class_count = node_count / 5;
  const int64_t machine_count = node_count - class_count;
  for (int64_t i = 0; i < machine_count; ++i) {
    const NodeIndex machine = problem.AddNode(0);
    std::vector<CostSegment> load;
    FlowCost cost = 0;
    for (int step = 0; step < 8; ++step) {
      cost += rng.Between(1, 50);
      load.push_back({.width = 16, .cost = cost});
    }
    problem.SetGain(problem.AddConvexArc(machine, machine, load), {1, 1 << 20});
  }
  for (int64_t i = 0; i < class_count; ++i) {
    const NodeIndex tasks = problem.AddNode(kTasks);
    const ArcIndex waiting = problem.AddArc(tasks, tasks, 2 * kTasks, 5000);
    problem.SetGain(waiting, {1, 2});
    const auto size = static_cast<int32_t>(rng.Between(1, 64));
    for (int64_t k = 0; k < (arc_count - node_count) / class_count; ++k) {
      const auto machine =
          static_cast<NodeIndex>(rng.Between(0, machine_count - 1));
      const ArcIndex placed =
          problem.AddArc(tasks, machine, kTasks, rng.Between(0, 1000));
      problem.SetGain(placed, {size, 8});
    }
  }
  return problem;
}

void Run(const FlowProblem& problem, benchmark::State& state) {
  GeneralizedSolution solution;
  for (auto _ : state) solution = GeneralizedSolver().Solve(problem);
  if (const auto status = VerifyGeneralized(problem, solution); !status.ok()) {
    state.SkipWithError(StrCat(Message(status)).c_str());
    return;
  }
  state.counters["pivots"] = static_cast<double>(solution.work.pivots);
  state.counters["arc_scans"] = static_cast<double>(solution.work.arc_scans);
#ifdef SLUICE_HAVE_GLPK
  if (problem.arc_count() > kGlpkArcsMax) return;
  using benchmark::Counter;
  state.counters["glpk_x"] =
      Counter(SolveWithGlpk(problem).cpu_seconds *
                  static_cast<double>(state.iterations()),
              Counter::kIsRate);
#endif
}

void Random(benchmark::State& state) {
  Run(MakeRandom(state.range(0), state.range(1), true), state);
}
void Pure(benchmark::State& state) {
  Run(MakeRandom(state.range(0), state.range(1), false), state);
}
void Sizes(benchmark::State& state) {
  Run(MakeSizes(state.range(0), state.range(1)), state);
}

void SetSizes(benchmark::internal::Benchmark* row) {
  row->Args({100, 1000})->Args({1000, 10000})->Args({5000, 80000});
  row->Unit(benchmark::kMillisecond);
}
BENCHMARK(Random)->Name("random")->Apply(SetSizes);
BENCHMARK(Pure)->Name("pure")->Apply(SetSizes);
BENCHMARK(Sizes)->Name("sizes")->Apply(SetSizes);

}  // namespace
}  // namespace sluice

BENCHMARK_MAIN();
