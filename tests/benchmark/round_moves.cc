// Rounds that move what runs, in a cluster of which a part changes each round.
//
// Machines of 16 cores and 64 GiB in ten pools, a tenth of them tainted.  Tasks
// are of a hundred classes, twelve on a machine where it is full, in fifteen
// jobs each: half of the classes may run in half of the pools only, all prefer
// two pools, one by more than the other, a tenth tolerates the taint, and a
// fifth is more urgent than the others.  Each round half of the changes are
// tasks that leave, whichever, and half are new ones; whoever was told to move
// has gone by the next round, and a successor has come.

#include <benchmark/benchmark.h>
#include <glog/logging.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/rng.h"
#include "base/strings.h"
#include "benchmark/timed_rounds.h"
#include "constraints/constraint_set.h"
#include "cost/policy_set.h"
#include "round/scheduler.h"
#include "solver/registry.h"
#include "util/cluster_builder.h"
#include "util/rules_builder.h"

namespace sluice {
namespace {

constexpr int64_t kPools = 10;
constexpr int64_t kJobsOfClass = 15;
constexpr int64_t kCpu = 16000;
constexpr int64_t kMemory = 64 * kGib;

std::string PoolName(int64_t pool) { return StrCat("pool-", pool % kPools); }

std::vector<TaskOptions> DrawClasses(int64_t count, Rng* rng) {
  std::vector<TaskOptions> classes;
  for (int64_t i = 0; i < count; ++i) {
    TaskOptions& options = classes.emplace_back();
    options.cpu = rng->Between(1, 24) * 100;
    options.memory = rng->Between(2, 19) * kGib / 2;
    options.priority = i % 5 == 0 ? 10 : 0;
    options.owner = {"ReplicaSet", StrCat(i)};
    const int64_t first = rng->Between(0, kPools - 1);
    const int64_t second = first + rng->Between(1, 4);
    const auto in_pool = [](int64_t pool, int32_t weight) {
      return PreferredTerm{
          .weight = weight,
          .term = {.labels = {LabelIn("pool", {PoolName(pool)})}}};
    };
    options.rules.preferred = {in_pool(first, 60), in_pool(second, 25)};
    if (i % 2 == 0) {
      std::vector<std::string> pools;
      for (int64_t k = 0; k < kPools / 2; ++k) {
        pools.push_back(PoolName(first + k));
      }
      std::ranges::sort(pools);
      options.rules.selectors = {LabelIn("pool", pools)};
    }
    if (i % 10 == 3) {
      options.rules.tolerations = {
          {.key = "dedicated", .op = TolerationOperator::kExists}};
    }
  }
  return classes;
}

class ChangingCluster {
 public:
  ChangingCluster(int64_t machines, int64_t classes, Preemption mode,
                  int64_t improve_budget, const PolicySet& policies)
      : policies_(policies),
        scheduler_(
            &state_, policies, constraints_,
            RoundOptions{.improve_budget = improve_budget,
                         .preemption = {.mode = mode,
                                        .moves = {.percent_per_hour = 100,
                                                  .min_run_ms = 0}}}),
        classes_(DrawClasses(classes, &rng_)),
        machines_(machines) {
    for (int64_t i = 0; i < machines; ++i) {
      MachineOptions options = {
          .cpu = kCpu, .memory = kMemory, .labels = {{"pool", PoolName(i)}}};
      if (i % 100 < 10) options.taints = {NoSchedule("dedicated")};
      Apply(Added(StrCat("machine-", i), options));
    }
  }

