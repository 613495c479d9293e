// What it costs to solve again after a scheduling round's changes, beside
// solving from scratch.
//
// Rows are named family/size/form/share: the form of the class ladders,
// the share of tasks that each round replaces.  A row's time is the mean of a
// re-solve alone by `automatic`, by CPU; the changes are made while the clock
// stands.  Counters: median_ms of the re-solves, scratch_ms of `automatic` on
// the problem as it was, ratio of the two, and the work of the mean re-solve.
// Every solution is checked by its certificate and the last one's objective by
// a solve from scratch; a fault ends the row with an error.
//
// The "small" size is for ctest; the "full" one (10,000 machines, 100,000
// tasks) is registered only where SLUICE_BENCHMARK_FULL is set.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "base/rng.h"
#include "base/strings.h"
#include "benchmark/families.h"
#include "sluice/flow/problem.h"
#include "sluice/solver/solver.h"
#include "solver/registry.h"
#include "solver/verify.h"

namespace sluice {
namespace {

constexpr int kRoundCount = 10;
constexpr int kLaddersPer = 1000;  // One ladder in so many changes its costs.

double CpuSeconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// Solves and returns the CPU seconds that it took.
template <class Solve>
double Timed(const Solve& solve) {
  const double begin = CpuSeconds();
  solve();
  return CpuSeconds() - begin;
}

// An empty string, or what is wrong.
std::string Fault(const FlowProblem& problem, const FlowSolution& solution) {
  const absl::Status status = VerifySolution(problem, solution);
  return status.ok() ? "" : status.ToString();
}

struct Row {
  const Family& family;
  FamilySize size;
  LadderForm form;
  int tasks_per = 0;  // One task in so many is replaced.
};

void RunRow(benchmark::State& state, const Row& row) {
  FamilyNetwork network = row.family.make(row.size, row.form);
  FlowProblem& problem = network.problem;
  const std::unique_ptr<Solver> scratch = MakeSolver("automatic");
  FlowSolution solution;
  const double scratch_seconds =
      Timed([&] { solution = scratch->Solve(problem); });
  const std::unique_ptr<Solver> solver = MakeSolver("automatic");
  problem.StartLog();
  solution = solver->Solve(problem);

  Rng rng(1);
  std::vector<double> seconds;
  SolveWork work;
  for (auto _ : state) {
    problem.StartLog();
    ChangeFamilyNetwork(row.tasks_per, kLaddersPer, &rng, &network);
    seconds.push_back(Timed([&] { solver->Resolve(problem, {}, &solution); }));
    state.SetIterationTime(seconds.back());
    work.paths += solution.work.paths;
    work.arc_scans += solution.work.arc_scans;
    work.relabels += solution.work.relabels;
    work.pushes += solution.work.pushes;
    if (const std::string fault = Fault(problem, solution); !fault.empty()) {
      state.SkipWithError(fault.c_str());
      return;
    }
  }
  if (scratch->Solve(problem).objective != solution.objective) {
    state.SkipWithError("the objective differs from that of a fresh solve");
  }
  std::ranges::sort(seconds);
  const double median = seconds[seconds.size() / 2];
  const auto show = [&](const char* name, int64_t value) {
    state.counters[name] = static_cast<double>(value) / kRoundCount;
  };
  state.counters["scratch_ms"] = 1000 * scratch_seconds;
  state.counters["median_ms"] = 1000 * median;
  state.counters["ratio"] = scratch_seconds / median;
  show("paths", work.paths);
  show("scans", work.arc_scans);
  show("relabels", work.relabels);
  show("pushes", work.pushes);
}

void RegisterSize(const FamilySize& size) {
  for (const Family& family : Families()) {
    // Random graphs have no tasks to replace.
    if (family.make(kSmallSize, LadderForm::kConvex).jobs.empty()) continue;
    for (const LadderForm form : {LadderForm::kConvex, LadderForm::kUnitArcs}) {
      for (const int tasks_per : {100, 1000}) {
        const std::string name =
            StrCat(family.name, "/", size.name,
                   form == LadderForm::kConvex ? "/convex/" : "/unit_arcs/",
                   tasks_per == 100 ? "1%" : "0.1%");
        const Row row = {family, size, form, tasks_per};
        benchmark::RegisterBenchmark(
            name.c_str(),
            [row](benchmark::State& state) { RunRow(state, row); })
            // Fixed, so that each row builds its network once.
            ->Iterations(kRoundCount)
            ->UseManualTime()
            ->Unit(benchmark::kMillisecond);
      }
    }
  }
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  sluice::RegisterSize(sluice::kSmallSize);
  if (std::getenv("SLUICE_BENCHMARK_FULL") != nullptr) {
    sluice::RegisterSize(sluice::kFullSize);
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
