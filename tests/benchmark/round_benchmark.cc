// Whole rounds of the core, without store and network: how long drawing the
// networks, solving and committing take.
//
// Arguments: machines, tasks, classes.  Counters: benchmark/timed_rounds.h.

#include <benchmark/benchmark.h>
#include <glog/logging.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "base/strings.h"
#include "benchmark/quality_inputs.h"
#include "benchmark/timed_rounds.h"
#include "constraints/constraint_set.h"
#include "cost/policy_set.h"
#include "network/eligibility.h"
#include "round/round_solver.h"
#include "round/scheduler.h"
#include "solver/registry.h"
#include "util/cluster_builder.h"
#include "util/rules_builder.h"

namespace sluice {
namespace {

constexpr std::string_view kSolver = "automatic";
constexpr std::string_view kAllPolicies = kDefaultCostModels;
constexpr int64_t kRackSize = 40;

// Machines of 32 cores and 128 GiB, and a little more by kind.
void AddMachines(int64_t count, int64_t kinds, ClusterState* state) {
  for (int64_t i = 0; i < count; ++i) {
    MachineSpec spec;
    spec.uuid = StrCat("machine-", i);
    spec.allocatable = {
        {"cpu", 32000}, {"memory", 128 * kGib + i % kinds}, {"pods", 110}};
    spec.capacity = spec.allocatable;
    CHECK(state->Apply(AddMachine{spec}, 0) == Ack::kOk);
  }
}

// Tasks from `first` on, in jobs of a hundred at most, of classes of 1/4 to 3
// cores, so that all fit.  Classes of another `seed` are others.  As many of
// each, or, with `amounts`, as chance has it.
void SubmitTasks(int64_t first, int64_t count, int64_t classes, uint64_t seed,
                 ClusterState* state, Rng* amounts = nullptr) {
  Rng rng(seed);
  std::vector<NamedAmounts> requests;
  for (int64_t i = 0; i < classes; ++i) {
    requests.push_back({{"cpu", rng.Between(250, 3000)},
                        {"memory", rng.Between(1, 12) * kGib + i}});
  }
  const int64_t job_size = std::min<int64_t>(100, count / classes);
  int64_t of_job = 0;  // Its class.
  for (int64_t i = 0; i < count; ++i) {
    SubmitTask submit;
    submit.uid = {static_cast<uint64_t>(first + i)};
    submit.job_uuid = StrCat("job-", seed, "-", i / job_size);
    if (i % job_size == 0) {
      of_job = amounts == nullptr ? (i / job_size) % classes
                                  : amounts->Between(0, classes - 1);
    }
    submit.spec.request = requests[static_cast<size_t>(of_job)];
    CHECK(state->Apply(submit, 0) == Ack::kOk);
  }
}

// The first rounds of clusters that `fill` made, to a solver that has seen
// nothing yet.
template <class Fill>
Shares RunFirstRounds(benchmark::State& bench, std::string_view policy_names,
                      Fill fill,
                      std::unique_ptr<Solver> base = MakeSolver(kSolver)) {
  const PolicySet policies = *PolicySet::FromNames(policy_names);
  const ConstraintSet constraints;
  Shares shares;
  for (auto _ : bench) {
    bench.PauseTiming();
    auto state = std::make_unique<ClusterState>();
    auto scheduler = std::make_unique<Scheduler>(state.get(), policies,
                                                 constraints, RoundOptions());
    fill(state.get());
    RoundSolver solver(*base);
    bench.ResumeTiming();
    RunRound(scheduler.get(), &solver, &shares);
    bench.PauseTiming();
    scheduler.reset();
    state.reset();
    bench.ResumeTiming();
  }
  return shares;
}

void BM_RoundOfPendingTasks(benchmark::State& bench) {
  const auto fill = [&](ClusterState* state) {
    AddMachines(bench.range(0), 1, state);
    SubmitTasks(1, bench.range(1), bench.range(2), 1, state);
  };
  Shares shares = RunFirstRounds(bench, "cpu_memory", fill);
  shares.Report(&bench);
}
BENCHMARK(BM_RoundOfPendingTasks)
    ->Args({100, 1000, 10})
    ->Args({1000, 10000, 10})
    ->Args({10000, 100000, 20})
    ->Unit(benchmark::kMillisecond);

void LabelRacks(ClusterState* state) {
  for (int64_t i = 0; std::cmp_less(i, state->machines().size()); ++i) {
    UpdateMachine update;
    update.spec.uuid = StrCat("machine-", i);
    update.spec.labels = {{"rack", StrCat("rack-", i / kRackSize)}};
    CHECK(state->Apply(update, 0) == Ack::kOk);
  }
}

std::string PoliciesWithRacks(bool charges_racks) {
  return StrCat(kAllPolicies, charges_racks ? ",domain_spreading" : "");
}

// The same with the default policies, in racks of forty machines.  Arguments:
// machines, tasks, classes, whether racks are charged, too.
void BM_RoundOfAggregates(benchmark::State& bench) {
  const auto fill = [&](ClusterState* state) {
    AddMachines(bench.range(0), 1, state);
    LabelRacks(state);
    SubmitTasks(1, bench.range(1), bench.range(2), 1, state);
  };
  Shares shares =
      RunFirstRounds(bench, PoliciesWithRacks(bench.range(3) != 0), fill);
  shares.Report(&bench);
}
BENCHMARK(BM_RoundOfAggregates)
    ->ArgsProduct({{1000}, {10000}, {10}, {0, 1}})
    ->ArgsProduct({{10000}, {1000, 100000}, {20}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

// Ten tasks a machine run; each round places new ones, which leave after it.
// Arguments: machines, new tasks, their classes, kinds of machines (where there
// are as many as machines, no two can be drawn as one), whether the classes are
// the same each time and only the amounts others: kNewClasses and so on.
constexpr int64_t kNewClasses = 0;
constexpr int64_t kComeAgain = 1;
constexpr int64_t kComeAgainUnknown =
    2;  // To a solver that forgets each round.
void RunRoundsOfNewTasks(benchmark::State& bench, std::string_view names,
                         bool has_racks = false) {
  const PolicySet policies = *PolicySet::FromNames(names);
  const ConstraintSet constraints;
  const std::unique_ptr<Solver> base = MakeSolver(kSolver);
  std::optional<RoundSolver> solver(*base);
  ClusterState state;
  Scheduler scheduler(&state, policies, constraints, RoundOptions());
  const int64_t running = 10 * bench.range(0);
  AddMachines(bench.range(0), bench.range(3), &state);
  if (has_racks) LabelRacks(&state);
  SubmitTasks(1, running, 20, 1, &state);
  Shares shares;
  RunRound(&scheduler, &*solver, &shares);
  CHECK_EQ(shares.last.pending, 0);
  Deliver(&state);
  shares = Shares();
  uint64_t seed = 2;
  Rng amounts(3);
  for (auto _ : bench) {
    bench.PauseTiming();
    if (bench.range(4) == kComeAgainUnknown) solver.emplace(*base);
    if (bench.range(4) != kNewClasses) {
      SubmitTasks(running + 1, bench.range(1), bench.range(2), seed, &state,
                  &amounts);
    } else {
      SubmitTasks(running + 1, bench.range(1), bench.range(2), seed++, &state);
    }
    bench.ResumeTiming();
    RunRound(&scheduler, &*solver, &shares);
    bench.PauseTiming();
    Deliver(&state);
    for (int64_t i = 1; i <= bench.range(1); ++i) {
      const TaskUid uid = {static_cast<uint64_t>(running + i)};
      CHECK(state.Apply(RemoveTask{uid}, 0) == Ack::kOk);
    }
    bench.ResumeTiming();
  }
  shares.Report(&bench);
}

void BM_RoundOfNewTasks(benchmark::State& bench) {
  RunRoundsOfNewTasks(bench, "cpu_memory");
}
BENCHMARK(BM_RoundOfNewTasks)
    ->Args({100, 10, 5, 1, kNewClasses})
    ->ArgsProduct({{10000}, {100}, {20}, {1, 10000}, {0, 1, 2}})
    ->ArgsProduct({{10000}, {1000}, {100, 1000}, {1, 10000}, {0, 1, 2}})
    ->Args({10000, 10000, 200, 10000, kNewClasses})
    ->Unit(benchmark::kMillisecond);

// The same in racks; the last argument says whether they are charged.
void BM_RoundOfNewTasksInRacks(benchmark::State& bench) {
  RunRoundsOfNewTasks(bench, PoliciesWithRacks(bench.range(5) != 0),
                      /*has_racks=*/true);
}
BENCHMARK(BM_RoundOfNewTasksInRacks)
    ->ArgsProduct({{10000}, {100}, {20}, {1, 10000}, {kComeAgain}, {0, 1}})
    ->ArgsProduct({{10000}, {1000}, {100}, {1, 10000}, {kComeAgain}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

// Sizes, preferences and soft taints at once.  Arguments: machines, tasks at
// most, classes, load in per cent of what is free, and how much others use of
// each machine at least, in per cent: with any hardly two are alike, and with
// nearly all some tasks must wait.
void BM_RoundOfPreferences(benchmark::State& bench) {
  const QualityInput input =
      MakeQualityInput({.name = "mixed", .is_partly_used = bench.range(4) > 0},
                       {.machines_min = bench.range(0),
                        .machines_max = bench.range(0),
                        .classes_min = bench.range(2),
                        .classes_max = bench.range(2),
                        .load_min = bench.range(3),
                        .load_max = bench.range(3),
                        .tasks_max = bench.range(1),
                        .used_machines = 100,
                        .used_min = bench.range(4),
                        .used_max = 100},
                       /*seed=*/7);
  const auto fill = [&](ClusterState* state) {
    for (const Command& command : input.commands) {
      CHECK(state->Apply(command, 0) == Ack::kOk);
    }
  };
  Shares shares = RunFirstRounds(bench, kAllPolicies, fill);
  bench.counters["tasks"] = static_cast<double>(input.task_count);
  bench.counters["packings"] = static_cast<double>(shares.last.packings);
  shares.Report(&bench);
}
BENCHMARK(BM_RoundOfPreferences)
    ->Args({100, 10000, 20, 105, 0})
    ->Args({5000, 1000000, 50, 105, 0})
    ->Args({2000, 1000000, 50, 105, 20})
    ->Args({10000, 1000, 200, 1000, 70})
    ->Args({10000, 1000, 200, 1000, 80})
    ->Args({10000, 1000, 200, 1000, 90})
    ->Args({10000, 20000, 1000, 1000, 70})
    ->Unit(benchmark::kMillisecond);

// 40 sets of labels, a tenth of the machines tainted.
MachineSpec LabeledMachine(int64_t i) {
  MachineSpec spec;
  spec.uuid = StrCat("machine-", i);
  spec.name = spec.uuid;
  spec.allocatable = {{"cpu", 16000}, {"memory", 64 * kGib}, {"pods", 110}};
  spec.capacity = spec.allocatable;
  spec.labels = {{"hostname", spec.uuid},
                 {"pool", StrCat("pool-", i % 40)},
                 {"zone", StrCat("zone-", i % 8)}};
  if (i % 10 == 0) {
    spec.taints = {{"dedicated", "batch", TaintEffect::kNoSchedule}};
  }
  return spec;
}

// Of the class: it selects two pools, and every other one tolerates the taint.
PlacementRules RulesOf(int64_t task_class) {
  PlacementRules rules;
  rules.selectors = {{"pool",
                      LabelOperator::kIn,
                      {StrCat("pool-", task_class % 40),
                       StrCat("pool-", (task_class + 7) % 40)}}};
  std::ranges::sort(rules.selectors[0].values);
  if (task_class % 2 == 0) {
    rules.tolerations = {
        {.key = "dedicated", .op = TolerationOperator::kExists}};
  }
  return rules;
}

// A first round of tasks with selectors and tolerations, more than fit; then
// rounds after the update of one machine's labels.  Arguments: machines, tasks,
// classes.  Counters: build_ms of the first round and evaluations of
// constraints in it, then both of the rounds after.
void BM_RoundAfterNodeUpdated(benchmark::State& bench) {
  const PolicySet policies = *PolicySet::FromNames(kAllPolicies);
  const ConstraintSet constraints;
  const std::unique_ptr<Solver> base = MakeSolver(kSolver);
  RoundSolver solver(*base);
  ClusterState state;
  Scheduler scheduler(&state, policies, constraints, RoundOptions());
  for (int64_t i = 0; i < bench.range(0); ++i) {
    CHECK(state.Apply(AddMachine{LabeledMachine(i)}, 0) == Ack::kOk);
  }
  Rng rng(1);
  for (int64_t i = 0; i < bench.range(1); ++i) {
    const int64_t task_class = i % bench.range(2);
    SubmitTask submit;
    submit.uid = {static_cast<uint64_t>(1 + i)};
    submit.job_uuid = StrCat("job-", task_class);
    submit.spec.request = {{"cpu", 1500 + task_class},
                           {"memory", (4 + task_class % 4) * kGib}};
    submit.spec.rules = RulesOf(task_class);
    CHECK(state.Apply(submit, 0) == Ack::kOk);
  }
  Shares first;
  RunRound(&scheduler, &solver, &first);
  CHECK_GT(first.last.pending, 0);
  Deliver(&state);
  const int64_t first_evaluations =
      scheduler.eligibility().counters().evaluations;
  Shares later;
  int64_t turn = 0;
  for (auto _ : bench) {
    bench.PauseTiming();
    MachineSpec spec = LabeledMachine(turn % bench.range(0));
    spec.labels[1].second = StrCat("pool-", ++turn % 50);
    CHECK(state.Apply(UpdateMachine{spec}, 0) == Ack::kOk);
    bench.ResumeTiming();
    RunRound(&scheduler, &solver, &later);
  }
  const auto rounds = static_cast<double>(later.totals.size());
  const int64_t evaluations =
      scheduler.eligibility().counters().evaluations - first_evaluations;
  later.Report(&bench);
  bench.counters["first_placed"] = static_cast<double>(first.last.placed);
  bench.counters["first_build_ms"] = first.build;
  bench.counters["first_evaluations"] = static_cast<double>(first_evaluations);
  bench.counters["evaluations"] = static_cast<double>(evaluations) / rounds;
}
BENCHMARK(BM_RoundAfterNodeUpdated)
    ->Args({5000, 50000, 1000})
    ->Unit(benchmark::kMillisecond);

// Tasks that each name their machine by its host label, as those of a daemon
// set do.  Arguments: machines, tasks, how many in a hundred are too large.
void BM_RoundOfPinnedTasks(benchmark::State& bench) {
  const auto fill = [&](ClusterState* state) {
    for (int64_t i = 0; i < bench.range(0); ++i) {
      CHECK(state->Apply(AddMachine{LabeledMachine(i)}, 0) == Ack::kOk);
    }
    for (int64_t i = 0; i < bench.range(1); ++i) {
      SubmitTask submit;
      submit.uid = {static_cast<uint64_t>(1 + i)};
      submit.job_uuid = "daemons";
      submit.spec.request = {{"cpu", i % 100 < bench.range(2) ? 1000000 : 100}};
      submit.spec.rules = {
          .required = {{.labels = {{"hostname",
                                    LabelOperator::kIn,
                                    {StrCat("machine-", i)}}}}},
          .tolerations = {{.op = TolerationOperator::kExists}}};
      CHECK(state->Apply(submit, 0) == Ack::kOk);
    }
  };
  Shares shares = RunFirstRounds(bench, kAllPolicies, fill);
  CHECK_EQ(shares.last.placed, bench.range(1) * (100 - bench.range(2)) / 100);
  shares.Report(&bench);
}
BENCHMARK(BM_RoundOfPinnedTasks)
    ->Args({10000, 1000, 0})
    ->Args({10000, 10000, 0})
    ->Args({10000, 10000, 10})
    ->Unit(benchmark::kMillisecond);

// What tasks demand of the other tasks of their job.
struct PeerShape {
  enum class Demand { kAffinity, kAntiAffinity, kSpread };
  Demand demand;
  int64_t zones = 1;
  // Tasks are of these in turn, and look for each other in all of them.
  int64_t namespaces = 1;
};

PlacementRules RulesOf(const PeerShape& shape, const std::string& job) {
  PeerTerm term = {.tasks = {.labels = {{LabelIn("app", {job})}}},
                   .topology_key = "zone"};
  if (shape.namespaces > 1) {
    term.tasks.namespace_labels = {{LabelIn("team", {"devops"})}};
  } else {
    term.tasks.namespaces = {"namespace-0"};
  }
  switch (shape.demand) {
    case PeerShape::Demand::kAffinity:
      return {.affinity = {term}};
    case PeerShape::Demand::kAntiAffinity:
      term.topology_key = "hostname";
      return {.anti_affinity = {term}};
    case PeerShape::Demand::kSpread:
      return {.spread = {{.term = term, .max_skew = 5}}};
  }
  return {};
}

// All tasks pending, in jobs of equal size, as the profiles of `sluicectl
// bench` have them.  Arguments: machines, tasks, jobs.
void BM_RoundOfPeers(benchmark::State& bench, const PeerShape& shape) {
  const auto fill = [&](ClusterState* state) {
    for (int64_t i = 0; i < bench.range(0); ++i) {
      MachineSpec spec;
      spec.uuid = StrCat("machine-", i);
      spec.name = spec.uuid;
      spec.allocatable = {
          {"cpu", 32000}, {"memory", 128 * kGib}, {"pods", 110}};
      spec.capacity = spec.allocatable;
      spec.labels = {{"hostname", spec.uuid},
                     {"zone", StrCat("zone-", i % shape.zones)}};
      CHECK(state->Apply(AddMachine{spec}, 0) == Ack::kOk);
    }
    for (int64_t i = 0; i < bench.range(1); ++i) {
      const int64_t job = i % bench.range(2);
      SubmitTask submit;
      submit.uid = {static_cast<uint64_t>(1 + i)};
      submit.job_uuid = StrCat("job-", job);
      submit.spec.task_namespace = StrCat("namespace-", i % shape.namespaces);
      submit.spec.namespace_labels = {{"team", "devops"}};
      submit.spec.labels = {{"app", submit.job_uuid}};
      submit.spec.request = {{"cpu", 50 * (1 + job % 10)},
                             {"memory", kGib / 16 * (1 + job % 16)}};
      submit.spec.rules = RulesOf(shape, submit.job_uuid);
      CHECK(state->Apply(submit, 0) == Ack::kOk);
    }
  };
  Shares shares = RunFirstRounds(bench, "cpu_memory", fill);
  CHECK_EQ(shares.last.placed, bench.range(1));
  shares.Report(&bench);
}
BENCHMARK_CAPTURE(BM_RoundOfPeers, pod_affinity,
                  PeerShape{.demand = PeerShape::Demand::kAffinity})
    ->Args({100, 1000, 1})
    ->Args({5000, 5000, 1})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_RoundOfPeers, pod_anti_affinity,
                  PeerShape{.demand = PeerShape::Demand::kAntiAffinity})
    ->Args({100, 100, 1})
    ->Args({5000, 2000, 1})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_RoundOfPeers, topology_spreading,
                  PeerShape{.demand = PeerShape::Demand::kSpread, .zones = 3})
    ->Args({100, 1000, 1})
    ->Args({5000, 5000, 1})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_RoundOfPeers, namespace_anti_affinity,
                  PeerShape{.demand = PeerShape::Demand::kAntiAffinity,
                            .namespaces = 100})
    ->Args({100, 100, 1})
    ->Args({6000, 2000, 1})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_RoundOfPeers, bridge_affinity,
                  PeerShape{.demand = PeerShape::Demand::kAffinity, .zones = 4})
    ->Args({100, 360, 36})
    ->Args({200, 3600, 36})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_RoundOfPeers, bridge_anti_affinity,
                  PeerShape{.demand = PeerShape::Demand::kAntiAffinity})
    ->Args({100, 360, 36})
    ->Args({200, 3600, 36})
    ->Unit(benchmark::kMillisecond);

// Keeps nothing from one problem to the next.
class ColdSolver final : public Solver {
 public:
  std::string_view name() const override { return "cold"; }
  FlowSolution Solve(const FlowProblem& problem,
                     const SolveLimits& limits) override {
    return solver_->Solve(problem, limits);
  }

