#include "network/machine_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "util/cluster_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> Names(const MachineGroup& group) {
  std::vector<std::string> names;
  for (const Machine* machine : group.machines) names.push_back(machine->name);
  return names;
}

std::vector<std::vector<std::string>> NamesByGroup(TestScheduler* cluster) {
  std::vector<std::vector<std::string>> names;
  for (const MachineGroup& group :
       GroupMachines(cluster->state(), cluster->eligibility())) {
    names.push_back(Names(group));
  }
  return names;
}

TEST(GroupMachines, HasNoGroupsWithoutMachines) {
  TestScheduler cluster;
  EXPECT_THAT(NamesByGroup(&cluster), IsEmpty());
}

TEST(GroupMachines, PutsEqualMachinesTogetherInTheOrderOfTheirIds) {
  TestScheduler cluster;
  ClusterBuilder()
      .Machine("a", {.cpu = 1})
      .Machine("b", {.cpu = 2})
      .Machine("c", {.cpu = 1})
      .Machine("d", {.cpu = 1, .labels = {{"zone", "z"}}})
      .ApplyTo(&cluster);
  EXPECT_THAT(NamesByGroup(&cluster),
              ElementsAre(ElementsAre("a", "c", "d"), ElementsAre("b")));
}

TEST(GroupMachines, TellsMachinesApartByEitherOfTwoParts) {
  TestScheduler cluster;
  ClusterBuilder()
      .Machine("a", {.cpu = 1})
      .Machine("b", {.cpu = 1})
      .Machine("c", {.cpu = 1})
      .Machine("d", {.cpu = 1})
      .Machine("e", {.cpu = 1})
      .ApplyTo(&cluster);
  const auto id = [&](const char* uuid) {
    return cluster.state().FindMachine(uuid)->id;
  };
  const MachineParts one({{id("a"), 1}, {id("b"), 1}});
  const MachineParts other({{id("b"), 1}, {id("c"), 1}});
  std::vector<std::vector<std::string>> names;
  for (const MachineGroup& group :
       GroupMachines(cluster.state(), cluster.eligibility(), {one, other})) {
    names.push_back(Names(group));
  }
  EXPECT_THAT(names, ElementsAre(ElementsAre("a"), ElementsAre("b"),
                                 ElementsAre("c"), ElementsAre("d", "e")));
}

TEST(GroupMachines, SaysWhatIsFreeOnEachMachine) {
  TestScheduler cluster;
  ClusterBuilder()
      .Machine("a", {.cpu = 3})
      .Machine("b", {.cpu = 3})
      .ApplyTo(&cluster);
  for (const char* machine : {"a", "b"}) {
    cluster.Apply(ForeignPod(StrCat("pod/", machine), machine, {{"cpu", 1}}));
  }
  const std::vector<MachineGroup> groups =
      GroupMachines(cluster.state(), cluster.eligibility());
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].free, groups[0].machines[1]->Free());
  EXPECT_EQ(groups[0].free[kCpu], 2);
}

TEST(GroupMachines, CanBePartedIntoSingleMachines) {
  TestScheduler cluster;
  ClusterBuilder()
      .Machine("a", {.cpu = 1})
      .Machine("b", {.cpu = 2})
      .Machine("c", {.cpu = 1})
      .ApplyTo(&cluster);
  std::vector<MachineGroup> groups =
      GroupMachines(cluster.state(), cluster.eligibility());
  groups[0].room = {3};
  std::vector<std::vector<std::string>> names;
  for (const MachineGroup& group : PartGroups(groups)) {
    names.push_back(Names(group));
    EXPECT_EQ(group.room.empty(), names.back()[0] == "b");
    EXPECT_EQ(group.free, group.representative().Free());
  }
  EXPECT_THAT(
      names, ElementsAre(ElementsAre("a"), ElementsAre("b"), ElementsAre("c")));
}