  // Until what there is asks for so much of the CPU.
  void Fill(int64_t percent) {
    int64_t wanted = machines_ * kCpu / 100 * percent;
    while (wanted > 0) wanted -= SubmitOne();
  }
  void Change(int64_t count) {
    for (int64_t i = 0; i < count / 2; ++i) {
      const size_t index = rng_.Below(tasks_.size());
      Remove(index);
      SubmitOne();
    }
  }
  void Round(RoundSolver* solver, Shares* shares) {
    now_ms_ += 10'000;
    RunRound(&scheduler_, solver, shares, now_ms_);
  }
  // Whoever is to move goes, and another comes.
  void FollowReply() {
    for (const ScheduleReply::Entry& entry : Deliver(&state_).deltas) {
      if (entry.type == DeltaType::kPlace) continue;
      const size_t index = index_of_.at(entry.uid.value);
      const Running former = tasks_[index];
      Remove(index);
      Submit(former.of_class, former.job);
    }
  }
  const ClusterState& state() const { return scheduler_.state(); }
  // In cost points, of a task that runs, by what it prefers.
  double MeanPreferenceCost() const {
    int64_t cost = 0;
    int64_t count = 0;
    for (const auto& [id, task] : state().tasks()) {
      if (task->state != TaskState::kRunning) continue;
      cost += policies_.PreferenceCost(*task->class_key.rules,
                                       *state().FindMachine(task->machine));
      ++count;
    }
    return static_cast<double>(cost) / static_cast<double>(count);
  }
  size_t task_count() const { return tasks_.size(); }

 private:
  void Apply(const Command& command) {
    CHECK(state_.Apply(command, now_ms_) == Ack::kOk);
  }
  struct Running {
    uint64_t uid = 0;
    size_t of_class = 0;
    int64_t job = 0;  // Of the class.
  };
  // Return the CPU that it asks for.
  int64_t SubmitOne() {
    return Submit(rng_.Below(classes_.size()),
                  rng_.Between(0, kJobsOfClass - 1));
  }
  int64_t Submit(size_t of_class, int64_t job) {
    const uint64_t uid = ++last_uid_;
    TaskOptions options = classes_[of_class];
    options.job = StrCat("job-", of_class, "-", job);
    index_of_[uid] = tasks_.size();
    tasks_.push_back({uid, of_class, job});
    Apply(Submitted(uid, options));
    return options.cpu;
  }
  void Remove(size_t index) {
    const uint64_t uid = tasks_[index].uid;
    Apply(RemoveTask{{uid}});
    tasks_[index] = tasks_.back();
    index_of_[tasks_[index].uid] = index;
    tasks_.pop_back();
    index_of_.erase(uid);
  }

  const PolicySet& policies_;
  const ConstraintSet constraints_;
  ClusterState state_;
  Scheduler scheduler_;
  Rng rng_{1};
  std::vector<TaskOptions> classes_;
  const int64_t machines_;
  std::vector<Running> tasks_;
  absl::flat_hash_map<uint64_t, size_t> index_of_;
  uint64_t last_uid_ = 0;
  int64_t now_ms_ = 0;
};

// Arguments: machines, changes a round, load in per cent of the CPU, and the
// mode of preemption: 0, 1 and 2 are off, priority and full, and the budget for
// doing better, in millions.  Counters: what moves a round, and what waits
// after the last and what the others cost then, in the mean.
void BM_RoundOfMoves(benchmark::State& bench) {
  const PolicySet policies = *PolicySet::FromNames(kDefaultCostModels);
  const std::unique_ptr<Solver> base = MakeSolver("automatic");
  RoundSolver solver(*base);
  ChangingCluster cluster(bench.range(0), /*classes=*/100,
                          static_cast<Preemption>(bench.range(3)),
                          bench.range(4) * 1'000'000, policies);
  cluster.Fill(bench.range(2));
  Shares shares;
  cluster.Round(&solver, &shares);
  cluster.FollowReply();
  bench.counters["first_ms"] = shares.totals.front();
  shares = Shares();
  int64_t moved = 0;
  for (auto _ : bench) {
    bench.PauseTiming();
    cluster.Change(bench.range(1));
    bench.ResumeTiming();
    cluster.Round(&solver, &shares);
    bench.PauseTiming();
    moved += shares.last.moved;
    cluster.FollowReply();
    bench.ResumeTiming();
  }
  bench.counters["tasks"] = static_cast<double>(cluster.task_count());
  bench.counters["waiting"] =
      static_cast<double>(cluster.state().pending_count());
  bench.counters["mean_cost"] = cluster.MeanPreferenceCost();
  bench.counters["moved"] =
      static_cast<double>(moved) / static_cast<double>(bench.iterations());
  shares.Report(&bench);
}
BENCHMARK(BM_RoundOfMoves)
    ->Args({100, 10, 85, 2, 30})
    ->ArgsProduct({{12500}, {1000}, {85, 95}, {0, 1, 2}, {5, 30}})
    ->Iterations(30)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sluice
