#include "state/machine_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/state/state_fixture.h"

namespace sluice {
namespace {

const PartDemand kNode = {.level = PartLevel::kNumaNode};
const PartDemand kUnit = {.level = PartLevel::kProcessingUnit};

// Two NUMA nodes of four cores, with two processing units of two cores each.
MachineOptions TwoNodes() {
  MachineOptions options = {.cpu = 8000};
  options.numa_nodes = {{"n0", {{"cpu", 4000}}}, {"n1", {{"cpu", 4000}}}};
  options.other_uuids = {"n0", "n1"};
  for (int32_t i = 0; i < 4; ++i) {
    options.pus.push_back({StrCat("pu", i), {{"cpu", 2000}}, {}, i / 2});
  }
  return options;
}

class MachinePartsTest : public StateTest {
 protected:
  MachinePartsTest() { Do(Added("m", TwoNodes())); }

  // The uuid of its processing unit.
  std::string RunWith(uint64_t uid, int64_t cpu,
                      const std::vector<PartDemand>& demands) {
    TaskOptions task = {.cpu = cpu};
    task.rules.part_demands = demands;
    Do(Submitted(uid, task));
    Run(uid, "m");
    return MachineOf("m").ResourceUuid(TaskOf(uid).pu);
  }
  std::string RunInGroup(uint64_t uid, const PartGroup& group) {
    TaskOptions task = {.cpu = 1000};
    task.rules.part_groups = {group};
    Do(Submitted(uid, task));
    Run(uid, "m");
    return MachineOf("m").ResourceUuid(TaskOf(uid).pu);
  }
  int64_t BoundTo(size_t node) {
    return MachineOf("m").numa_nodes.at(node).bound[kCpu];
  }
};

TEST_F(MachinePartsTest, TasksAreBoundWhereTheLeastIsLeftThatIsEnough) {
  EXPECT_EQ(RunWith(1, 1000, {kNode}), "pu0");
  EXPECT_EQ(RunWith(2, 1000, {kNode}).substr(0, 2), "pu");
  EXPECT_EQ(BoundTo(0), 2000);
  EXPECT_EQ(RunWith(3, 3000, {kNode}), "pu2") << "node 0 has two cores left";
  EXPECT_EQ(RunWith(4, 1500, {kUnit}), "pu0");
  EXPECT_EQ(BoundTo(0), 3500);
  EXPECT_EQ(MachineOf("m").pus[0].bound[kCpu], 1500);
  EXPECT_EQ(BoundTo(1), 3000);
}

TEST_F(MachinePartsTest, TasksOfAGroupShareAPartOrNoTwoDo) {
  const PartGroup near = {.level = PartLevel::kProcessingUnit, .name = "near"};
  EXPECT_EQ(RunWith(1, 500, {kNode}), "pu0");
  EXPECT_EQ(RunInGroup(2, near), "pu1") << "of node 0 the least is left";
  EXPECT_EQ(RunWith(3, 500, {kUnit}), "pu1");
  EXPECT_EQ(RunInGroup(4, {.level = PartLevel::kNumaNode, .name = "a"}), "pu1");
  EXPECT_EQ(BoundTo(0), 3000);
  const PartGroup apart = {
      .level = PartLevel::kNumaNode, .name = "apart", .apart = true};
  const std::string first = RunInGroup(5, apart);
  EXPECT_EQ(RunInGroup(6, apart).substr(0, 3), "pu2") << "not beside " << first;
  Do(Completed(5));
  EXPECT_THAT(MachineOf("m").pus[2].groups, testing::ElementsAre("apart"));
}

TEST_F(MachinePartsTest, ATreeThatIsStatedAnewKeepsGroups) {
  RunInGroup(1, {.level = PartLevel::kNumaNode, .name = "db"});
  const int32_t unit = TaskOf(1).pu;
  Do(Removed("m"));
  Do(Added("m", TwoNodes()));
  ASSERT_EQ(TaskOf(1).pu, unit);
  EXPECT_THAT(MachineOf("m").pus[static_cast<size_t>(unit)].groups,
              testing::ElementsAre("db"));
}

TEST_F(MachinePartsTest, OthersBindNothing) {
  RunWith(1, 3000, {});
  EXPECT_EQ(BoundTo(0) + BoundTo(1), 0);
  RunWith(2, 4000, {kNode});
  EXPECT_EQ(BoundTo(0) + BoundTo(1), 4000);
}

TEST_F(MachinePartsTest, WhatLeavesIsBoundNoMore) {
  RunWith(1, 4000, {kNode});
  RunWith(2, 2000, {kUnit});
  Do(Completed(1));
  EXPECT_EQ(BoundTo(0), 0);
  Do(Removed(2));
  EXPECT_EQ(BoundTo(1), 0);
  EXPECT_EQ(MachineOf("m").pus[2].bound[kCpu], 0);
}

TEST_F(MachinePartsTest, ATreeThatIsStatedAnewKeepsWhatIsBound) {
  RunWith(1, 4000, {kNode});
  Do(Removed("m"));
  Do(Added("m", TwoNodes()));
  EXPECT_EQ(BoundTo(0), 4000);
  EXPECT_EQ(MachineOf("m").ResourceUuid(TaskOf(1).pu), "pu0");
}

TEST_F(MachinePartsTest, ADescriptionThatChangesBindsAnew) {
  RunWith(1, 1000, {kNode});
  TaskOptions task = {.cpu = 2000};
  Do(Updated(1, task));
  EXPECT_EQ(BoundTo(0), 0);
  task.rules.part_demands = {kUnit};
  Do(Updated(1, task));
  EXPECT_EQ(BoundTo(0), 2000);
}

TEST_F(MachinePartsTest, MachinesOfOneTreeAreToldApartByWhatIsBound) {
  Do(Added("flat", {.cpu = 8000, .pus = {{"flat-pu", {{"cpu", 8000}}}}}));
  EXPECT_EQ(MachineOf("flat").parts_look, 0);
  MachineOptions other = TwoNodes();
  for (MachineSpec::Pu& pu : other.pus) pu.uuid += "-b";
  other.numa_nodes = {{"n2", {{"cpu", 4000}}}, {"n3", {{"cpu", 4000}}}};
  other.other_uuids = {"n2", "n3"};
  Do(Added("b", other));
  EXPECT_EQ(MachineOf("m").parts_look, MachineOf("b").parts_look);
  RunWith(1, 1000, {kNode});
  EXPECT_NE(MachineOf("m").parts_look, MachineOf("b").parts_look);
}

}  // namespace
}  // namespace sluice
