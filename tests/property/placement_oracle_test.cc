// Whole rounds on tiny clusters against the best of all legal assignments,
// found by trying every one.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/rng.h"
#include "util/cluster_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

struct Size {
  int64_t cpu = 0;
  int64_t memory = 0;
};

struct Instance {
  std::vector<Size> machines;
  std::vector<Size> tasks;
};

// The most tasks, from `next` on, that fit into what is free.
int MostPlaced(const Instance& instance, std::vector<Size>* free, size_t next) {
  if (next == instance.tasks.size()) return 0;
  const Size& task = instance.tasks[next];
  int most = MostPlaced(instance, free, next + 1);
  for (Size& machine : *free) {
    if (machine.cpu < task.cpu || machine.memory < task.memory) continue;
    machine.cpu -= task.cpu;
    machine.memory -= task.memory;
    most = std::max(most, 1 + MostPlaced(instance, free, next + 1));
    machine.cpu += task.cpu;
    machine.memory += task.memory;
  }
  return most;
}

int MostPlaced(const Instance& instance) {
  std::vector<Size> free = instance.machines;
  return MostPlaced(instance, &free, 0);
}

int PlacedByARound(const Instance& instance) {
  TestScheduler cluster;
  for (size_t i = 0; i < instance.machines.size(); ++i) {
    cluster.Apply(
        Added(StrCat("m", i), {.cpu = instance.machines[i].cpu,
                               .memory = instance.machines[i].memory}));
  }
  for (size_t i = 0; i < instance.tasks.size(); ++i) {
    cluster.Apply(Submitted(i + 1, {.cpu = instance.tasks[i].cpu,
                                    .memory = instance.tasks[i].memory}));
  }
  return static_cast<int>(cluster.Round().placed);
}

enum class Dimensions { kCpu, kCpuAndMemory };

Size DrawSize(Rng* rng, Dimensions dimensions, int64_t most) {
  return {.cpu = rng->Between(1, most),
          .memory = dimensions == Dimensions::kCpu ? 0 : rng->Between(1, most)};
}

Instance Draw(uint64_t seed, Dimensions dimensions, bool are_tasks_equal) {
  Rng rng(seed);
  Instance instance;
  for (int64_t i = rng.Between(1, 4); i > 0; --i) {
    instance.machines.push_back(DrawSize(&rng, dimensions, 20));
  }
  const Size task = DrawSize(&rng, dimensions, 10);
  for (int64_t i = rng.Between(1, 6); i > 0; --i) {
    instance.tasks.push_back(are_tasks_equal ? task
                                             : DrawSize(&rng, dimensions, 10));
  }
  return instance;
}

class PlacementOracle : public testing::TestWithParam<Dimensions> {};

TEST_P(PlacementOracle, PlacesAsManyAsCanBeWhereAllTasksAreEqual) {
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    const Instance instance = Draw(seed, GetParam(), /*are_tasks_equal=*/true);
    EXPECT_EQ(PlacedByARound(instance), MostPlaced(instance))
        << "seed " << seed;
  }
}

// Packing mixed sizes is hard; the floors are what a round reaches by design.
TEST_P(PlacementOracle, PlacesNearlyAsManyAsCanBeOfMixedSizes) {
  constexpr int kSeeds = 1000;
  int optimal = 0;
  int placed = 0;
  int possible = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Instance instance = Draw(seed, GetParam(), /*are_tasks_equal=*/false);
    const int by_round = PlacedByARound(instance);
    const int most = MostPlaced(instance);
    EXPECT_LE(by_round, most) << "seed " << seed << ": not legal";
    EXPECT_GE(by_round, most - 1) << "seed " << seed;
    optimal += by_round == most;
    placed += by_round;
    possible += most;
  }
  RecordProperty("optimal_per_mille", optimal * 1000 / kSeeds);
  RecordProperty("placed_per_mille", placed * 1000 / possible);
  EXPECT_GE(optimal, kSeeds * 95 / 100);
  EXPECT_GE(placed, possible * 98 / 100);
}

INSTANTIATE_TEST_SUITE_P(Clusters, PlacementOracle,
                         testing::Values(Dimensions::kCpu,
                                         Dimensions::kCpuAndMemory),
                         [](const auto& dimensions) {
                           return dimensions.param == Dimensions::kCpu
                                      ? "Cpu"
                                      : "CpuAndMemory";
                         });

}  // namespace
}  // namespace sluice