TEST(GroupMachines, TellsApartWhatIsReclaimed) {
  TestScheduler cluster;
  cluster.mutable_state().measured_use().SetOptions(
      {.is_on = true, .samples = 1, .floor_percent = 0});
  ClusterBuilder()
      .Machine("a", {.cpu = 1000})
      .Machine("b", {.cpu = 1000})
      .Machine("c", {.cpu = 1000})
      .Tasks(1, 3, {.cpu = 1000})
      .ApplyTo(&cluster);
  cluster.Round();
  for (const char* machine : {"a", "b"}) {
    cluster.Apply(
        ReportMachineUsage{machine, {.cpu_ppm = 600'000, .memory_ppm = 0}},
        1000);
  }
  EXPECT_THAT(NamesByGroup(&cluster),
              ElementsAre(ElementsAre("a", "b"), ElementsAre("c")));
}

TEST(GroupMachines, TellsApartWhatIsOfferedAndWhatIsUsed) {
  TestScheduler cluster;
  ClusterBuilder()
      .Machine("plain", {.cpu = 9})
      .Machine("reserved", {.cpu = 9, .capacity = {{"cpu", 10}, {"pods", 110}}})
      .Machine("gpu", {.cpu = 9, .extended = {{"gpu", 1}}})
      .Machine("loaded", {.cpu = 9})
      .Machine("too", {.cpu = 9})
      .ApplyTo(&cluster);
  cluster.Apply(ForeignPod("pod/ns", "loaded", {{"cpu", 1}}));
  EXPECT_THAT(NamesByGroup(&cluster),
              ElementsAre(ElementsAre("plain", "too"), ElementsAre("reserved"),
                          ElementsAre("gpu"), ElementsAre("loaded")));
}

TEST(GroupMachines, TellsApartWhatRulesTellApart) {
  TestScheduler cluster;
  ClusterBuilder()
      .Machine("a", {.cpu = 1, .labels = {{"disk", "ssd"}, {"host", "a"}}})
      .Machine("b", {.cpu = 1, .labels = {{"disk", "hdd"}, {"host", "b"}}})
      .Machine("c", {.cpu = 1, .labels = {{"disk", "ssd"}, {"host", "c"}}})
      .ApplyTo(&cluster);
  EXPECT_THAT(NamesByGroup(&cluster), ElementsAre(ElementsAre("a", "b", "c")));
  SubmitTask submit = Submitted(1);
  submit.spec.rules.selectors = {{"disk", LabelOperator::kIn, {"ssd"}}};
  cluster.Apply(submit);
  EXPECT_THAT(NamesByGroup(&cluster),
              ElementsAre(ElementsAre("a", "c"), ElementsAre("b")));
}

TEST(GroupMachines, LeavesOutWhatIsNotUsable) {
  TestScheduler cluster;
  ClusterBuilder()
      .Machine("quarantined", {.cpu = 1, .quarantine_reason = "no"})
      .Machine("gone", {.cpu = 1})
      .Machine("good", {.cpu = 1})
      .ApplyTo(&cluster);
  cluster.Apply(Removed("gone"));
  EXPECT_THAT(NamesByGroup(&cluster), ElementsAre(ElementsAre("good")));
}

// One keeps room for a successor, which looks like less to whoever comes.
TEST(GroupMachines, TellsApartWhatKeepsRoom) {
  TestScheduler cluster;
  ClusterBuilder()
      .Machine("from", {.cpu = 2})
      .Machine("a", {.cpu = 3})
      .Machine("b", {.cpu = 3})
      .ApplyTo(&cluster);
  cluster.Apply(Submitted(2, {.cpu = 2}));
  cluster.mutable_state().Nominate({2}, cluster.state().FindMachine("a")->id);
  EXPECT_THAT(
      NamesByGroup(&cluster),
      ElementsAre(ElementsAre("from"), ElementsAre("a"), ElementsAre("b")));
}

}  // namespace
}  // namespace sluice
