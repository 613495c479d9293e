// Whole rounds on tiny clusters against the best of all legal assignments,
// found by trying every one.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/rng.h"
#include "util/cluster_builder.h"
#include "util/seed_count.h"
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

int PlacedByARound(const Instance& instance, const RoundOptions& options) {
  TestScheduler cluster(options);
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

constexpr RoundOptions kNoImprover = {.improve_budget = 0};

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
  for (uint64_t seed = 1; seed <= SeedCount(400); ++seed) {
    const Instance instance = Draw(seed, GetParam(), /*are_tasks_equal=*/true);
    const int most = MostPlaced(instance);
    EXPECT_EQ(PlacedByARound(instance, {}), most) << "seed " << seed;
    EXPECT_EQ(PlacedByARound(instance, kNoImprover), most) << "seed " << seed;
  }
}

// So few tasks are decided on exactly.
TEST_P(PlacementOracle, PlacesAsManyAsCanBeOfMixedSizes) {
  constexpr uint64_t kSeeds = SeedCount(1000);
  int placed = 0;
  int possible = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Instance instance = Draw(seed, GetParam(), /*are_tasks_equal=*/false);
    const int most = MostPlaced(instance);
    EXPECT_EQ(PlacedByARound(instance, {}), most) << "seed " << seed;
    const int by_passes = PlacedByARound(instance, kNoImprover);
    EXPECT_LE(by_passes, most) << "seed " << seed << ": not legal";
    placed += by_passes;
    possible += most;
  }
  RecordProperty("placed_by_passes_per_mille", placed * 1000 / possible);
  EXPECT_GE(placed * 1000, possible * 950);
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