 private:
  std::unique_ptr<Solver> solver_ = MakeSolver(kSolver);
};

// Gangs of 3 to 10 tasks, all or none, for whose tasks there is room for three
// quarters.  Arguments: machines, of four slots each; whether the search over
// which gangs go is warm.
void BM_RoundOfGangs(benchmark::State& bench) {
  std::unique_ptr<Solver> base = MakeSolver(kSolver);
  if (bench.range(1) == 0) base = std::make_unique<ColdSolver>();
  const auto fill = [&](ClusterState* state) {
    for (int64_t i = 0; i < bench.range(0); ++i) {
      MachineSpec spec;
      spec.uuid = StrCat("machine-", i);
      spec.name = spec.uuid;
      spec.allocatable = {{"cpu", 4000}, {"pods", 110}};
      spec.capacity = spec.allocatable;
      CHECK(state->Apply(AddMachine{spec}, 0) == Ack::kOk);
    }
    uint64_t uid = 0;
    for (int64_t gang = 0; std::cmp_less(uid * 3, bench.range(0) * 16);
         ++gang) {
      for (int64_t i = 0; i < 3 + gang % 8; ++i) {
        SubmitTask submit;
        submit.uid = {++uid};
        submit.job_uuid = StrCat("job-", gang);
        submit.gang.minimum = Gang::kAllTasks;
        submit.spec.request = {{"cpu", 1000}};
        CHECK(state->Apply(submit, 0) == Ack::kOk);
      }
    }
  };
  Shares shares = RunFirstRounds(bench, "cpu_memory", fill, std::move(base));
  shares.Report(&bench);
}
BENCHMARK(BM_RoundOfGangs)
    ->Args({25, 0})
    ->Args({25, 1})
    ->Args({250, 0})
    ->Args({250, 1})
    ->Args({1000, 0})
    ->Args({1000, 1})
    ->Unit(benchmark::kMillisecond);

// Groups of two jobs, all or none, each of which may have one task in each of
// three zones.  Arguments: machines, of four slots each; groups, of five tasks.
void BM_RoundOfGroups(benchmark::State& bench) {
  const auto fill = [&](ClusterState* state) {
    for (int64_t i = 0; i < bench.range(0); ++i) {
      MachineSpec spec;
      spec.uuid = StrCat("machine-", i);
      spec.name = spec.uuid;
      spec.labels = {{"zone", StrCat("zone-", i % 3)}};
      spec.allocatable = {{"cpu", 4000}, {"pods", 110}};
      spec.capacity = spec.allocatable;
      CHECK(state->Apply(AddMachine{spec}, 0) == Ack::kOk);
    }
    uint64_t uid = 0;
    for (int64_t group = 0; group < bench.range(1); ++group) {
      for (int64_t i = 0; i < 5; ++i) {
        SubmitTask submit;
        submit.uid = {++uid};
        submit.job_uuid = StrCat(i < 3 ? "web-" : "db-", group);
        submit.job_name = submit.job_uuid;
        submit.gang.minimum = Gang::kAllTasks;
        submit.gang.group = StrCat("group-", group);
        submit.spec.request = {{"cpu", 1000}};
        SpreadConstraint one = {.min_domains = SpreadConstraint::kFromEmpty,
                                .honors_node_affinity = false};
        one.term.tasks.labels.emplace();
        one.term.tasks.namespace_labels.emplace();
        one.term.tasks.job = submit.job_name;
        one.term.topology_key = "zone";
        submit.spec.rules.spread = {one};
        CHECK(state->Apply(submit, 0) == Ack::kOk);
      }
    }
  };
  RunFirstRounds(bench, "cpu_memory", fill).Report(&bench);
}
BENCHMARK(BM_RoundOfGroups)
    ->Args({500, 100})
    ->Args({5000, 1000})
    ->Unit(benchmark::kMillisecond);

// Pairs of a task that may run on public machines only, a tenth of all, and one
// of another job that it must share its machine, or its zone, with.
// Arguments: machines, pairs, kinds of machines, whether it is the machine.
void BM_RoundOfPairs(benchmark::State& bench) {
  const std::string topology = bench.range(3) != 0 ? "hostname" : "zone";
  const auto fill = [&](ClusterState* state) {
    for (int64_t i = 0; i < bench.range(0); ++i) {
      MachineSpec spec;
      spec.uuid = StrCat("machine-", i);
      spec.name = spec.uuid;
      spec.allocatable = {{"cpu", 32000},
                          {"memory", 128 * kGib + i % bench.range(2)},
                          {"pods", 110}};
      spec.capacity = spec.allocatable;
      spec.labels = {{"hostname", spec.uuid},
                     {"net", i % 10 == 9 ? "public" : "private"},
                     {"zone", StrCat("zone-", i % 8)}};
      CHECK(state->Apply(AddMachine{spec}, 0) == Ack::kOk);
    }
    for (int64_t i = 0; i < 2 * bench.range(1); ++i) {
      const int64_t pair = i / 2;
      SubmitTask submit;
      submit.uid = {static_cast<uint64_t>(1 + i)};
      submit.job_uuid = StrCat("job-", i);
      submit.spec.task_namespace = "namespace";
      submit.spec.request = {{"cpu", 50 * (1 + pair % 10)},
                             {"memory", kGib / 16 * (1 + pair % 16)}};
      if (i % 2 == 0) {
        submit.spec.rules = {
            .selectors = {LabelIn("net", {"public"})},
            .affinity = {
                {.tasks = {.labels = {{LabelIn("app", {StrCat(pair)})}},
                           .namespaces = {"namespace"}},
                 .topology_key = topology}}};
      } else {
        submit.spec.labels = {{"app", StrCat(pair)}};
      }
      CHECK(state->Apply(submit, 0) == Ack::kOk);
    }
  };
  Shares shares = RunFirstRounds(bench, "cpu_memory", fill);
  shares.Report(&bench);
}
BENCHMARK(BM_RoundOfPairs)
    ->ArgsProduct({{5000}, {1000}, {1, 5000}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

// Hardly two tasks ask for the same.  Arguments: machines, tasks, percent of
// the CPU that they ask for together.
void BM_RoundOfSizes(benchmark::State& bench) {
  const auto fill = [&](ClusterState* state) {
    AddMachines(bench.range(0), /*kinds=*/1, state);
    Rng rng(1);
    const int64_t mean =
        32000 * bench.range(0) * bench.range(2) / (100 * bench.range(1));
    for (int64_t i = 0; i < bench.range(1); ++i) {
      SubmitTask submit;
      submit.uid = {static_cast<uint64_t>(1 + i)};
      submit.job_uuid = StrCat("job-", i % 100);
      submit.spec.request = {
          {"cpu", rng.Between(mean / 4, mean * 7 / 4)},
          {"memory", rng.Between(1, 8 * 1024) * kGib / 1024}};
      CHECK(state->Apply(submit, 0) == Ack::kOk);
    }
  };
  Shares shares = RunFirstRounds(bench, kAllPolicies, fill);
  bench.counters["packings"] = static_cast<double>(shares.last.packings);
  shares.Report(&bench);
}
BENCHMARK(BM_RoundOfSizes)
    ->Args({100, 1150, 160})
    ->Args({1000, 11500, 160})
    ->Args({1000, 21500, 300})
    ->Unit(benchmark::kMillisecond);

// Each task has a priority of its own.  Arguments: machines, tasks, sizes,
// percent of each machine's CPU that they would use if all of them ran.
void BM_RoundOfPriorities(benchmark::State& bench) {
  const auto fill = [&](ClusterState* state) {
    AddMachines(bench.range(0), /*kinds=*/1, state);
    Rng rng(1);
    std::vector<int64_t> cpu;
    std::vector<int64_t> memory;
    int64_t sum = 0;
    for (int64_t i = 0; i < bench.range(2); ++i) {
      cpu.push_back(rng.Between(50, 900));
      memory.push_back(rng.Between(1, 100));
      sum += cpu.back();
    }
    const int64_t wanted = 32000 * bench.range(0) * bench.range(3) / 100;
    const int64_t factor = wanted * bench.range(2) / (sum * bench.range(1));
    std::vector<uint32_t> priorities;
    for (int64_t i = 0; i < bench.range(1); ++i) {
      priorities.push_back(static_cast<uint32_t>(i));
    }
    rng.Shuffle(priorities);
    for (size_t i = 0; i < priorities.size(); ++i) {
      const size_t size = rng.Below(cpu.size());
      SubmitTask submit;
      submit.uid = {1 + i};
      submit.job_uuid = "job";
      submit.spec.priority = priorities[i];
      submit.spec.request = {{"cpu", cpu[size] * factor},
                             {"memory", memory[size] * factor * kGib / 500}};
      CHECK(state->Apply(submit, 0) == Ack::kOk);
    }
  };
  Shares shares = RunFirstRounds(bench, "cpu_memory", fill);
  shares.Report(&bench);
}
BENCHMARK(BM_RoundOfPriorities)
    ->Args({500, 5000, 20, 90})
    ->Args({2000, 20000, 20, 90})
    ->Args({2000, 20000, 200, 100})
    ->Args({2000, 20000, 200, 200})
    ->Unit(benchmark::kMillisecond);

// More urgent tasks come to a cluster that less urgent ones fill, in the shape
// of scheduler_perf's PreemptionBasic: each takes the room of three of the four
// that each machine runs.  Arguments: machines, and as many newcomers; kinds of
// machines.  Counters: victims, nominated, and what the round takes that places
// the newcomers once the victims are gone.
void BM_RoundOfPreemption(benchmark::State& bench) {
  const PolicySet policies = *PolicySet::FromNames(kAllPolicies);
  const ConstraintSet constraints;
  const std::unique_ptr<Solver> base = MakeSolver(kSolver);
  const int64_t machines = bench.range(0);
  const auto submit = [](int64_t first, int64_t count, uint32_t priority,
                         int64_t cpu, ClusterState* state) {
    for (int64_t uid = first; uid < first + count; ++uid) {
      const Command task = Submitted(static_cast<uint64_t>(uid),
                                     {.cpu = cpu,
                                      .memory = kGib / 2,
                                      .priority = priority,
                                      .job = StrCat("job-", uid % 100)});
      CHECK(state->Apply(task, 0) == Ack::kOk);
    }
  };
  Shares shares;
  Shares others;  // The rounds before and after.
  for (auto _ : bench) {
    bench.PauseTiming();
    ClusterState state;
    auto scheduler = std::make_unique<Scheduler>(
        &state, policies, constraints,
        RoundOptions{.preemption = {.mode = Preemption::kPriority}});
    RoundSolver solver(*base);
    for (int64_t i = 0; i < machines; ++i) {
      const MachineOptions options = {.cpu = 4000,
                                      .memory = 32 * kGib + i % bench.range(1)};
      CHECK(state.Apply(Added(StrCat("machine-", i), options), 0) == Ack::kOk);
    }
    submit(1, 4 * machines, /*priority=*/0, /*cpu=*/900, &state);
    RunRound(scheduler.get(), &solver, &others);
    CHECK_EQ(others.last.pending, 0);
    Deliver(&state);
    submit(1 + 4 * machines, machines, /*priority=*/10, /*cpu=*/3000, &state);
    bench.ResumeTiming();
    RunRound(scheduler.get(), &solver, &shares);
    bench.PauseTiming();
    CHECK_EQ(shares.last.nominated, machines);
    CHECK_EQ(shares.last.preempted, 3 * machines) << "no fewer make room";
    for (const ScheduleReply::Entry& entry : Deliver(&state).deltas) {
      CHECK(state.Apply(RemoveTask{entry.uid}, 0) == Ack::kOk);
    }
    RunRound(scheduler.get(), &solver, &others);
    CHECK_EQ(others.last.placed, machines);
    bench.counters["placing_ms"] = others.totals.back();
    scheduler.reset();
    bench.ResumeTiming();
  }
  shares.Report(&bench);
  bench.counters["victims"] = static_cast<double>(shares.last.preempted);
  bench.counters["nominated"] = static_cast<double>(shares.last.nominated);
}
BENCHMARK(BM_RoundOfPreemption)
    ->Args({100, 1})
    ->Args({500, 1})
    ->Args({5000, 1})
    ->Args({5000, 5000})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sluice

BENCHMARK_MAIN();
