// Whole rounds on tiny clusters whose tasks would rather be near each other, or
// apart, against the best of all assignments, found by trying every one.

#include <gtest/gtest.h>

#include <algorithm>
#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "util/cluster_builder.h"
#include "util/peer_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

// About the tasks of one app that run on the same machine, or in its zone.
struct Wish {
  std::string app;
  bool is_by_zone = false;
  int32_t weight = 0;
};

struct WishingTask {
  int64_t cpu = 0;
  std::string app;
  std::vector<Wish> wishes;
};

struct Instance {
  std::vector<int64_t> free;  // By machine; the odd ones are of one zone.
  std::vector<WishingTask> tasks;
};

// By task.
using Assignment = std::vector<std::optional<size_t>>;

struct Worth {
  int64_t placed = 0;
  int64_t weight = 0;

  friend auto operator<=>(const Worth&, const Worth&) = default;
};

Worth WorthOf(const Instance& instance, const Assignment& machines) {
  Worth worth;
  for (size_t t = 0; t < machines.size(); ++t) {
    if (!machines[t].has_value()) continue;
    ++worth.placed;
    for (const Wish& wish : instance.tasks[t].wishes) {
      for (size_t u = 0; u < machines.size(); ++u) {
        if (u == t || !machines[u].has_value() ||
            instance.tasks[u].app != wish.app) {
          continue;
        }
        const bool is_near = wish.is_by_zone
                                 ? *machines[u] % 2 == *machines[t] % 2
                                 : *machines[u] == *machines[t];
        worth.weight += is_near ? wish.weight : 0;
      }
    }
  }
  return worth;
}

void TryAll(const Instance& instance, std::vector<int64_t>* free,
            Assignment* machines, Worth* best) {
  const size_t next = machines->size();
  if (next == instance.tasks.size()) {
    *best = std::max(*best, WorthOf(instance, *machines));
    return;
  }
  machines->push_back(std::nullopt);
  TryAll(instance, free, machines, best);
  for (size_t m = 0; m < free->size(); ++m) {
    if ((*free)[m] < instance.tasks[next].cpu) continue;
    (*free)[m] -= instance.tasks[next].cpu;
    machines->back() = m;
    TryAll(instance, free, machines, best);
    (*free)[m] += instance.tasks[next].cpu;
  }
  machines->pop_back();
}

Instance Draw(uint64_t seed) {
  Rng rng(seed);
  const std::vector<std::string> apps = {"cache", "db", "web"};
  Instance instance;
  for (int64_t i = rng.Between(2, 4); i > 0; --i) {
    instance.free.push_back(rng.Between(100, 400));
  }
  for (int64_t i = rng.Between(2, 5); i > 0; --i) {
    WishingTask& task = instance.tasks.emplace_back();
    task.cpu = rng.Between(50, 200);
    task.app = apps[rng.Below(3)];
    for (int64_t wishes = rng.Between(0, 2); wishes > 0; --wishes) {
      // Whole tens: no load outweighs one.
      const auto weight = static_cast<int32_t>(10 * rng.Between(1, 10));
      task.wishes.push_back({.app = apps[rng.Below(3)],
                             .is_by_zone = rng.Chance(1, 2),
                             .weight = rng.Chance(1, 3) ? -weight : weight});
    }
  }
  return instance;
}

Worth WorthOfARound(const Instance& instance) {
  TestScheduler cluster;
  for (size_t i = 0; i < instance.free.size(); ++i) {
    cluster.Apply(Added(StrCat("m", i),
                        {.cpu = instance.free[i],
                         .labels = {{"zone", i % 2 == 1 ? "odd" : "even"}}}));
  }
  for (size_t t = 0; t < instance.tasks.size(); ++t) {
    const WishingTask& task = instance.tasks[t];
    PlacementRules rules;
    for (const Wish& wish : task.wishes) {
      rules.preferred_peers.push_back(
          {.weight = wish.weight,
           .term = {App(wish.app), wish.is_by_zone ? "zone" : ""}});
    }
    cluster.Apply(Submitted(
        t + 1, {.cpu = task.cpu, .labels = {{"app", task.app}}, .rules = rules},
        {}));
  }
  cluster.Round();
  Assignment machines;
  for (size_t t = 0; t < instance.tasks.size(); ++t) {
    const std::string name = cluster.MachineOf(t + 1);
    machines.push_back(name.empty()
                           ? std::nullopt
                           : std::optional(std::stoul(name.substr(1))));
  }
  return WorthOf(instance, machines);
}

TEST(PeerPreference, IsMetAsFarAsAnyAssignmentOfTheMostTasksDoes) {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    const Instance instance = Draw(seed);
    std::vector<int64_t> free = instance.free;
    Assignment machines;
    Worth best;
    TryAll(instance, &free, &machines, &best);
    const Worth worth = WorthOfARound(instance);
    EXPECT_EQ(worth.placed, best.placed) << "seed " << seed;
    EXPECT_EQ(worth.weight, best.weight) << "seed " << seed;
  }
}

}  // namespace
}  // namespace sluice
