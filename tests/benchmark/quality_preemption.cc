#include "benchmark/quality_preemption.h"

#include <glog/logging.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>

#include "base/strings.h"
#include "benchmark/quality_oracle.h"
#include "util/cluster_builder.h"
#include "util/test_scheduler.h"
#ifdef SLUICE_HAVE_GLPK
#include "benchmark/quality_mip.h"
#endif

namespace sluice {
namespace {

// Of the tasks of one priority, those that ran and go on, by what stopping them
// would cost, and those that waited and are placed or nominated.
struct Level {
  int64_t kept = 0;
  int64_t served = 0;
};
using Levels = std::vector<Level>;  // The most urgent first.

// Of the first so many.
Level Sum(const Levels& levels, size_t count) {
  Level sum;
  for (size_t i = 0; i < count; ++i) {
    sum.kept += levels[i].kept;
    sum.served += levels[i].served;
  }
  return sum;
}

// Why a round is worse than what is best; nothing where it is not.
struct Difference {
  std::string text;
  bool is_about_most_urgent = false;
};

// What runs and what waits before the round.
class Before {
 public:
  explicit Before(const ClusterState& state) {
    for (const auto& [id, task] : state.tasks()) {
      const bool runs = task->state == TaskState::kRunning;
      OfPriority& it = levels_[task->class_key.priority];
      (runs ? it.running : it.waiting).push_back(id);
      if (runs) it.price += StopPrice(*task);
      if (runs && state.FindJob(task->job)->budget.has_value()) {
        least_kept_.try_emplace(task->job, LeastKept(task->job, state));
      }
    }
  }

  // Of all that runs of the first so many levels.
  int64_t PriceOfRunning(size_t level_count) const {
    int64_t price = 0;
    for (const auto& [priority, it] : levels_) {
      if (level_count-- == 0) break;
      price += it.price;
    }
    return price;
  }
  int64_t running_count() const {
    int64_t count = 0;
    for (const auto& [priority, it] : levels_) count += std::ssize(it.running);
    return count;
  }
  int64_t waiting_count() const {
    int64_t count = 0;
    for (const auto& [priority, it] : levels_) count += std::ssize(it.waiting);
    return count;
  }

  Levels LevelsIn(const ClusterState& state) const {
    Levels levels;
    for (const auto& [priority, it] : levels_) {
      const auto is_served = [&](TaskId id) {
        return state.FindTask(id)->state == TaskState::kRunning ||
               state.nominations().Contains(id);
      };
      Level& level = levels.emplace_back();
      for (const TaskId id : it.running) {
        const Task& task = *state.FindTask(id);
        if (!task.is_evicted) level.kept += StopPrice(task);
      }
      level.served = std::ranges::count_if(it.waiting, is_served);
    }
    return levels;
  }

  // Which budget is exceeded; empty where none is.
  std::string WhyOverBudget(const ClusterState& state) const {
    std::map<JobId, int64_t> kept;
    for (const auto& [priority, it] : levels_) {
      for (const TaskId id : it.running) {
        const Task& task = *state.FindTask(id);
        if (!task.is_evicted) ++kept[task.job];
      }
    }
    for (const auto& [job, least] : least_kept_) {
      if (kept[job] < least) return StrCat("job ", job.value);
    }
    return "";
  }

  Difference Compare(const Levels& round, const Levels& best) const {
    size_t level = 0;
    bool is_most_urgent = true;
    for (const auto& [priority, it] : levels_) {
      if (level == best.size()) break;
      const int64_t kept = best[level].kept - round[level].kept;
      const int64_t served = best[level].served - round[level].served;
      ++level;
      // Where the MIP had kept or served fewer it would not know what it says.
      CHECK(kept > 0 || (kept == 0 && served >= 0)) << "the MIP has less";
      if (kept != 0) {
        return {StrCat("stops for ", kept, " more of priority ", priority)};
      }
      if (served != 0) {
        return {StrCat("serves ", served, " fewer of priority ", priority),
                is_most_urgent};
      }
      if (!it.waiting.empty()) is_most_urgent = false;
    }
    return {};
  }

