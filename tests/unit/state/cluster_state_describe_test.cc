// What descriptions make of tasks and machines: classes, taints, host ports.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "base/limits.h"
#include "unit/state/state_fixture.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

const Owner kOwner = {"ReplicaSet", "u"};
const Owner kOther = {"ReplicaSet", "v"};

class DescribeTest : public StateTest {
 protected:
  const PlacementRules* RulesOf(uint64_t uid) const {
    return TaskOf(uid).class_key.rules;
  }
  const std::vector<HostPort>& PortsOn(std::string_view uuid) const {
    return MachineOf(uuid).used_host_ports;
  }
  std::vector<std::pair<std::string, int64_t>> TaintsOf(
      std::string_view uuid) const {
    std::vector<std::pair<std::string, int64_t>> taints;
    for (const MachineTaint& taint : MachineOf(uuid).taints) {
      taints.emplace_back(taint.taint.key, taint.since_ms);
    }
    return taints;
  }
};

// ---------------------------------------------------------------------------
// Classes

TEST_F(DescribeTest, TasksWithEqualRulesAreOfOneClass) {
  const PlacementRules rules = {.selectors = {LabelExists("gpu")}};
  Do(Submitted(1, {.rules = rules}));
  Do(Submitted(2, {.rules = rules}));
  Do(Submitted(3));
  EXPECT_EQ(RulesOf(1), RulesOf(2));
  EXPECT_EQ(RulesOf(3), &NoRules());
  EXPECT_THAT(state_.pending(), SizeIs(2));
}

TEST_F(DescribeTest, AnUpdateOfTheRulesChangesTheClass) {
  Do(Submitted(1, {.rules = {.selectors = {LabelExists("a")}}}));
  const uint32_t id = RulesOf(1)->id;
  Do(Updated(1, {.rules = {.selectors = {LabelExists("b")}}}));
  EXPECT_THAT(RulesOf(1)->selectors, ElementsAre(LabelExists("b")));
  EXPECT_THAT(state_.pending(), SizeIs(1));
  EXPECT_THAT(state_.CollectRules(), ElementsAre(id));
  Do(Updated(1, {}));
  EXPECT_EQ(RulesOf(1), &NoRules());
}

TEST_F(DescribeTest, RulesAreForgottenWithTheLastTaskThatHasThem) {
  const PlacementRules rules = {.selectors = {LabelExists("gpu")}};
  Do(Submitted(1, {.rules = rules}));
  Do(Submitted(2, {.rules = rules}));
  const uint32_t id = RulesOf(1)->id;
  Do(Removed(1));
  EXPECT_THAT(state_.CollectRules(), IsEmpty());
  Do(Removed(2));
  EXPECT_THAT(state_.CollectRules(), ElementsAre(id));
}

TEST_F(DescribeTest, ADescriptionThatMakesNoSenseLeavesTheRulesAsTheyWere) {
  Do(Submitted(1, {.rules = {.selectors = {LabelExists("a")}}}));
  Do(Updated(1, {.quarantine_reason = "no sense"}));
  EXPECT_THAT(RulesOf(1)->selectors, ElementsAre(LabelExists("a")));
}

// ---------------------------------------------------------------------------
// Owners

// Nearly every task has an owner of its own: classes would be as many.
TEST_F(DescribeTest, AnOwnerMattersOnlyWhileAMachineAvoidsIt) {
  Do(Added("m", {.cpu = 100}));
  Do(Submitted(1, {.owner = kOwner}));
  Do(Submitted(2, {.owner = kOther}));
  Do(Submitted(3));
  EXPECT_THAT(state_.pending(), SizeIs(1));
  Do(Updated("m", {.cpu = 100, .avoids = {kOwner}}));
  EXPECT_EQ(RulesOf(1)->owner, kOwner);
  EXPECT_EQ(RulesOf(2), &NoRules());
  EXPECT_THAT(state_.pending(), SizeIs(2));
  Do(Submitted(4, {.owner = kOwner}));
  EXPECT_EQ(RulesOf(4), RulesOf(1));
  Do(Updated("m", {.cpu = 100, .avoids = {kOther}}));
  EXPECT_EQ(RulesOf(1), &NoRules());
  EXPECT_EQ(RulesOf(2)->owner, kOther);
  Do(Updated("m", {.cpu = 100}));
  EXPECT_THAT(state_.pending(), SizeIs(1));
}

TEST_F(DescribeTest, AnOwnerMattersAsLongAsAnyMachineAvoidsIt) {
  Do(Added("m", {.avoids = {kOwner}}));
  Do(Added("n", {.avoids = {kOwner, kOther}}));
  Do(Submitted(1, {.owner = kOwner}));
  Do(Updated("m", {}));
  EXPECT_EQ(RulesOf(1)->owner, kOwner);
  Do(Updated("n", {.avoids = {kOther}}));
  EXPECT_EQ(RulesOf(1), &NoRules());
}

