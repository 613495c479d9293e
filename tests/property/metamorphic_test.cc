// Changes of a cluster that must not change what a round makes of it.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/rng.h"
#include "util/cluster_builder.h"
#include "util/seed_count.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

// A cluster that is asked for about twice what it has.
struct World {
  std::vector<AddMachine> machines;
  std::vector<SubmitTask> tasks;
  RoundOptions options;
};

World Draw(uint64_t seed, int64_t improve_budget) {
  Rng rng(seed);
  World world;
  world.options.improve_budget = improve_budget;
  for (int i = 0; i < 8; ++i) {
    world.machines.push_back(
        Added(StrCat("m", i), {.cpu = rng.Between(2, 20) * 100,
                               .memory = rng.Between(2, 20) * 100,
                               .pods = rng.Between(1, 12)}));
  }
  std::vector<TaskOptions> classes;
  for (int i = 0; i < 6; ++i) {
    classes.push_back({.cpu = rng.Between(1, 9) * 100,
                       .memory = rng.Between(1, 9) * 100,
                       .priority = static_cast<uint32_t>(rng.Below(2))});
  }
  for (uint64_t uid = 1; uid <= 40; ++uid) {
    TaskOptions options = classes[rng.Below(classes.size())];
    options.job = StrCat("job-", rng.Below(4));
    world.tasks.push_back(Submitted(uid, options));
  }
  return world;
}

// The machine of each task by the order of submission, "" where it waits.
std::vector<std::string> Schedule(const World& world) {
  TestScheduler cluster(world.options);
  for (const AddMachine& machine : world.machines) cluster.Apply(machine);
  for (const SubmitTask& task : world.tasks) cluster.Apply(task);
  cluster.Round();
  std::vector<std::string> machines;
  for (const SubmitTask& task : world.tasks) {
    machines.push_back(cluster.MachineOf(task.uid.value));
  }
  return machines;
}

int64_t PlacedOf(const std::vector<std::string>& machines) {
  return std::ranges::count_if(machines,
                               [](const auto& uuid) { return !uuid.empty(); });
}

// With the improver and without.
class Metamorphic
    : public testing::TestWithParam<std::tuple<uint64_t, int64_t>> {
 protected:
  const World world_ = Draw(std::get<0>(GetParam()), std::get<1>(GetParam()));
};

TEST_P(Metamorphic, AUselessMachineChangesNothing) {
  World more = world_;
  more.machines.insert(more.machines.begin(),
                       Added("useless", {.cpu = 99, .memory = 9999}));
  more.machines.push_back(Added("podless", {.cpu = 9999, .pods = 0}));
  more.machines.push_back(
      Added("quarantined", {.cpu = 9999, .quarantine_reason = "no"}));
  EXPECT_EQ(PlacedOf(Schedule(more)), PlacedOf(Schedule(world_)));
}

TEST_P(Metamorphic, ATaskThatFitsNowhereChangesNothing) {
  World more = world_;
  for (uint64_t uid = 1001; uid <= 1005; ++uid) {
    more.tasks.push_back(Submitted(uid, {.cpu = 100000, .priority = 1}));
    more.tasks.push_back(Submitted(
        uid + 1000, {.extended = {{"example.com/rare", 1}}, .priority = 9}));
  }
  std::vector<std::string> machines = Schedule(more);
  machines.resize(world_.tasks.size());
  EXPECT_EQ(machines, Schedule(world_));
}

TEST_P(Metamorphic, OtherUidsPlaceTheSame) {
  World renumbered = world_;
  for (SubmitTask& task : renumbered.tasks) {
    task.uid.value = ~task.uid.value * 0x9e3779b97f4a7c15;
  }
  EXPECT_EQ(Schedule(renumbered), Schedule(world_));
}

TEST_P(Metamorphic, OtherNamesPlaceTheSame) {
  World renamed = world_;
  std::map<std::string, std::string> names;
  for (AddMachine& machine : renamed.machines) {
    const std::string name = StrCat("host ", 100 - names.size());
    names[name] = machine.spec.uuid;
    machine.spec.uuid = name;
  }
  for (SubmitTask& task : renamed.tasks) task.job_uuid += "!";
  std::vector<std::string> machines = Schedule(renamed);
  for (std::string& machine : machines) machine = names[machine];
  EXPECT_EQ(machines, Schedule(world_));
}

// More room never means that fewer tasks run, when each asks for the same.
TEST_P(Metamorphic, AnotherMachineNeverHurtsEqualTasks) {
  World equal = world_;
  for (SubmitTask& task : equal.tasks) {
    task.spec.request = world_.tasks[0].spec.request;
    task.spec.priority = 0;
  }
  World more = equal;
  more.machines.push_back(Added("another", {.cpu = 1000, .memory = 1000}));
  EXPECT_GE(PlacedOf(Schedule(more)), PlacedOf(Schedule(equal)));
}

TEST_P(Metamorphic, ASecondRoundFindsNothingLeftToDo) {
  TestScheduler cluster(world_.options);
  for (const AddMachine& machine : world_.machines) cluster.Apply(machine);
  for (const SubmitTask& task : world_.tasks) cluster.Apply(task);
  EXPECT_GT(cluster.Round().placed, 0);
  cluster.Deliver();
  EXPECT_EQ(cluster.Round().placed, 0);
  EXPECT_EQ(cluster.scheduler().round_stats().passes, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Seeds, Metamorphic,
    testing::Combine(testing::Range<uint64_t>(1, 1 + SeedCount(60)),
                     testing::Values(0, RoundOptions().improve_budget)));

}  // namespace
}  // namespace sluice
