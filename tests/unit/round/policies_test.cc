// What rounds make of policies: each does what it is for.

#include <gmock/gmock.h>
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
#include "util/rules_builder.h"
#include "util/seed_count.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::Pair;

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

// The rack that is used the least, although a machine of the other is empty.
TEST(Policies, DomainSpreadingGoesByTheWholeRack) {
  for (const char* policies : {"cpu_memory", "cpu_memory,domain_spreading",
                               "cpu_memory,domain_spreading:label=row"}) {
    TestScheduler scheduler(RoundOptions(), policies);
    for (const char* host : {"a1", "a2", "b1", "b2"}) {
      scheduler.Apply(
          Added(host, {.cpu = 8000,
                       .memory = 8000,
                       .labels = {{"host", host}, {"rack", {host[0]}}}}));
    }
    const auto fill = [&](uint64_t uid, const char* host, int64_t amount) {
      scheduler.Apply(
          Submitted(uid, {.cpu = amount,
                          .memory = amount,
                          .rules = {.selectors = {LabelIn("host", {host})}}}));
    };
    fill(1, "a1", 2000);
    fill(2, "a2", 2000);
    fill(3, "b1", 8000);
    scheduler.Round();
    scheduler.Deliver();
    scheduler.Apply(Submitted(4, {.cpu = 100, .memory = 100}));
    scheduler.Round();
    EXPECT_EQ(scheduler.MachineOf(4)[0],
              std::string_view(policies).ends_with("spreading") ? 'a' : 'b')
        << policies;
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

// Quincy (SOSP'09, section 4.2): a task goes to its data, and elsewhere once
// waiting for it has cost more: first within the rack, then anywhere.
TEST(Policies, QuincyWaitsForTheDataUntilTheWaitCostsMore) {
  constexpr int64_t kGib = int64_t{1} << 30;
  TestScheduler scheduler(RoundOptions(), "cpu_memory,quincy");
  for (const char* name : {"here", "near", "far"}) {
    const char* rack = std::string_view(name) == "far" ? "s" : "r";
    scheduler.Apply(Added(name, {.cpu = 1000, .labels = {{"rack", rack}}}));
  }
  const auto pinned = [](const char* name) {
    return PlacementRules{.selectors = {},
                          .required = {{.fields = {NameIs(name)}}}};
  };
  scheduler.Apply(Submitted(1, {.cpu = 1000, .rules = pinned("here")}));
  scheduler.Apply(Submitted(2, {.cpu = 1000, .rules = pinned("near")}));
  scheduler.Round(0);
  PlacementRules reads;
  reads.data = {.bytes = 10 * kGib,
                .on_machines = {{"here", 10 * kGib}},
                .in_racks = {{"r", 10 * kGib}}};
  scheduler.Apply(Submitted(3, {.cpu = 1000, .rules = reads}), 1000);
  scheduler.Round(1000);
  EXPECT_EQ(scheduler.state().pending_count(), 1);
  // From another rack 10 GiB cost as much as 40 s.
  scheduler.Round(40'999);
  EXPECT_EQ(scheduler.state().pending_count(), 1);
  scheduler.Round(41'000);
  EXPECT_EQ(scheduler.MachineOf(3), "far");
  // Within the rack as much as 20 s.
  scheduler.Apply(Submitted(4, {.cpu = 1000, .rules = reads}), 50'000);
  scheduler.Apply(Removed(2));
  scheduler.Round(69'999);
  EXPECT_EQ(scheduler.state().pending_count(), 1);
  scheduler.Round(70'000);
  EXPECT_EQ(scheduler.MachineOf(4), "near");
  // At once where the data is.
  scheduler.Apply(Submitted(5, {.cpu = 1000, .rules = reads}), 80'000);
  scheduler.Apply(Removed(1));
  scheduler.Round(80'000);
  EXPECT_EQ(scheduler.MachineOf(5), "here");
}

// Whare-Map (ISCA'13): once enough runs of a kind of work are known, it goes to
// the type of machines that runs it faster, though the load says otherwise, and
// another kind goes elsewhere.
TEST(Policies, WhareMapSendsWorkWhereItsKindRunsFaster) {
  TestScheduler scheduler(RoundOptions(), "cpu_memory,whare_map:samples=3");
  constexpr char kType[] = "node.kubernetes.io/instance-type";
  ClusterBuilder()
      .Machine("small",
               {.cpu = 9000, .memory = 1, .labels = {{kType, "small"}}})
      .Machine("large",
               {.cpu = 64000, .memory = 1, .labels = {{kType, "large"}}})
      .ApplyTo(&scheduler);
  scheduler.Apply(ForeignPod("other/pod", "small", {{"cpu", 1000}}));
  uint64_t uid = 0;
  // Where it goes; it takes half as long where it likes it.
  const auto run = [&](const char* binary, std::string_view liked,
                       PlacementRules rules) {
    scheduler.Apply(
        Submitted(++uid, {.cpu = 1000, .rules = rules, .binary = binary}));
    scheduler.Round();
    scheduler.Deliver();
    const std::string machine = scheduler.MachineOf(uid);
    const int64_t run_ms = machine == liked ? 1000 : 2000;
    scheduler.Apply(CompleteTask{{uid}, run_ms, 2'000'000'000});
    scheduler.Apply(Removed(uid));
    return machine;
  };
  const PlacementRules on_small = {.required = {{.fields = {NameIs("small")}}}};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(run("/bin/web", "small", {}), "large") << "the less loaded";
    EXPECT_EQ(run("/bin/sort", "large", {}), "large");
    EXPECT_EQ(run("/bin/web", "small", on_small), "small");
    EXPECT_EQ(run("/bin/sort", "large", on_small), "small");
  }
  EXPECT_EQ(run("/bin/web", "small", {}), "small");
  EXPECT_EQ(run("/bin/sort", "large", {}), "large");
  EXPECT_EQ(run("/bin/new", "small", {}), "large");
  // In one batch, too, as many as have room.
  for (uint64_t i = 0; i < 9; ++i) {
    scheduler.Apply(Submitted(100 + i, {.cpu = 1000, .binary = "/bin/web"}));
  }
  scheduler.Round();
  EXPECT_EQ(scheduler.state().FindMachine("small")->tasks.size(), 8u);
  EXPECT_EQ(scheduler.state().FindMachine("large")->tasks.size(), 1u);
  // A type of which nothing is known is tried.
  scheduler.Apply(
      Added("new", {.cpu = 128000, .memory = 1, .labels = {{kType, "new"}}}));
  EXPECT_EQ(run("/bin/sort", "large", {}), "new");
}

// CoCo (Firmament, OSDI'16, section 6.1): where each can have a machine without
// one that it minds more, it has.  Of one batch, and of many.
TEST(Policies, CocoPartsThoseWhoMindEachOther) {
  for (const bool is_one_batch : {true, false}) {
    TestScheduler scheduler(RoundOptions(), "coco,cpu_memory,pod_affinity");
    for (int i = 0; i < 4; ++i) {
      scheduler.Apply(Added(StrCat("m", i), {.cpu = 8000, .memory = 8000}));
    }
    uint64_t uid = 0;
    for (int i = 0; i < 4; ++i) {
      for (const char* kind : {"rabbit", "devil", "turtle"}) {
        scheduler.Apply(
            Submitted(++uid, {.cpu = 100, .labels = {{"taskType", kind}}}));
        if (!is_one_batch) scheduler.Round();
      }
    }
    if (is_one_batch) scheduler.Round();
    for (const auto& [id, machine] : scheduler.state().machines()) {
      int rabbits = 0;
      int devils = 0;
      for (const TaskId task : machine->tasks) {
        const TaskKind kind =
            *scheduler.state().FindTask(task)->class_key.rules->kind;
        rabbits += kind == TaskKind::kRabbit ? 1 : 0;
        devils += kind == TaskKind::kDevil ? 1 : 0;
      }
      EXPECT_TRUE(rabbits == 0 || devils == 0)
          << rabbits << " rabbits and " << devils << " devils on "
          << machine->uuid << (is_one_batch ? ", of one batch" : "");
    }
  }
}

// Nobody states what kind they are.  Beside each other two tasks of which
// nothing is known, sheep, mind 5 + 5, and each a turtle 1 + 5.  So they share
// the large machine, rather than to be beside both turtles, until reports tell
// that their work misses the cache: devils mind each other 20 + 20.
TEST(Policies, CocoPartsDevilsThatReportsTell) {
  TestScheduler scheduler(RoundOptions(),
                          "coco:samples=4,cpu_memory,pod_affinity");
  scheduler.Apply(Added("large", {.cpu = 64000, .memory = 1}));
  scheduler.Apply(Added("small", {.cpu = 8000, .memory = 1}));
  const PlacementRules on_small = {.required = {{.fields = {NameIs("small")}}}};
  for (const uint64_t turtle : {1, 2}) {
    scheduler.Apply(Submitted(
        turtle,
        {.cpu = 1000, .labels = {{"taskType", "turtle"}}, .rules = on_small}));
  }
  scheduler.Round();
  // Where two of a kind of work go, one after the other.
  const auto run_two = [&](const char* binary, const CacheUse& use) {
    for (const uint64_t uid : {3, 4}) {
      scheduler.Apply(Submitted(uid, {.cpu = 1000, .binary = binary}));
      scheduler.Round();
      scheduler.Deliver();
    }
    std::vector<std::string> machines = {scheduler.MachineOf(3),
                                         scheduler.MachineOf(4)};
    for (const uint64_t uid : {3, 4}) {
      scheduler.Apply(CompleteTask{.uid = {uid}, .cache = use});
      scheduler.Apply(Removed(uid));
    }
    return machines;
  };
  const CacheUse scans = {.references = 40'000, .misses = 30'000};
  const CacheUse computes = {.references = 5'000, .misses = 1'000};
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(run_two("/bin/scan", scans), ElementsAre("large", "large"));
    EXPECT_THAT(run_two("/bin/prove", computes), ElementsAre("large", "large"));
  }
  EXPECT_THAT(run_two("/bin/scan", scans), ElementsAre("large", "small"));
  EXPECT_THAT(run_two("/bin/prove", computes), ElementsAre("large", "large"));
  EXPECT_THAT(run_two("/bin/new", scans), ElementsAre("large", "large"));
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

// Bandwidth both ways, as much as `most` at most; now and then none.
NamedAmounts DrawBandwidth(Rng* rng, int64_t most) {
  NamedAmounts amounts;
  for (const char* name : {kNetRx, kNetTx}) {
    if (rng->Chance(3, 4)) amounts.emplace_back(name, rng->Between(1, most));
  }
  return amounts;
}

// A sample of one machine, whose links may be said to be more than full.
void ReportLinks(const Machine& machine, int64_t now_ms, Rng* rng,
                 TestScheduler* scheduler) {
  scheduler->Apply(ReportMachineUsage{machine.uuid,
                                      {.net_rx_kb = rng->Between(0, 1500),
                                       .net_tx_kb = rng->Between(0, 1500)}},
                   now_ms);
}

// No link has more than it takes, and nothing waits that some machine has room
// for.
void ExpectLinksInOrder(const ClusterState& state) {
  for (const auto& [id, machine] : state.machines()) {
    EXPECT_TRUE(machine->used.FitsIn(machine->allocatable)) << machine->uuid;
    for (const TaskId waiting : state.unscheduled()) {
      EXPECT_FALSE(
          state.FindTask(waiting)->class_key.request.FitsIn(machine->Free()))
          << "task " << waiting.value << " fits on " << machine->uuid;
    }
  }
}

// Firmament, OSDI'16, figure 6c.
TEST(Policies, NetworkAwareNeverOversubscribesALinkAndLeavesNoneIdle) {
  for (uint64_t seed = 1; seed <= SeedCount(60); ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    Rng rng(seed);
    TestScheduler scheduler({.improve_budget = DrawImproveBudget(&rng)},
                            "network_aware");
    for (int64_t i = rng.Between(1, 8); i > 0; --i) {
      scheduler.Apply(
          Added(StrCat("m", i),
                {.cpu = 100000, .extended = DrawBandwidth(&rng, 1000)}));
    }
    uint64_t uid = 0;
    for (int64_t round = 1; round <= 5; ++round) {
      for (int64_t i = rng.Between(0, 20); i > 0; --i) {
        scheduler.Apply(Submitted(
            ++uid, {.cpu = 10, .extended = DrawBandwidth(&rng, 300)}));
      }
      for (const auto& [id, machine] : scheduler.state().machines()) {
        if (rng.Chance(1, 2)) {
          ReportLinks(*machine, round * 200'000, &rng, &scheduler);
        }
      }
      scheduler.Round(round * 200'000);
      ExpectLinksInOrder(scheduler.state());
      for (uint64_t ended = 1; ended <= uid; ++ended) {
        if (scheduler.state().FindTask({ended}) == nullptr) continue;
        if (rng.Chance(1, 4)) scheduler.Apply(Removed(ended));
      }
    }
    if (testing::Test::HasFailure()) return;
  }
}

// Tasks alike, machines that nothing but their samples tells apart.
TEST(Policies, NetworkAwareFillsTheLinksThatAreMeasuredToBeEmptiest) {
  TestScheduler scheduler(RoundOptions(), "network_aware");
  for (int i = 0; i < 4; ++i) {
    scheduler.Apply(
        Added(StrCat("m", i), {.extended = {{kNetRx, 1000}, {kNetTx, 1000}}}));
    scheduler.Apply(ReportMachineUsage{
        StrCat("m", i), {.net_rx_kb = 250 * i, .net_tx_kb = 250 * i}});
  }
  for (uint64_t uid = 1; uid <= 6; ++uid) {
    scheduler.Apply(
        Submitted(uid, {.extended = {{kNetRx, 250}, {kNetTx, 250}}}));
  }
  scheduler.Round();
  std::map<std::string, int> counts;
  for (uint64_t uid = 1; uid <= 6; ++uid) ++counts[scheduler.MachineOf(uid)];
  // Each link is full to the same height, as far as this can be had.
  EXPECT_THAT(counts, ElementsAre(Pair("m0", 3), Pair("m1", 2), Pair("m2", 1)));
}

}  // namespace
}  // namespace sluice