// A machine may avoid a thousand owners, and be described anew at any time.
TEST_F(DescribeTest, OnlyTasksOfTheOwnerAreLookedAt) {
  constexpr uint64_t kTasks = 10000;
  constexpr uint64_t kOwners = 1000;
  for (uint64_t uid = 0; uid < kTasks; ++uid) {
    Do(Submitted(uid, {.owner = {"ReplicaSet", StrCat(uid / 2)}}));
  }
  MachineOptions options;
  for (uint64_t i = 0; i < kOwners; ++i) {
    options.avoids.push_back({"ReplicaSet", StrCat(i)});
  }
  std::ranges::sort(options.avoids);
  Do(Added("m", options));
  EXPECT_EQ(RulesOf(1)->owner.uid, "0");
  EXPECT_EQ(state_.avoided_owners().returned_count(), 2 * kOwners);
  Do(Updated("m", {}));
  EXPECT_EQ(RulesOf(1), &NoRules());
  EXPECT_EQ(state_.avoided_owners().returned_count(), 4 * kOwners);
}

TEST_F(DescribeTest, AnAvoidedOwnerConcernsNoTaskThatHasAnotherByNow) {
  Do(Submitted(1, {.owner = kOwner}));
  Do(Submitted(2, {.owner = kOwner}));
  Do(Updated(1, {.owner = kOther}));
  Do(Removed(2));
  Do(Added("m", {.avoids = {kOwner}}));
  EXPECT_EQ(RulesOf(1), &NoRules());
  EXPECT_EQ(state_.avoided_owners().returned_count(), 0);
  Do(Updated("m", {.avoids = {kOther}}));
  EXPECT_EQ(RulesOf(1)->owner, kOther);
}

TEST_F(DescribeTest, ARunningTaskKeepsItsPlaceWhenItsOwnerIsAvoided) {
  Do(Added("m", {.cpu = 100}));
  Do(Submitted(
      1, {.cpu = 10, .rules = {.host_ports = {TcpPort(80)}}, .owner = kOwner}));
  Run(1, "m");
  Do(Updated("m", {.cpu = 100, .avoids = {kOwner}}));
  EXPECT_EQ(RulesOf(1)->owner, kOwner);
  EXPECT_EQ(TaskOf(1).state, TaskState::kRunning);
  EXPECT_EQ(UsedCpu("m"), 10);
  EXPECT_THAT(PortsOn("m"), ElementsAre(TcpPort(80)));
  Do(Completed(1));
  EXPECT_THAT(PortsOn("m"), IsEmpty());
}

TEST_F(DescribeTest, AQuarantinedTaskIsReclassifiedToo) {
  Do(Added("m", {}));
  Do(Submitted(1, {.owner = kOwner}));
  Do(Updated(1, {.quarantine_reason = "no sense"}));
  Do(Updated("m", {.avoids = {kOwner}}));
  EXPECT_EQ(RulesOf(1)->owner, kOwner);
}

TEST_F(DescribeTest, AMachineThatIsForgottenAvoidsNobody) {
  Do(Added("m", {.avoids = {kOwner}}));
  Do(Submitted(1, {.owner = kOwner}));
  Do(Removed("m"));
  EXPECT_EQ(RulesOf(1)->owner, kOwner) << "it may return";
  // One more than are remembered.
  for (size_t i = 0; i < kDepartedMachinesMax; ++i) {
    const std::string uuid = StrCat("n", i);
    Do(Added(uuid, {}));
    Do(Removed(uuid));
  }
  EXPECT_EQ(state_.FindMachine("m"), nullptr);
  EXPECT_EQ(RulesOf(1), &NoRules());
}

// ---------------------------------------------------------------------------
// Host ports

TEST_F(DescribeTest, HostPortsAreInUseWhileTheTaskRuns) {
  Do(Added("m", {.cpu = 100}));
  Do(Submitted(1, {.rules = {.host_ports = {TcpPort(80), UdpPort(53)}}}));
  EXPECT_THAT(PortsOn("m"), IsEmpty());
  Place(1, "m");
  EXPECT_THAT(PortsOn("m"), ElementsAre(TcpPort(80), UdpPort(53)));
  state_.Withdraw({1});
  EXPECT_THAT(PortsOn("m"), IsEmpty());
  Run(1, "m");
  EXPECT_THAT(PortsOn("m"), SizeIs(2));
  Do(Failed(1));
  EXPECT_THAT(PortsOn("m"), IsEmpty());
}

TEST_F(DescribeTest, AnUpdateChangesTheHostPortsInUse) {
  Do(Added("m", {.cpu = 100}));
  Do(Submitted(1, {.rules = {.host_ports = {TcpPort(80), TcpPort(81)}}}));
  Run(1, "m");
  Do(Updated(1, {.rules = {.host_ports = {TcpPort(81), TcpPort(82)}}}));
  EXPECT_THAT(PortsOn("m"), ElementsAre(TcpPort(81), TcpPort(82)));
  Do(Updated(1, {.quarantine_reason = "no sense"}));
  EXPECT_THAT(PortsOn("m"), ElementsAre(TcpPort(81), TcpPort(82)));
  Do(Removed(1));
  EXPECT_THAT(PortsOn("m"), IsEmpty());
}

