// Demands for parts of machines: verdicts, reasons, and how they are stated and
// stored.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "firmament/task_desc.pb.h"
#include "messages/fields.h"
#include "sluice/state/machine.h"
#include "unit/constraints/rule_cases.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const PartDemand kNode = {.level = PartLevel::kNumaNode};
const PartDemand kUnit = {.level = PartLevel::kProcessingUnit};

// Two NUMA nodes of 4 cores and 8 bytes each, of two processing units each.
Machine TwoNodes() {
  Machine machine;
  machine.allocatable = machine.capacity = Resources(8000, 16, 0, 100);
  machine.numa_nodes = {
      {.uuid = "n0", .capacity = Resources(4000, 8, 0, 0), .labels = {}},
      {.uuid = "n1",
       .capacity = Resources(4000, 8, 0, 0),
       .labels = {{"gpu", "near"}}}};
  for (int32_t i = 0; i < 4; ++i) {
    ProcessingUnit& unit = machine.pus.emplace_back();
    unit.capacity = Resources(2000, 0, 0, 0);
    unit.numa_node = i / 2;
  }
  return machine;
}

bool Fits(const std::vector<PartDemand>& demands, int64_t cpu,
          const Machine& machine) {
  const PlacementRules rules = {.part_demands = demands};
  ClassKey key;
  key.rules = &rules;
  key.request = Resources(cpu, 1, 0, 1);
  return ConstraintSet().Allows(key, machine);
}

TEST(PartFit, IsAskedForOnlyWhereATaskDemandsIt) {
  EXPECT_TRUE(Fits({}, 8000, TwoNodes()));
  EXPECT_FALSE(Fits({kNode}, 8000, TwoNodes()));
  EXPECT_TRUE(Fits({kNode}, 4000, TwoNodes()));
  EXPECT_FALSE(Fits({kUnit}, 3000, TwoNodes()))
      << "three cores on a unit of two";
  EXPECT_TRUE(Fits({kUnit}, 2000, TwoNodes()));
}

TEST(PartFit, CountsWhatIsBoundAlone) {
  Machine machine = TwoNodes();
  machine.used = Resources(3000, 0, 0, 1);
  EXPECT_TRUE(Fits({kNode}, 4000, machine)) << "others give way";
  machine.numa_nodes[0].bound = machine.numa_nodes[1].bound =
      Resources(1000, 0, 0, 1);
  EXPECT_FALSE(Fits({kNode}, 4000, machine));
  EXPECT_TRUE(Fits({kNode}, 3000, machine));
  machine.numa_nodes[0].bound = Resources(0, 8, 0, 1);
  machine.numa_nodes[1].bound = Resources(0, 8, 0, 1);
  EXPECT_FALSE(Fits({kNode}, 1000, machine)) << "no memory";
}

TEST(PartFit, TakesOfTheNodeWhatAUnitTakes) {
  Machine machine = TwoNodes();
  machine.numa_nodes[0].bound = Resources(3500, 0, 0, 1);
  machine.numa_nodes[1].bound = Resources(3500, 0, 0, 1);
  EXPECT_FALSE(Fits({kUnit}, 1000, machine));
  EXPECT_TRUE(Fits({kUnit}, 500, machine));
}

TEST(PartFit, MayAskForALabelOfThePart) {
  const PartDemand near = {PartLevel::kNumaNode, "gpu", "near"};
  Machine machine = TwoNodes();
  EXPECT_TRUE(Fits({near}, 4000, machine));
  EXPECT_TRUE(Fits({near, kUnit}, 2000, machine));
  machine.numa_nodes[1].bound = Resources(1000, 0, 0, 1);
  EXPECT_FALSE(Fits({near}, 4000, machine)) << "the other one is not near";
  EXPECT_FALSE(Fits({{PartLevel::kProcessingUnit, "gpu", "near"}}, 1, machine));
}

TEST(PartFit, IsForMachinesWithSuchPartsAlone) {
  Machine flat;
  flat.allocatable = flat.capacity = Resources(8000, 16, 0, 100);
  EXPECT_FALSE(Fits({kUnit}, 1000, flat));
  flat.pus.emplace_back().capacity = Resources(8000, 16, 0, 0);
  EXPECT_TRUE(Fits({kUnit}, 8000, flat));
  EXPECT_FALSE(Fits({kNode}, 1000, flat));
}

TEST(PartFit, GivesReasons) {
  Machine flat;
  flat.allocatable = Resources(1, 1, 1, 1);
  EXPECT_THAT(ReasonsFor({.part_demands = {kNode}}, flat),
              ElementsAre("part_too_small | lacked NUMA nodes | lacks NUMA "
                          "nodes"));
  EXPECT_THAT(ReasonsFor({.part_demands = {kUnit}}, flat),
              ElementsAre("part_too_small | lacked processing units | lacks "
                          "processing units"));
  EXPECT_THAT(
      ReasonsFor({.part_demands = {{PartLevel::kNumaNode, "gpu", "far"}}},
                 TwoNodes()),
      ElementsAre("part_too_small | lacked a NUMA node with the labels that it "
                  "demands | lacks a NUMA node with the labels that it "
                  "demands"));
  EXPECT_THAT(ReasonsFor({.part_demands = {kUnit}}, TwoNodes()), IsEmpty());
}

