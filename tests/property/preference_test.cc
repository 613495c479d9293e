// Where machines differ in nothing but what tasks prefer, the preferred ones
// are full before a task goes to another.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/rng.h"
#include "util/cluster_builder.h"
#include "util/seed_count.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

PlacementRules Prefers(int32_t weight, const std::string& disk) {
  return {.preferred = {{weight, {.labels = {LabelIn("disk", {disk})}}}}};
}

// `count` machines of either disk.
void AddMachines(int64_t count, const MachineOptions& size,
                 TestScheduler* cluster) {
  for (const std::string disk : {"hdd", "ssd"}) {
    for (int64_t i = 0; i < count; ++i) {
      MachineOptions options = size;
      options.labels = {{"disk", disk}};
      cluster->Apply(Added(StrCat(disk, i), options));
    }
  }
}

bool IsOnSsd(const TestScheduler& cluster, uint64_t uid) {
  return cluster.MachineOf(uid).starts_with("ssd");
}

TEST(Preference, FillsThePreferredMachinesWithTasksThatAreAlike) {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    Rng rng(seed);
    TestScheduler cluster;
    const int64_t machines = rng.Between(1, 6);
    const int64_t cpu = rng.Between(100, 4000);
    AddMachines(machines, {.cpu = cpu, .pods = rng.Between(1, 30)}, &cluster);
    const int64_t request = rng.Between(1, cpu);
    const auto weight = static_cast<int32_t>(rng.Between(1, 100));
    const int64_t tasks = rng.Between(1, 80);
    for (int64_t uid = 1; uid <= tasks; ++uid) {
      cluster.Apply(
          Submitted(static_cast<uint64_t>(uid),
                    {.cpu = request, .rules = Prefers(weight, "ssd")}));
    }
    cluster.Round();
    const Machine& machine = *cluster.state().FindMachine("ssd0");
    const int64_t room =
        machines * std::min(cpu / request, machine.allocatable[kPods]);
    int64_t on_ssd = 0;
    for (int64_t uid = 1; uid <= tasks; ++uid) {
      on_ssd += IsOnSsd(cluster, static_cast<uint64_t>(uid));
    }
    EXPECT_EQ(on_ssd, std::min(tasks, room));
  }
}

// Tasks of all sizes, some with a preference, some of which the machines' own
// (a taint to be avoided if possible).
TEST(Preference, LeavesNoRoomWhereATaskWouldRatherBe) {
  int64_t happy = 0;
  int64_t unsettled = 0;
  for (uint64_t seed = 1; seed <= SeedCount(250); ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    Rng rng(seed);
    TestScheduler cluster;
    AddMachines(rng.Between(1, 6), {.cpu = 4000, .memory = 4000}, &cluster);
    const uint64_t tasks = 1 + rng.Below(60);
    for (uint64_t uid = 1; uid <= tasks; ++uid) {
      TaskOptions options{.cpu = rng.Between(0, 15) * 100,
                          .memory = rng.Between(0, 15) * 100};
      if (rng.Chance(3, 4)) {
        options.rules =
            Prefers(static_cast<int32_t>(rng.Between(1, 100)), "ssd");
      }
      cluster.Apply(Submitted(uid, options));
    }
    cluster.Round();
    for (uint64_t uid = 1; uid <= tasks; ++uid) {
      const Task& task = cluster.TaskOf(uid);
      if (task.class_key.rules->preferred.empty()) continue;
      if (task.state != TaskState::kRunning || IsOnSsd(cluster, uid)) {
        ++happy;
        continue;
      }
      unsettled += std::ranges::any_of(
          cluster.state().machines(), [&](const auto& entry) {
            const Machine& machine = *entry.second;
            return machine.uuid.starts_with("ssd") &&
                   task.class_key.request.FitsIn(machine.Free());
          });
    }
  }
  EXPECT_GT(happy, static_cast<int64_t>(10 * SeedCount(250)));
  EXPECT_EQ(unsettled, 0);
}

// The smallest weight is worth more than the best balance.
TEST(Preference, OutweighsLoad) {
  TestScheduler cluster;
  AddMachines(1, {.cpu = 4000, .memory = 4000}, &cluster);
  cluster.Apply(ForeignPod("pod/ns", "ssd0", {{"cpu", 3900}, {"memory", 1}}));
  cluster.Apply(Submitted(1, {.cpu = 100, .rules = Prefers(1, "ssd")}));
  cluster.Round();
  EXPECT_EQ(cluster.MachineOf(1), "ssd0");
}

TEST(Preference, NeverOutweighsFit) {
  TestScheduler cluster;
  AddMachines(1, {.cpu = 1000, .memory = 1000}, &cluster);
  for (uint64_t uid = 1; uid <= 4; ++uid) {
    cluster.Apply(Submitted(uid, {.cpu = 500, .rules = Prefers(100, "ssd")}));
  }
  cluster.Round();
  EXPECT_EQ(cluster.state().pending_count(), 0);
}

}  // namespace
}  // namespace sluice