 private:
  struct OfPriority {
    std::vector<TaskId> running;
    std::vector<TaskId> waiting;
    int64_t price = 0;  // Of all that runs.
  };
  std::map<uint32_t, OfPriority, std::greater<>> levels_;
  std::map<JobId, int64_t> least_kept_;  // Of those with a budget.
};

void Load(const std::vector<Command>& commands, TestScheduler* cluster) {
  for (const Command& command : commands) {
    CHECK(cluster->Apply(command) == Ack::kOk);
  }
}

void DeliverAll(TestScheduler* cluster) {
  while (!cluster->Deliver().deltas.empty()) {
  }
}

std::vector<TaskId> FindVictims(const ClusterState& state) {
  std::vector<TaskId> victims;
  for (const auto& [id, task] : state.tasks()) {
    if (task->is_evicted) victims.push_back(id);
  }
  return victims;
}

// Victims each of which could have stayed, with all others gone.  A gang leaves
// as a whole.
int64_t CountNeedless(const ClusterState& state) {
  const std::vector<TaskId> victims = FindVictims(state);
  std::map<MachineId, Resources> left;  // Once they are gone.
  for (const auto& [id, machine] : state.machines()) {
    left[id] = machine->allocatable - machine->used;
  }
  for (const TaskId id : victims) {
    const Task& task = *state.FindTask(id);
    left[task.machine] += task.class_key.request;
  }
  for (const auto& [id, machine] : state.nominations().machines()) {
    left[machine] -= state.FindTask(id)->class_key.request;
  }
  return std::ranges::count_if(victims, [&](TaskId id) {
    const Task& task = *state.FindTask(id);
    const Job& job = *state.FindJob(task.job);
    const bool has_left = job.gang.minimum > 0 && job.running_count == 0;
    return !has_left && task.class_key.request.FitsIn(left.at(task.machine));
  });
}

// As far as a MIP settles it; with the last level all of it.
Levels FindBest(const QualityInput& input, const TestScheduler& cluster,
                double mip_seconds) {
  Levels levels;
#ifdef SLUICE_HAVE_GLPK
  if (!input.has_optimum || mip_seconds <= 0) return {};
  for (const LevelAnswer& level :
       MostPlaced(input, cluster.state(), cluster.constraints(), mip_seconds)) {
    if (level.placed.found != level.placed.bound) break;
    levels.push_back({level.kept.bound, level.placed.bound});
  }
#endif
  return levels;
}

// Ends what was stopped, and says what of that is not served then which was to
// be.  Something more urgent may have taken its place.
std::string WhyBroken(const QualityInput& input, const Before& before,
                      const Levels& promised, TestScheduler* cluster) {
  DeliverAll(cluster);
  for (const TaskId victim : FindVictims(cluster->state())) {
    CHECK(cluster->Apply(Completed(victim.value)) == Ack::kOk);
  }
  cluster->Round();
  CHECK_EQ(WhyIllegal(input, cluster->state()), "") << input.name;
  const Levels levels = before.LevelsIn(cluster->state());
  for (size_t i = 0; i < levels.size(); ++i) {
    const int64_t missing = promised[i].served - levels[i].served;
    if (missing > 0) return StrCat("BROKEN: ", missing, " wait again");
    if (missing < 0) break;
  }
  return "";
}

double Quantile(std::vector<double> values, size_t percent) {
  std::ranges::sort(values);
  return values[(values.size() - 1) * percent / 100];
}

double Seconds() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

PreemptionComparison::PreemptionComparison(double mip_seconds)
    : mip_seconds_(mip_seconds),
      table_(/*is_csv=*/false, {{"input", -22},
                                {"run", 6},
                                {"wait", 6},
                                {"price", 7},
                                {"least", 6},
                                {"served", 6},
                                {"most", 6},
                                {"ms", 7},
                                {"verdict", 0}}) {}

void PreemptionComparison::Add(const QualityInput& input) {
  TestScheduler cluster({.preemption = {.mode = Preemption::kPriority}});
  Load(input.commands, &cluster);
  cluster.Round();
  DeliverAll(&cluster);
  Load(input.newcomers, &cluster);
  const Before before(cluster.state());
  const Levels best = FindBest(input, cluster, mip_seconds_);

  const double start = Seconds();
  cluster.Round();
  const double seconds = Seconds() - start;
  const Levels round = before.LevelsIn(cluster.state());
  const Difference difference = before.Compare(round, best);
  CHECK_EQ(before.WhyOverBudget(cluster.state()), "") << input.name;
  const int64_t needless = CountNeedless(cluster.state());
  std::string verdict = needless > 0
                            ? StrCat("NEEDLESS: ", needless)
                            : WhyBroken(input, before, round, &cluster);
  if (!verdict.empty() || difference.is_about_most_urgent) ++failed_count_;
  if (verdict.empty()) verdict = difference.text;

  const Level sum = Sum(round, round.size());
  const Level sum_of_best = Sum(best, best.size());
  const bool is_settled = best.size() == round.size();
  const auto price = [&](const Level& level) {
    return before.PriceOfRunning(round.size()) - level.kept;
  };
  table_.Print({input.name, StrCat(before.running_count()),
                StrCat(before.waiting_count()), StrCat(price(sum)),
                is_settled ? StrCat(price(sum_of_best)) : "",
                StrCat(sum.served),
                is_settled ? StrCat(sum_of_best.served) : "",
                Decimals(1000 * seconds, 1), verdict});

  if (families_.empty() || families_.back().first != input.family) {
    families_.emplace_back(input.family, FamilySum());
  }
  FamilySum& family = families_.back().second;
  const Level settled = Sum(round, best.size());
  ++family.cluster_count;
  if (!difference.text.empty()) ++family.differing_count;
  family.level_count += std::ssize(round);
  family.settled_count += std::ssize(best);
  const int64_t running = before.PriceOfRunning(best.size());
  family.price += running - settled.kept;
  family.price_least += running - sum_of_best.kept;
  family.served += settled.served;
  family.served_most += sum_of_best.served;
  family.seconds.push_back(seconds);
}

void PreemptionComparison::PrintFamilies() const {
  if (families_.empty()) return;
  std::printf("\n");
  const Table table(/*is_csv=*/false, {{"family", -22},
                                       {"clusters", 8},
                                       {"differ", 6},
                                       {"levels", 6},
                                       {"settled", 7},
                                       {"price", 7},
                                       {"least", 6},
                                       {"served", 6},
                                       {"most", 6},
                                       {"ms p50", 7},
                                       {"ms p90", 7}});
  for (const auto& [name, it] : families_) {
    table.Print({name, StrCat(it.cluster_count), StrCat(it.differing_count),
                 StrCat(it.level_count), StrCat(it.settled_count),
                 StrCat(it.price), StrCat(it.price_least), StrCat(it.served),
                 StrCat(it.served_most),
                 Decimals(1000 * Quantile(it.seconds, 50), 1),
                 Decimals(1000 * Quantile(it.seconds, 90), 1)});
  }
}

bool PreemptionComparison::fails() const {
  int64_t price = 0;
  int64_t price_least = 0;
  for (const auto& [name, it] : families_) {
    price += it.price;
    price_least += it.price_least;
  }
  const int64_t more_max = std::max<int64_t>(price_least * 2 / 100, 1);
  return failed_count_ > 0 || price > price_least + more_max;
}

}  // namespace sluice