// Updates may bring two tasks of a machine to one port: each counts.
TEST_F(DescribeTest, AHostPortThatTwoHaveIsInUseUntilBothAreGone) {
  Do(Added("m", {.cpu = 100}));
  for (const uint64_t uid : {1u, 2u}) {
    Do(Submitted(uid, {.rules = {.host_ports = {TcpPort(80)}}}));
    Run(uid, "m");
  }
  EXPECT_THAT(PortsOn("m"), ElementsAre(TcpPort(80), TcpPort(80)));
  Do(Completed(1));
  EXPECT_THAT(PortsOn("m"), ElementsAre(TcpPort(80)));
  Do(Completed(2));
  EXPECT_THAT(PortsOn("m"), IsEmpty());
}

TEST_F(DescribeTest, AnEarlierHolderOfAUidKeepsItsHostPorts) {
  Do(Added("m", {.cpu = 100}));
  Do(Submitted(1, {.name = "a", .rules = {.host_ports = {TcpPort(80)}}}));
  Run(1, "m");
  Do(Submitted(1, {.name = "b", .rules = {.host_ports = {TcpPort(81)}}}));
  EXPECT_THAT(PortsOn("m"), ElementsAre(TcpPort(80)));
  Run(1, "m");
  EXPECT_THAT(PortsOn("m"), ElementsAre(TcpPort(80), TcpPort(81)));
  Do(Removed(1));
  EXPECT_THAT(PortsOn("m"), ElementsAre(TcpPort(81)));
  Do(Removed(1));
  EXPECT_THAT(PortsOn("m"), IsEmpty());
}

// ---------------------------------------------------------------------------
// Machines

TEST_F(DescribeTest, ATaintIsThereSinceItCame) {
  Do(Added("m", {.taints = {NoExecute("a"), NoSchedule("b")}}), 100);
  Do(Updated("m", {.taints = {NoExecute("a"), NoSchedule("c")}}), 200);
  EXPECT_THAT(TaintsOf("m"), ElementsAre(Pair("a", 100), Pair("c", 200)));
  Do(Removed("m"), 300);
  Do(Added("m", {.taints = {NoExecute("a"), NoExecute("c")}}), 400);
  EXPECT_THAT(TaintsOf("m"), ElementsAre(Pair("a", 100), Pair("c", 400)))
      << "of another effect it is another taint";
  Do(Updated("m", {}), 500);
  Do(Updated("m", {.taints = {NoExecute("a")}}), 600);
  EXPECT_THAT(TaintsOf("m"), ElementsAre(Pair("a", 600)));
}

TEST_F(DescribeTest, MachinesKnowWhereTheirBandwidthStands) {
  Do(Added("m", {.extended = {{"gpu", 1}, {kNetRx, 1000}}}));
  EXPECT_EQ(MachineOf("m").allocatable[MachineOf("m").net_rx], 1000);
  EXPECT_EQ(MachineOf("m").net_tx, kNoResource);
  Do(Updated("m", {.pods = 0}));
  EXPECT_EQ(MachineOf("m").allocatable[MachineOf("m").net_rx], 1000)
      << "an update without amounts";
  Do(Updated("m", {.extended = {{"gpu", 1}, {kNetTx, 500}}}));
  EXPECT_EQ(MachineOf("m").net_rx, kNoResource);
  EXPECT_EQ(MachineOf("m").allocatable[MachineOf("m").net_tx], 500);
  // Of a name that others alone state it has nothing.
  Do(Added("other", {.extended = {{kNetRx, 1000}}}));
  Do(Updated("m", {}));
  EXPECT_EQ(MachineOf("m").net_rx, kNoResource);
  EXPECT_NE(MachineOf("other").net_rx, kNoResource);
}

TEST_F(DescribeTest, MachinesSayWhatOfThemChanged) {
  MachineOptions options = {.labels = {{"a", "1"}}};
  Do(Added("m", options));
  Do(Added("n", {}));
  EXPECT_THAT(state_.TakeDescribedMachines(), SizeIs(2));
  const auto changed = [&] {
    Do(Updated("m", options));
    return state_.TakeDescribedMachines();
  };
  const MachineId id = MachineOf("m").id;
  EXPECT_THAT(changed(), ElementsAre(Pair(id, MachineFields{0})));
  options.labels = {{"a", "2"}};
  EXPECT_THAT(changed(), ElementsAre(Pair(id, kLabelsField)));
  options.taints = {NoSchedule("t")};
  EXPECT_THAT(changed(), ElementsAre(Pair(id, kTaintsField)));
  options.avoids = {kOwner};
  EXPECT_THAT(changed(), ElementsAre(Pair(id, kAvoidsField)));
  EXPECT_THAT(state_.TakeDescribedMachines(), IsEmpty());
}

}  // namespace
}  // namespace sluice
