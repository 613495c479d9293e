// The solvers on generated scheduling and random networks, beside LEMON where
// it is installed.
//
// Rows are named family/size/solver.  The "small" size runs in seconds for
// all rows together; the "full" one (10,000 machines, 100,000 tasks) is
// registered only where SLUICE_BENCHMARK_FULL is set.  "automatic" is given a
// plain arc a segment, as LEMON is, and the other solvers convex arcs.
//
// Counters: arcs (ladders count once), segments, the work of the solve, and the
// CPU time of LEMON's network simplex (lemon_simplex_x) and of the better of
// LEMON's two (lemon_x) over ours, medians all.  A solution that its
// certificate does not prove ends the row with an error.

#include <benchmark/benchmark.h>
#include <glog/logging.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "benchmark/families.h"
#include "sluice/flow/problem.h"
#include "solver/registry.h"
#include "solver/verify.h"
#ifdef SLUICE_HAVE_LEMON
#include "oracle/lemon_reference.h"
#endif

namespace sluice {
namespace {

double ThreadCpuSeconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) +
         1e-9 * static_cast<double>(now.tv_nsec);
}

[[maybe_unused]] double Median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// CPU seconds, medians.
struct LemonSeconds {
  double network_simplex = 0;
  double cost_scaling = 0;
};

// A family at a size, for all of its rows.
struct Instance {
  std::string name;
  FlowProblem convex;
  FlowProblem plain;  // An arc a segment.
  std::optional<LemonSeconds> lemon;
};

#ifdef SLUICE_HAVE_LEMON
LemonSeconds MeasureLemon(const FlowProblem& problem, FlowCost objective,
                          int runs) {
  std::vector<int64_t> supplies;
  for (NodeIndex node = 0; node < problem.node_count(); ++node) {
    supplies.push_back(problem.supply(node));
  }
  std::vector<PlainArc> arcs;
  for (ArcIndex i = 0; i < problem.arc_count(); ++i) {
    const FlowProblem::Arc& arc = problem.arc(i);
    for (const auto& [width, cost] : problem.segments(i)) {
      arcs.push_back({arc.tail, arc.head, 0, width, cost});
    }
  }
  const auto measure = [&](LemonAlgorithm algorithm) {
    std::vector<double> seconds;
    for (int i = 0; i < runs; ++i) {
      const LemonResult result = SolveWithLemon(algorithm, supplies, arcs);
      CHECK(result.objective == objective) << "LEMON's objective differs";
      seconds.push_back(result.cpu_seconds);
    }
    return Median(std::move(seconds));
  };
  return {.network_simplex = measure(LemonAlgorithm::kNetworkSimplex),
          .cost_scaling = measure(LemonAlgorithm::kCostScaling)};
}
#endif

void ShowWork(const SolveWork& work, benchmark::State* state) {
  const auto show = [state](const char* name, int64_t value) {
    state->counters[name] = static_cast<double>(value);
  };
  show("phases", work.phases);
  show("pushes", work.pushes);
  show("relabels", work.relabels);
  show("pivots", work.pivots);
  show("paths", work.paths);
  show("scans", work.arc_scans);
}

void RunRow(benchmark::State& state, const SolverEntry& entry,
            [[maybe_unused]] int runs, Instance* instance) {
  const FlowProblem& problem =
      entry.name == "automatic" ? instance->plain : instance->convex;
  const std::unique_ptr<Solver> solver = entry.make();
  FlowSolution solution;
  std::vector<double> seconds;
  for (auto _ : state) {
    const double start = ThreadCpuSeconds();
    solution = solver->Solve(problem);
    seconds.push_back(ThreadCpuSeconds() - start);
  }
  if (const absl::Status status = VerifySolution(problem, solution);
      !status.ok()) {
    state.SkipWithError(status.ToString().c_str());
    return;
  }
  state.counters["arcs"] = problem.arc_count();
  state.counters["segments"] = static_cast<double>(problem.segment_count());
  state.counters["objective"] = static_cast<double>(solution.objective);
  ShowWork(solution.work, &state);
#ifdef SLUICE_HAVE_LEMON
  if (!instance->lemon.has_value()) {
    instance->lemon = MeasureLemon(problem, solution.objective, runs);
  }
  const auto [network_simplex, cost_scaling] = *instance->lemon;
  const double ours = Median(std::move(seconds));
  state.counters["lemon_simplex_x"] = network_simplex / ours;
  state.counters["lemon_x"] = std::min(network_simplex, cost_scaling) / ours;
#endif
}

// The rows of a family follow each other; *instance is that of the present one.
void RegisterSize(const FamilySize& size, int runs, Instance* instance) {
  for (const Family& family : Families()) {
    const std::string name = StrCat(family.name, "/", size.name, "/");
    for (const SolverEntry& entry : Solvers()) {
      // Not made for so much at once; resolve_benchmark measures what it is
      // for.
      if (entry.name == "successive_shortest_paths" &&
          std::string_view(size.name) == kFullSize.name) {
        continue;
      }
      const auto run = [&family, &entry, size, runs, name,
                        instance](benchmark::State& state) {
        if (instance->name != name) {
          *instance = {
              .name = name,
              .convex = family.make(size, LadderForm::kConvex).problem,
              .plain = family.make(size, LadderForm::kUnitArcs).problem,
              .lemon = {}};
        }
        RunRow(state, entry, runs, instance);
      };
      benchmark::RegisterBenchmark(StrCat(name, entry.name).c_str(), run)
          ->Iterations(runs)
          ->Unit(benchmark::kMillisecond);
    }
  }
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  sluice::Instance instance;
  sluice::RegisterSize(sluice::kSmallSize, 5, &instance);
  if (std::getenv("SLUICE_BENCHMARK_FULL") != nullptr) {
    sluice::RegisterSize(sluice::kFullSize, 3, &instance);
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
