// Rounds with gangs on tiny clusters against the best of all legal placements,
// found by trying every one.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <ostream>
#include <string>
#include <vector>

#include "base/rng.h"
#include "network/band_network.h"
#include "property/gang_shapes.h"
#include "util/seed_count.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

// The tasks of a job are alike; each takes `size` slots of a machine.
struct JobPlan {
  int64_t tasks = 0;
  int64_t minimum = 0;  // Of a gang; 0 where the tasks are on their own.
  Shape shape = Shape::kAny;
  int64_t size = 1;
};

struct Instance {
  struct Machine {
    int64_t slots = 0;
    int64_t zone = 0;
  };
  std::vector<Machine> machines;
  std::vector<JobPlan> jobs;
};

std::ostream& operator<<(std::ostream& out, const Instance& instance) {
  for (const auto& [slots, zone] : instance.machines) {
    out << slots << " slots in zone " << zone << "; ";
  }
  for (const auto& [tasks, minimum, shape, size] : instance.jobs) {
    out << minimum << " of " << tasks << " tasks of size " << size << ", shape "
        << static_cast<int>(shape) << "; ";
  }
  return out;
}

using Counts = std::vector<int64_t>;  // Tasks of a job by machine.

int64_t Sum(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), int64_t{0});
}

bool IsLegal(const Instance& instance, const JobPlan& job,
             const Counts& counts) {
  const int64_t sum = Sum(counts);
  if (sum != 0 && sum < job.minimum) return false;
  std::map<int64_t, int64_t> of_zone;
  for (size_t m = 0; m < counts.size(); ++m) {
    of_zone[instance.machines[m].zone] += counts[m];
  }
  Counts zones;
  for (const auto& [zone, count] : of_zone) zones.push_back(count);
  const auto [least, most] = std::ranges::minmax(zones);
  switch (job.shape) {
    case Shape::kAny:
      return true;
    case Shape::kOneAMachine:
      return std::ranges::max(counts) <= 1;
    case Shape::kOneAZone:
      return most <= 1;
    case Shape::kSameMachine:
      return std::ranges::max(counts) == sum;
    case Shape::kSameZone:
      return most == sum;
    case Shape::kEvenOverZones:
      return most - least <= 1;
  }
  return false;
}

// All that is legal for the job alone, the most tasks first.
std::vector<Counts> Placements(const Instance& instance, const JobPlan& job) {
  std::vector<Counts> placements;
  Counts counts(instance.machines.size(), 0);
  const std::function<void(size_t, int64_t)> fill = [&](size_t m,
                                                        int64_t left) {
    if (m == counts.size()) {
      if (IsLegal(instance, job, counts)) placements.push_back(counts);
      return;
    }
    const int64_t most = std::min(left, instance.machines[m].slots / job.size);
    for (counts[m] = 0; counts[m] <= most; ++counts[m]) {
      fill(m + 1, left - counts[m]);
    }
    counts[m] = 0;
  };
  fill(0, job.tasks);
  std::ranges::stable_sort(placements, std::ranges::greater{}, Sum);
  return placements;
}

// How many tasks are placed, and what the placements cost by the load of the
// machines, one after the other, the largest first.
struct Outcome {
  int64_t placed = 0;
  FlowCost cost = 0;

  bool operator==(const Outcome&) const = default;
  bool IsBetterThan(const Outcome& other) const {
    return placed != other.placed ? placed > other.placed : cost < other.cost;
  }
};

std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
  return out << outcome.placed << " placed for " << outcome.cost;
}

// What a task costs on each machine where so many slots are used, by so many
// tasks.
using CostTable = std::vector<std::vector<std::vector<FlowCost>>>;

// `counts` are by job, then machine.
// What it is worth to a task that another must be near it and is.
constexpr FlowCost kPairWorth = 3000 * kPartsPerPoint;

FlowCost CostOf(const Instance& instance, const CostTable& costs,
                const std::vector<const Counts*>& counts) {
  std::vector<size_t> jobs(instance.jobs.size());
  std::iota(jobs.begin(), jobs.end(), size_t{0});
  std::ranges::sort(jobs, std::ranges::greater{},
                    [&](size_t j) { return instance.jobs[j].size; });
  FlowCost cost = 0;
  for (size_t m = 0; m < instance.machines.size(); ++m) {
    int64_t used = 0;
    size_t tasks = 0;
    for (const size_t j : jobs) {
      for (int64_t i = (*counts[j])[m]; i > 0; --i) {
        cost += costs[m][static_cast<size_t>(used)][tasks++];
        used += instance.jobs[j].size;
      }
    }
  }
  for (const size_t j : jobs) {
    const Shape shape = instance.jobs[j].shape;
    if (shape != Shape::kSameMachine && shape != Shape::kSameZone) continue;
    const int64_t tasks = Sum(*counts[j]);
    cost -= tasks * (tasks - 1) / 2 * kPairWorth;
  }
  return cost;
}