// Of group "db" one task is bound to unit 1.
bool FitsInGroup(PartGroup group, int64_t cpu, Machine machine) {
  machine.pus[1].groups = {"db"};
  group.name = group.name.empty() ? "db" : group.name;
  const PlacementRules rules = {.part_groups = {group}};
  ClassKey key;
  key.rules = &rules;
  key.request = Resources(cpu, 1, 0, 1);
  return ConstraintSet().Allows(key, machine);
}

TEST(PartFit, HasRoomInThePartOfTheOthersOfItsGroup) {
  const PartGroup near = {.level = PartLevel::kNumaNode};
  Machine machine = TwoNodes();
  EXPECT_TRUE(FitsInGroup(near, 4000, machine));
  machine.numa_nodes[0].bound = Resources(1000, 0, 0, 1);
  EXPECT_FALSE(FitsInGroup(near, 4000, machine)) << "node 1 is not theirs";
  EXPECT_TRUE(FitsInGroup({.name = "web"}, 4000, machine)) << "nobody's is";
  EXPECT_FALSE(
      FitsInGroup({.level = PartLevel::kProcessingUnit}, 2500, machine));
  EXPECT_TRUE(
      FitsInGroup({.level = PartLevel::kProcessingUnit}, 2000, machine));
}

TEST(PartFit, HasRoomAwayFromTheOthersOfItsGroup) {
  const PartGroup apart = {.level = PartLevel::kNumaNode, .apart = true};
  Machine machine = TwoNodes();
  EXPECT_TRUE(FitsInGroup(apart, 4000, machine));
  machine.pus[2].groups = {"db"};
  EXPECT_FALSE(FitsInGroup(apart, 1000, machine));
  EXPECT_TRUE(FitsInGroup({.level = PartLevel::kProcessingUnit, .apart = true},
                          1000, machine));
}

TEST(PartFit, KnowsPartsOfAGroupByALabel) {
  Machine machine = TwoNodes();
  // Two units share a cache, one of each node; one has a cache of its own.
  machine.pus[1].labels = {{"cache", "1"}};
  machine.pus[2].labels = {{"cache", "1"}};
  machine.pus[3].labels = {{"cache", "2"}};
  const PartGroup near = {.level = PartLevel::kProcessingUnit, .key = "cache"};
  const PartGroup apart = {
      .level = PartLevel::kProcessingUnit, .key = "cache", .apart = true};
  machine.pus[1].bound = Resources(2000, 0, 0, 1);
  EXPECT_TRUE(FitsInGroup(near, 1000, machine)) << "unit 2";
  EXPECT_TRUE(FitsInGroup(apart, 1000, machine)) << "unit 3";
  machine.pus[3].labels = {};
  EXPECT_FALSE(FitsInGroup(apart, 1000, machine)) << "they have no cache";
  machine.pus[2].labels = {};
  EXPECT_FALSE(FitsInGroup(near, 1000, machine));
}

TEST(PartFit, SaysWhichGroupHasNoRoom) {
  Machine machine = TwoNodes();
  machine.pus[1].groups = {"db"};
  machine.pus[2].groups = {"db"};
  EXPECT_THAT(
      ReasonsFor({.part_groups = {{.name = "db", .apart = true}}}, machine),
      ElementsAre("part_too_small | lacked a NUMA node with room away "
                  "from the others of 'db' | lacks a NUMA node with "
                  "room away from the others of 'db'"));
  EXPECT_THAT(
      ReasonsFor({.part_groups = {{.name = "db", .key = "cache"}}}, machine),
      ElementsAre("part_too_small | lacked a NUMA node with the labels that it "
                  "demands | lacks a NUMA node with the labels that it "
                  "demands"));
}

// Clients and stores outlive the daemon: these bytes stay.
TEST(PartFit, IsStatedInTheBytesThatItAlwaysWas) {
  const PlacementRules rules = {
      .part_demands = {{PartLevel::kProcessingUnit, "gpu", "near"}}};
  firmament::TaskRules stated;
  WriteFields(rules, &stated);
  EXPECT_EQ(stated.SerializeAsString(),
            "\x22\x0d\x08\x01\x12\x03gpu\x1a\x04near");
}

TEST(PartFit, StatesGroupsInTheBytesThatItAlwaysDid) {
  const PlacementRules rules = {
      .part_groups = {{PartLevel::kProcessingUnit, "db", "l3", true}}};
  firmament::TaskRules stated;
  WriteFields(rules, &stated);
  EXPECT_EQ(stated.SerializeAsString(), std::string("\x2a\x0c\x08\x01\x12\x02"
                                                    "db\x1a\x02l3\x20\x01"));
}

TEST(PartFit, NeedsANameForAGroup) {
  firmament::TaskRules stated;
  stated.add_part_groups()->set_apart(true);
  PlacementRules rules;
  EXPECT_EQ(ReadFields(stated, ListsAre::kInOrder, &rules),
            "part_groups: name: is empty");
}

TEST(PartFit, NeedsAKeyForAValue) {
  firmament::TaskRules stated;
  stated.add_part_demands()->set_value("near");
  PlacementRules rules;
  EXPECT_EQ(ReadFields(stated, ListsAre::kInOrder, &rules),
            "part_demands: value: without a key");
}

}  // namespace
}  // namespace sluice
