// Many priorities, of which rounds place together what they can: whatever they
// do, nothing waits for what is less urgent.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "base/rng.h"
#include "round/context/round_stats.h"
#include "util/cluster_builder.h"
#include "util/peer_builder.h"
#include "util/seed_count.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

// More than have passes of their own anyway.
constexpr int64_t kPrioritiesMin = 13;
constexpr uint64_t kFirstBoundUid = 1000;

struct Cluster {
  uint64_t seed = 0;
  bool has_bound_tasks = false;

  // The tasks from kFirstBoundUid on are bound to others.
  void ApplyTo(TestScheduler* cluster) const {
    Rng rng(seed);
    const int64_t machines = rng.Between(1, 12);
    for (int64_t i = 0; i < machines; ++i) {
      cluster->Apply(Added(StrCat("m", i), {.cpu = rng.Between(5, 40) * 100,
                                            .memory = rng.Between(5, 40) * 100,
                                            .pods = rng.Between(2, 20)}));
    }
    const int64_t priorities = rng.Between(kPrioritiesMin, 80);
    const int64_t sizes = rng.Between(1, 15);
    const auto priority = [&] {
      return static_cast<uint32_t>(rng.Between(0, priorities));
    };
    const uint64_t tasks = 20 + rng.Below(150);
    for (uint64_t uid = 1; uid <= tasks; ++uid) {
      cluster->Apply(Submitted(uid, {.cpu = rng.Between(1, sizes) * 100,
                                     .memory = rng.Between(0, sizes) * 100,
                                     .priority = priority()}));
    }
    if (!has_bound_tasks) return;
    PlacementRules apart;
    apart.anti_affinity = {{TasksOfJob("apart"), ""}};
    for (uint64_t uid = kFirstBoundUid; uid < kFirstBoundUid + 10; ++uid) {
      cluster->Apply(Submitted(uid, {.cpu = rng.Between(1, sizes) * 100,
                                     .priority = priority(),
                                     .job = "apart",
                                     .rules = apart}));
      const int64_t gang = rng.Between(1, 3);
      cluster->Apply(Submitted(uid + 100,
                               {.cpu = rng.Between(1, sizes) * 100,
                                .priority = static_cast<uint32_t>(gang * 5),
                                .job = StrCat("gang", gang)},
                               {.gang = {.minimum = Gang::kAllTasks}}));
    }
  }
};

// A task that waits although it would fit on a machine if nothing less urgent
// ran there, or "".
std::string FindInversion(const ClusterState& state) {
  for (const auto& [key, tasks] : state.pending()) {
    if (key.IsBound()) continue;
    for (const auto& [id, machine] : state.machines()) {
      Resources free = machine->Free();
      for (const TaskId task : machine->tasks) {
        const ClassKey& other = state.FindTask(task)->class_key;
        if (other.priority < key.priority) free += other.request;
      }
      if (key.request.FitsIn(free)) {
        return StrCat("task ", tasks.begin()->second->id.value, " waits for ",
                      machine->uuid);
      }
    }
  }
  return "";
}

std::map<uint32_t, int64_t, std::greater<>> WaitingByPriority(
    const ClusterState& state) {
  std::map<uint32_t, int64_t, std::greater<>> waiting;
  for (const auto& [key, tasks] : state.pending()) {
    waiting[key.priority] += std::ssize(tasks);
  }
  return waiting;
}

TEST(Priorities, NothingWaitsForWhatIsLessUrgent) {
  for (uint64_t seed = 1; seed <= SeedCount(300); ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    Rng rng(seed);
    const bool has_bound_tasks = rng.Chance(1, 2);
    TestScheduler cluster({.improve_budget = DrawImproveBudget(&rng)});
    Cluster{.seed = seed, .has_bound_tasks = has_bound_tasks}.ApplyTo(&cluster);
    cluster.Round();
    EXPECT_EQ(FindContradiction(cluster.state()), "");
    EXPECT_EQ(FindInversion(cluster.state()), "");
  }
}

// Whether the first priority that is served differently is served worse is a
// matter of luck: in all, it must not be.
TEST(Priorities, AreServedAsWellAsOneAfterTheOther) {
  int64_t better = 0;
  int64_t worse = 0;
  for (uint64_t seed = 1; seed <= SeedCount(600); ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    // Any bound on a round's work has each priority decided on by itself.
    TestScheduler one_by_one(
        {.arcs_max = std::numeric_limits<int64_t>::max(), .improve_budget = 0});
    TestScheduler together({.improve_budget = 0});
    const Cluster cluster = {.seed = seed, .has_bound_tasks = seed % 2 == 0};
    cluster.ApplyTo(&one_by_one);
    cluster.ApplyTo(&together);
    one_by_one.Round();
    together.Round();
    const auto before = WaitingByPriority(one_by_one.state());
    const auto now = WaitingByPriority(together.state());
    // Of the first priority that differs, negative where fewer wait.
    int64_t difference = 0;
    for (uint32_t priority = 100; priority-- > 0 && difference == 0;) {
      const auto count = [&](const auto& waiting) {
        const auto it = waiting.find(priority);
        return it == waiting.end() ? 0 : it->second;
      };
      difference = count(now) - count(before);
    }
    better += difference < 0;
    worse += difference > 0;
  }
  EXPECT_LE(worse, better);
  EXPECT_GT(better, 0);
  RecordProperty("better", static_cast<int>(better));
  RecordProperty("worse", static_cast<int>(worse));
}

}  // namespace
}  // namespace sluice