Outcome Best(const Instance& instance, const CostTable& costs) {
  std::vector<std::vector<Counts>> placements;
  for (const JobPlan& job : instance.jobs) {
    placements.push_back(Placements(instance, job));
  }
  Counts used(instance.machines.size(), 0);
  std::vector<const Counts*> chosen(placements.size());
  Outcome best;
  const std::function<void(size_t, int64_t)> try_job = [&](size_t j,
                                                           int64_t placed) {
    int64_t hope = placed;
    for (size_t i = j; i < placements.size(); ++i) {
      hope += Sum(placements[i].front());
    }
    if (hope < best.placed) return;
    if (j == placements.size()) {
      const Outcome outcome = {placed, CostOf(instance, costs, chosen)};
      if (outcome.IsBetterThan(best)) best = outcome;
      return;
    }
    const int64_t size = instance.jobs[j].size;
    for (const Counts& counts : placements[j]) {
      chosen[j] = &counts;
      bool fits = true;
      for (size_t m = 0; m < used.size(); ++m) {
        used[m] += counts[m] * size;
        fits = fits && used[m] <= instance.machines[m].slots;
      }
      if (fits) try_job(j + 1, placed + Sum(counts));
      for (size_t m = 0; m < used.size(); ++m) used[m] -= counts[m] * size;
    }
  };
  try_job(0, 0);
  return best;
}

CostTable CostsOf(const TestScheduler& cluster, const Instance& instance) {
  CostTable costs;
  for (size_t m = 0; m < instance.machines.size(); ++m) {
    const Machine& machine = *cluster.state().FindMachine(StrCat("m", m));
    std::vector<std::vector<FlowCost>>& of_machine = costs.emplace_back();
    for (int64_t used = 0; used < instance.machines[m].slots; ++used) {
      std::vector<FlowCost>& of_load = of_machine.emplace_back();
      for (int64_t tasks = 0; tasks <= used; ++tasks) {
        of_load.push_back(LoadArcCost(cluster.policies(), machine,
                                      Resources(100 * used, 0, 0, tasks)));
      }
    }
  }
  return costs;
}

struct Comparison {
  Outcome round;
  Outcome best;
};

// Checks that what the round places is legal.
Comparison RunRound(const Instance& instance) {
  // What a job's tasks wish comes before load, which is what is optimal here.
  TestScheduler cluster(
      RoundOptions(),
      "cpu_memory,node_affinity,pod_affinity,taint,topology_spread");
  for (size_t m = 0; m < instance.machines.size(); ++m) {
    const auto& [slots, zone] = instance.machines[m];
    const std::string uuid = StrCat("m", m);
    cluster.Apply(Added(uuid, {.cpu = slots * 100,
                               .labels = {{"kubernetes.io/hostname", uuid},
                                          {"zone", StrCat(zone)}}}));
  }
  uint64_t uid = 0;
  std::map<uint64_t, size_t> job_of;
  for (size_t j = 0; j < instance.jobs.size(); ++j) {
    const JobPlan& job = instance.jobs[j];
    const std::string name = StrCat("job-", j);
    for (int64_t i = 0; i < job.tasks; ++i) {
      job_of[++uid] = j;
      const auto minimum = job.minimum == job.tasks
                               ? Gang::kAllTasks
                               : static_cast<uint64_t>(job.minimum);
      cluster.Apply(Submitted(uid,
                              {.cpu = 100 * job.size,
                               .job = name,
                               .labels = {{"app", name}},
                               .rules = RulesFor(job.shape, name)},
                              {.gang = {.minimum = minimum}}));
    }
  }
  const CostTable costs = CostsOf(cluster, instance);
  Comparison comparison;
  comparison.best = Best(instance, costs);
  comparison.round.placed = cluster.Round().placed;
  std::vector<Counts> counts(instance.jobs.size(),
                             Counts(instance.machines.size(), 0));
  for (const auto& [task, j] : job_of) {
    const std::string machine = cluster.MachineOf(task);
    if (!machine.empty()) ++counts[j][std::stoul(machine.substr(1))];
  }
  for (size_t j = 0; j < instance.jobs.size(); ++j) {
    EXPECT_TRUE(IsLegal(instance, instance.jobs[j], counts[j]))
        << "job " << j << " of " << instance;
  }
  std::vector<const Counts*> by_job;
  for (const Counts& of_job : counts) by_job.push_back(&of_job);
  comparison.round.cost = CostOf(instance, costs, by_job);
  return comparison;
}

