// What rounds make of policies: each does what it is for.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "base/strings.h"
#include "util/cluster_builder.h"
#include "util/seed_count.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

// Octopus (Firmament, OSDI'16, section 3.3): machines of any size have counts
// that differ by one at most, wherever all of them have room.
TEST(Policies, LoadSpreadingEvensOutCountsWhateverTheSizes) {
  for (uint64_t seed = 1; seed <= SeedCount(200); ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    Rng rng(seed);
    TestScheduler scheduler(RoundOptions(), "load_spreading");
    const int64_t machine_count = rng.Between(1, 8);
    for (int64_t i = 0; i < machine_count; ++i) {
      // Room for every task on each of them.
      scheduler.Apply(
          Added(StrCat("m", i), {.cpu = rng.Between(1, 4) * 1000000}));
    }
    uint64_t uid = 0;
    for (int batch = 0; batch < 3; ++batch) {
      for (int64_t i = rng.Between(0, 30); i > 0; --i) {
        scheduler.Apply(Submitted(
            ++uid, {.cpu = rng.Between(1, 5) * rng.Between(100, 2000)}));
      }
      scheduler.Round();
      int64_t fewest = std::numeric_limits<int64_t>::max();
      int64_t most = 0;
      for (const auto& [id, machine] : scheduler.state().machines()) {
        fewest = std::min(fewest, std::ssize(machine->tasks));
        most = std::max(most, std::ssize(machine->tasks));
      }
      EXPECT_LE(most - fewest, 1);
      EXPECT_EQ(scheduler.state().pending_count(), 0);
    }
    if (testing::Test::HasFailure()) return;
  }
}

int64_t MachinesInUse(const TestScheduler& scheduler) {
  return std::ranges::count_if(
      scheduler.state().machines(),
      [](const auto& entry) { return !entry.second->tasks.empty(); });
}

// Sizes that divide each other fill machines without a rest, so that no more
// are used than all requests together need.
TEST(Policies, BinPackingUsesTheFewestMachines) {
  for (uint64_t seed = 1; seed <= SeedCount(100); ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    Rng rng(seed);
    TestScheduler scheduler(RoundOptions(), "bin_packing");
    for (int i = 0; i < 20; ++i) {
      scheduler.Apply(Added(StrCat("m", i), {.cpu = 8000, .memory = 8000}));
    }
    const int64_t size = int64_t{1000} << rng.Below(3);
    uint64_t uid = 0;
    int64_t asked = 0;
    for (int batch = 0; batch < 3; ++batch) {
      for (int64_t i = rng.Between(1, 12); i > 0; --i) {
        scheduler.Apply(Submitted(++uid, {.cpu = size, .memory = size}));
        asked += size;
      }
      scheduler.Round();
      EXPECT_EQ(scheduler.state().pending_count(), 0);
      EXPECT_EQ(MachinesInUse(scheduler), (asked + 7999) / 8000);
    }
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Policies, BinPackingTakesTheFullestMachineThatHasRoom) {
  TestScheduler scheduler(RoundOptions(), "bin_packing");
  ClusterBuilder()
      .Machine("empty", {.cpu = 8000, .memory = 8000})
      .Machine("half", {.cpu = 8000, .memory = 8000})
      .Machine("full", {.cpu = 8000, .memory = 8000})
      .Task(1, {.cpu = 2000, .memory = 2000})
      .ApplyTo(&scheduler);
  scheduler.Apply(ForeignPod("a/b", "half", {{"cpu", 4000}, {"memory", 4000}}));
  scheduler.Apply(ForeignPod("c/d", "full", {{"cpu", 7000}, {"memory", 7000}}));
  scheduler.Round();
  EXPECT_EQ(scheduler.MachineOf(1), "half");
}

// The counts of a thousand draws among ten machines are near a hundred each,
// and other seeds, but not the same one, give other places.
TEST(Policies, RandomTakesAnyMachine) {
  const auto draw = [](std::string_view policies) {
    std::vector<std::string> places;
    for (int i = 0; i < 100; ++i) {
      TestScheduler scheduler(RoundOptions(), policies);
      for (int m = 0; m < 10; ++m) {
        scheduler.Apply(Added(StrCat("m", i, "-", m), {.cpu = 4000}));
      }
      ClusterBuilder().Tasks(1, 10, {.cpu = 100}).ApplyTo(&scheduler);
      scheduler.Round();
      for (uint64_t uid = 1; uid <= 10; ++uid) {
        places.push_back(scheduler.MachineOf(uid));
      }
    }
    return places;
  };
  const std::vector<std::string> some = draw("random:seed=1");
  std::map<std::string, int> counts;
  for (const std::string& place : some) ++counts[place.substr(place.find('-'))];
  ASSERT_EQ(counts.size(), 10u);
  for (const auto& [machine, count] : counts) {
    EXPECT_GT(count, 50) << machine;
    EXPECT_LT(count, 150) << machine;
  }
  EXPECT_EQ(draw("random:seed=1"), some);
  EXPECT_NE(draw("random:seed=2"), some);
}

TEST(Policies, TrivialAndVoidPlaceWhateverFits) {
  for (const char* policies : {"trivial", "void"}) {
    SCOPED_TRACE(policies);
    TestScheduler scheduler(RoundOptions(), policies);
    ClusterBuilder()
        .Machine("a", {.cpu = 3000})
        .Machine("b", {.cpu = 1000})
        .Tasks(1, 5, {.cpu = 1000})
        .ApplyTo(&scheduler);
    scheduler.Round();
    EXPECT_EQ(scheduler.state().pending_count(), 1);
  }
}

}  // namespace
}  // namespace sluice
