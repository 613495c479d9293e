// Whole rounds of the core, without store and network: how long drawing the
// networks, solving and committing take.
//
// Arguments: machines, tasks, classes.  Counters: build_ms, solve_ms,
// commit_ms (sums over the passes of a round), passes, placed, arcs.

#include <benchmark/benchmark.h>
#include <glog/logging.h>

#include <chrono>
#include <memory>
#include <string>

#include "base/rng.h"
#include "base/strings.h"
#include "core/scheduler.h"
#include "solver/registry.h"

namespace sluice {
namespace {

constexpr int64_t kGib = (int64_t{1} << 30) * 1000;

double Milliseconds() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Machines of 32 cores and 128 GiB; classes of 1/4 to 3 cores, so that all fit.
void Fill(int64_t machines, int64_t tasks, int64_t classes,
          ClusterState* state) {
  for (int64_t i = 0; i < machines; ++i) {
    MachineSpec spec;
    spec.uuid = StrCat("machine-", i);
    spec.allocatable = {{"cpu", 32000}, {"memory", 128 * kGib}, {"pods", 110}};
    spec.capacity = spec.allocatable;
    CHECK(state->Apply(AddMachine{spec}, 0) == Ack::kOk);
  }
  Rng rng(1);
  std::vector<NamedAmounts> requests;
  for (int64_t i = 0; i < classes; ++i) {
    requests.push_back({{"cpu", rng.Between(250, 3000)},
                        {"memory", rng.Between(1, 12) * kGib + i}});
  }
  for (int64_t i = 0; i < tasks; ++i) {
    SubmitTask submit;
    submit.task = {static_cast<uint64_t>(i + 1)};
    submit.job_uuid = StrCat("job-", i / 100);
    submit.spec.request = requests[static_cast<size_t>((i / 100) % classes)];
    CHECK(state->Apply(submit, 0) == Ack::kOk);
  }
}

void BM_RoundOfPendingTasks(benchmark::State& bench) {
  double build = 0;
  double solve = 0;
  double commit = 0;
  RoundStats stats;
  const PolicySet policies = *PolicySet::FromNames("cpu_memory");
  const ConstraintSet constraints;
  const std::unique_ptr<Solver> solver = MakeSolver("cost_scaling");
  for (auto _ : bench) {
    bench.PauseTiming();
    auto scheduler =
        std::make_unique<Scheduler>(policies, constraints, RoundOptions());
    Fill(bench.range(0), bench.range(1), bench.range(2),
         &scheduler->mutable_state());
    bench.ResumeTiming();
    scheduler->StartRound(0);
    while (true) {
      const double start = Milliseconds();
      const std::optional<FlowProblem> problem = scheduler->NextPass();
      const double built = Milliseconds();
      build += built - start;
      if (!problem.has_value()) break;
      const FlowSolution solution = solver->Solve(*problem);
      const double solved = Milliseconds();
      solve += solved - built;
      scheduler->FinishPass(solution);
      commit += Milliseconds() - solved;
    }
    bench.PauseTiming();
    stats = scheduler->round_stats();
    scheduler.reset();
    bench.ResumeTiming();
  }
  const auto rounds = static_cast<double>(bench.iterations());
  bench.counters["build_ms"] = build / rounds;
  bench.counters["solve_ms"] = solve / rounds;
  bench.counters["commit_ms"] = commit / rounds;
  bench.counters["passes"] = stats.passes;
  bench.counters["placed"] = static_cast<double>(stats.placed);
  bench.counters["arcs"] = static_cast<double>(stats.arcs);
}
BENCHMARK(BM_RoundOfPendingTasks)
    ->Args({100, 1000, 10})
    ->Args({1000, 10000, 10})
    ->Args({10000, 100000, 20})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sluice

BENCHMARK_MAIN();