enum class Family {
  kPlain,           // Gangs and single tasks of no shape.
  kOneGangOfShape,  // One gang of any shape beside single tasks.
  kAllOfShape,      // Jobs of any shape.
  kOfAnySize,       // Jobs of any shape, their tasks of any size.
};

Instance Draw(uint64_t seed, Family family) {
  const bool has_sizes = family == Family::kOfAnySize;
  const bool has_shapes = family == Family::kAllOfShape || has_sizes;
  Rng rng(seed);
  Instance instance;
  for (int64_t i = rng.Between(1, 4); i > 0; --i) {
    instance.machines.push_back(
        {has_sizes ? rng.Between(2, 6) : rng.Between(1, 3), rng.Between(0, 2)});
  }
  const auto add = [&](int64_t tasks, int64_t minimum, bool has_shape) {
    const Shape shape = has_shape ? DrawShape(&rng) : Shape::kAny;
    const int64_t size = has_sizes ? rng.Between(1, 3) : 1;
    instance.jobs.push_back({tasks, minimum, shape, size});
  };
  const int64_t gangs =
      family == Family::kOneGangOfShape ? 1 : rng.Between(1, 3);
  for (int64_t i = gangs; i > 0; --i) {
    const int64_t tasks = rng.Between(1, 4);
    add(tasks, rng.Between(1, tasks), family != Family::kPlain);
  }
  if (rng.Chance(2, 3)) add(rng.Between(1, 3), 0, has_shapes);
  rng.Shuffle(instance.jobs);
  return instance;
}

TEST(GangOptimum, PlacesTheMostTasksThatCanBeAtTheLeastCost) {
  for (const Family family : {Family::kPlain, Family::kOneGangOfShape,
                              Family::kAllOfShape, Family::kOfAnySize}) {
    for (uint64_t seed = 1; seed <= SeedCount(3000); ++seed) {
      const Instance instance = Draw(seed, family);
      const auto [round, best] = RunRound(instance);
      ASSERT_EQ(round, best) << "family " << static_cast<int>(family)
                             << ", seed " << seed << ": " << instance;
    }
  }
}

// Thirty machines, asked for nearly twice what they have by gangs and single
// tasks of five sizes: too large to try every way.  Without exchanges 26 % of
// the gangs start, and 52 % of the tasks.
TEST(GangOptimum, StartsGangsAmongTasksOfOtherSizes) {
  int64_t tasks = 0;
  int64_t placed = 0;
  int64_t gangs = 0;
  int64_t started = 0;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Rng rng(seed);
    TestScheduler cluster;
    for (int m = 0; m < 30; ++m) {
      cluster.Apply(Added(StrCat("m", m), {.cpu = 100 * rng.Between(4, 12)}));
    }
    std::vector<uint64_t> first_of_gang;
    for (int j = 0; j < 30; ++j) {
      const int64_t count = rng.Between(1, 12);
      const int64_t cpu = 100 * rng.Between(1, 5);
      const uint64_t minimum = rng.Chance(1, 2) ? Gang::kAllTasks : 0;
      if (minimum > 0) {
        first_of_gang.push_back(static_cast<uint64_t>(tasks) + 1);
      }
      for (int64_t i = 0; i < count; ++i) {
        cluster.Apply(Submitted(static_cast<uint64_t>(++tasks),
                                {.cpu = cpu, .job = StrCat("job-", j)},
                                {.gang = {.minimum = minimum}}));
      }
    }
    placed += cluster.Round().placed;
    gangs += std::ssize(first_of_gang);
    started += std::ranges::count_if(first_of_gang, [&](uint64_t uid) {
      return !cluster.MachineOf(uid).empty();
    });
  }
  EXPECT_GE(placed * 100, tasks * 58);
  EXPECT_GE(started * 100, gangs * 53);
}

}  // namespace
}  // namespace sluice
