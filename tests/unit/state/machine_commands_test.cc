// Machines that come, change, go and return, and their processing units.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/state/state_fixture.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

class MachinesTest : public StateTest {
 protected:
  int32_t PuOf(uint64_t uid) const { return TaskOf(uid).pu; }
};

TEST_F(MachinesTest, AddedOneKeepsWhatItsDescriptionSays) {
  EXPECT_EQ(Do(Added("m", {.cpu = 4000,
                           .memory = 8000,
                           .pods = 10,
                           .capacity = {{"cpu", 5000}, {"memory", 9000}},
                           .labels = {{"zone", "a"}},
                           .pus = {{"pu", {{"cpu", 4000}}}},
                           .other_uuids = {"socket"}})),
            Ack::kOk);
  const Machine& machine = MachineOf("m");
  EXPECT_TRUE(machine.IsUsable());
  EXPECT_TRUE(machine.IsEmpty());
  EXPECT_EQ(machine.allocatable, Resources(4000, 8000, 0, 10));
  EXPECT_EQ(machine.capacity, Resources(5000, 9000, 0, 0));
  EXPECT_THAT(machine.labels, ElementsAre(Pair("zone", "a")));
  ASSERT_THAT(machine.pus, SizeIs(1));
  EXPECT_EQ(machine.ResourceUuid(0), "pu");
  EXPECT_EQ(machine.ResourceUuid(kNoPu), "m");
  EXPECT_EQ(state_.FindMachine("pu"), nullptr) << "that is no machine";
}

// R7: any uuid of the tree that is known makes the machine known.
TEST_F(MachinesTest, OneThatIsKnownIsNotAddedAgain) {
  Do(Added("m", {.pus = {{"pu", {}}}, .other_uuids = {"socket"}}));
  EXPECT_EQ(Do(Added("m", {})), Ack::kAlreadyExists);
  EXPECT_EQ(Do(Added("pu", {})), Ack::kAlreadyExists);
  EXPECT_EQ(Do(Added("socket", {})), Ack::kAlreadyExists);
  EXPECT_EQ(Do(Added("n", {.pus = {{"m", {}}}})), Ack::kAlreadyExists);
  EXPECT_EQ(Do(Added("n", {.pus = {{"pu", {}}}})), Ack::kAlreadyExists);
  EXPECT_EQ(Do(Added("n", {.other_uuids = {"pu"}})), Ack::kAlreadyExists);
  EXPECT_THAT(state_.machines(), SizeIs(1));
  EXPECT_EQ(Do(Added("n", {.pus = {{"n-pu", {}}}})), Ack::kOk);
}

TEST_F(MachinesTest, UpdateChangesLabelsAndTheAmountsItStates) {
  Do(Added("m", {.cpu = 4000, .pus = {{"pu", {}}}}));
  MachineSpec spec;
  spec.uuid = "m";
  spec.name = "new name";
  spec.labels = {{"zone", "b"}};
  EXPECT_EQ(Do(UpdateMachine{spec}), Ack::kOk);
  EXPECT_EQ(MachineOf("m").allocatable[kCpu], 4000) << "none stated";
  EXPECT_EQ(MachineOf("m").name, "new name");
  EXPECT_THAT(MachineOf("m").pus, SizeIs(1)) << "the tree stays";
  EXPECT_EQ(Do(Updated("m", {.cpu = 2000})), Ack::kOk);
  EXPECT_EQ(MachineOf("m").allocatable[kCpu], 2000);
  EXPECT_THAT(MachineOf("m").labels, IsEmpty());
  EXPECT_EQ(Do(Updated("other", {})), Ack::kNotFound);
  EXPECT_EQ(Do(Updated("pu", {})), Ack::kNotFound);
}

TEST_F(MachinesTest, QuarantinedOneIsOutUntilAnUpdateMakesSense) {
  Do(Added("m", {.cpu = 100, .quarantine_reason = "two roots"}));
  EXPECT_FALSE(MachineOf("m").IsUsable());
  MachineSpec labels_only;
  labels_only.uuid = "m";
  Do(UpdateMachine{labels_only});
  EXPECT_FALSE(MachineOf("m").IsUsable()) << "labels mend nothing";
  Do(Updated("m", {.cpu = 100}));
  EXPECT_TRUE(MachineOf("m").IsUsable());
}

TEST_F(MachinesTest, UnknownOneIsNotFound) {
  EXPECT_EQ(Do(Removed("m")), Ack::kNotFound);
  Do(Added("m", {.pus = {{"pu", {}}}}));
  EXPECT_EQ(Do(Removed("pu")), Ack::kNotFound);
  EXPECT_EQ(Do(Removed("m")), Ack::kOk);
  EXPECT_EQ(Do(Removed("m")), Ack::kOk) << "it is remembered";
  EXPECT_EQ(Do(Updated("m", {})), Ack::kOk);
  EXPECT_FALSE(MachineOf("m").is_present) << "an update does not bring it back";
}

// R5: what runs on a machine that went away runs on, as far as we know.
TEST_F(MachinesTest, DepartedOneKeepsTheTasksThatClientsWereToldOf) {
  Do(Added("m", {.cpu = 1000}));
  for (uint64_t uid = 1; uid <= 4; ++uid) {
    Do(Submitted(uid, {.cpu = 100}));
    Run(uid, "m");
  }
  EXPECT_EQ(Do(Removed("m")), Ack::kOk);
  EXPECT_EQ(state_.departed_count(), 1);
  EXPECT_EQ(TaskOf(1).state, TaskState::kRunning);
  EXPECT_THAT(state_.unscheduled(), IsEmpty());
  EXPECT_EQ(Do(Completed(1)), Ack::kOk);
  EXPECT_EQ(Do(Failed(2)), Ack::kOk);
  EXPECT_EQ(Do(Updated(3, {.cpu = 200})), Ack::kOk);
  EXPECT_EQ(Do(Removed(4)), Ack::kOk);
  EXPECT_EQ(UsedCpu("m"), 200);
}

// R6: it gets back what ran there, and what has not ended meanwhile.
TEST_F(MachinesTest, ReturningOneHasItsTasksAgain) {
  Do(Added("m", {.cpu = 1000, .pus = {{"pu", {{"cpu", 1000}}}}}));
  Do(Submitted(1, {.cpu = 300}));
  Do(Submitted(2, {.cpu = 400}));
  Run(1, "m");
  Run(2, "m");
  const MachineId id = MachineOf("m").id;
  Do(Removed("m"));
  Do(Completed(2));
  EXPECT_EQ(Do(Added("m", {.cpu = 2000, .pus = {{"pu", {{"cpu", 2000}}}}})),
            Ack::kOk);
  EXPECT_EQ(MachineOf("m").id, id);
  EXPECT_EQ(state_.departed_count(), 0);
  EXPECT_EQ(MachineOf("m").Free()[kCpu], 1700);
  EXPECT_EQ(MachineOf("m").pus[0].used[kCpu], 300);
  EXPECT_THAT(Outbox(), IsEmpty()) << "nothing is placed anew";
}

TEST_F(MachinesTest, ReturningOneMayBeSmallerThanItsLoad) {
  Do(Added("m", {.cpu = 1000}));
  Do(Submitted(1, {.cpu = 900}));
  Run(1, "m");
  Do(Removed("m"));
  Do(Added("m", {.cpu = 500}));
  EXPECT_EQ(TaskOf(1).state, TaskState::kRunning);
  EXPECT_EQ(MachineOf("m").Free()[kCpu], -400);
}

TEST_F(MachinesTest, ReturningOneMayHaveAnotherTree) {
  Do(Added("m", {.pus = {{"pu0", {}}, {"pu1", {}}}}));
  Do(Submitted(1));
  Do(Submitted(2));
  Run(1, "m");
  Run(2, "m");
  EXPECT_EQ(PuOf(1), 0);
  EXPECT_EQ(PuOf(2), 1);
  Do(Removed("m"));
  EXPECT_EQ(Do(Added("other", {.pus = {{"pu1", {}}}})), Ack::kAlreadyExists)
      << "a departed machine keeps its uuids";
  Do(Added("m", {.pus = {{"pu1", {}}, {"pu2", {}}}}));
  EXPECT_EQ(PuOf(2), 0) << "its unit is there, in another place";
  EXPECT_EQ(PuOf(1), 1) << "its unit is gone: the one with the most room";
  EXPECT_EQ(Do(Added("other", {.pus = {{"pu0", {}}}})), Ack::kOk)
      << "a uuid that the tree no longer has is free";
  Do(Removed("m"));
  Do(Added("m", {}));
  EXPECT_EQ(PuOf(1), kNoPu);
  EXPECT_EQ(PuOf(2), kNoPu);
}

TEST_F(MachinesTest, DepartedOneTakesBackWhatNobodyWasTold) {
  Do(Added("m", {.cpu = 1000}));
  Do(Submitted(1, {.cpu = 100}));
  Do(Submitted(2, {.cpu = 100}));
  Do(Submitted(3, {.cpu = 100}));
  Run(1, "m");
  Place(2, "m");
  const auto sequences = BeginAll();
  Place(3, "m");
  Do(Removed("m"));
  EXPECT_EQ(TaskOf(1).state, TaskState::kRunning) << "told";
  EXPECT_EQ(TaskOf(2).state, TaskState::kRunning) << "in flight";
  EXPECT_TRUE(IsWaiting(3)) << "untold";
  EXPECT_THAT(Outbox(), SizeIs(1));
  EXPECT_EQ(UsedCpu("m"), 200);
  state_.EndDelivery(sequences[0], /*is_delivered=*/true);
  EXPECT_EQ(TaskOf(2).state, TaskState::kRunning);
}

TEST_F(MachinesTest, ReportThatDidNotReachItsClientIsVoidOnADepartedMachine) {
  Do(Added("m", {.cpu = 1000}));
  Do(Submitted(1, {.cpu = 100}));
  Place(1, "m");
  const auto sequences = BeginAll();
  Do(Removed("m"));
  state_.EndDelivery(sequences[0], /*is_delivered=*/false);
  EXPECT_TRUE(IsWaiting(1));
  EXPECT_THAT(Outbox(), IsEmpty());
  EXPECT_EQ(UsedCpu("m"), 0);
}

// The client restarted and asked for a machine, and this one is gone.
TEST_F(MachinesTest, DepartedOneGivesBackATaskThatWaitsToBeReportedAgain) {
  Do(Added("m", {.cpu = 1000}));
  Do(Submitted(1, {.cpu = 100}));
  Run(1, "m");
  Do(Submitted(1, {.cpu = 100}));
  Do(Removed("m"));
  EXPECT_TRUE(IsWaiting(1));
  EXPECT_EQ(UsedCpu("m"), 0);
  EXPECT_THAT(Outbox(), IsEmpty()) << "its client knows the machine no more";
}

TEST_F(MachinesTest, DepartedOneGivesBackATaskWhoseSecondReportWasLost) {
  Do(Added("m", {.cpu = 1000}));
  Do(Submitted(1, {.cpu = 100}));
  Run(1, "m");
  Do(Submitted(1, {.cpu = 100}));
  const auto sequences = BeginAll();
  Do(Removed("m"));
  EXPECT_EQ(TaskOf(1).state, TaskState::kRunning) << "in flight";
  state_.EndDelivery(sequences[0], /*is_delivered=*/false);
  EXPECT_TRUE(IsWaiting(1));
  EXPECT_THAT(Outbox(), IsEmpty());
}

TEST_F(MachinesTest, DrainingOneTakesNothingUntilThatIsTakenBack) {
  Do(Added("m", {.cpu = 1000}));
  Do(Submitted(1, {.cpu = 100}));
  Run(1, "m");
  EXPECT_EQ(Do(SetDraining{"m"}), Ack::kOk);
  EXPECT_FALSE(MachineOf("m").IsUsable());
  EXPECT_TRUE(MachineOf("m").IsSound()) << "what runs there goes on";
  EXPECT_EQ(MachineOf("m").draining_from, 1);
  EXPECT_THAT(state_.draining(), ElementsAre(MachineOf("m").id));
  Do(Removed(1));
  EXPECT_EQ(Do(SetDraining{"m"}), Ack::kOk);
  EXPECT_EQ(MachineOf("m").draining_from, 1) << "it has not begun anew";
  EXPECT_EQ(Do(SetDraining{"m", false}), Ack::kOk);
  EXPECT_TRUE(MachineOf("m").IsUsable());
  EXPECT_THAT(state_.draining(), IsEmpty());
}

TEST_F(MachinesTest, DrainingOneIsStillWhenItReturns) {
  Do(Added("m", {.cpu = 1000}));
  Do(SetDraining{"m"});
  Do(Removed("m"));
  EXPECT_EQ(Do(SetDraining{"m"}), Ack::kNotFound) << "it has departed";
  Do(Added("m", {.cpu = 2000}));
  EXPECT_FALSE(MachineOf("m").IsUsable());
  Do(Removed("m"));
  EXPECT_EQ(Do(SetDraining{"m", false}), Ack::kOk);
  Do(Added("m", {.cpu = 2000}));
  EXPECT_TRUE(MachineOf("m").IsUsable());
}

TEST_F(MachinesTest, UnknownOneCannotBeDrained) {
  EXPECT_EQ(Do(SetDraining{"m"}), Ack::kNotFound);
  EXPECT_EQ(Do(SetDraining{"m", false}), Ack::kNotFound);
}

TEST_F(MachinesTest, DrainingOneKeepsRoomForNobody) {
  Do(Added("from", {.cpu = 1000}));
  Do(Added("to", {.cpu = 1000}));
  Do(Submitted(1, {.cpu = 400, .job = "one"}));
  Run(1, "from");
  state_.Migrate({1}, MachineOf("to").id);
  Do(Submitted(2, {.cpu = 500, .job = "two"}));
  state_.Nominate({2}, MachineOf("to").id);
  Do(SetDraining{"to"});
  EXPECT_FALSE(MachineOf("to").KeepsRoom());
  EXPECT_TRUE(state_.nominations().machines().empty());
  EXPECT_TRUE(state_.nominations().successions().all().empty());
  EXPECT_TRUE(TaskOf(1).is_evicted) << "its client is told all the same";
}

TEST_F(MachinesTest, OneWithoutUnitsRunsItsTasksItself) {
  Do(Added("m", {}));
  Do(Submitted(1));
  Place(1, "m");
  EXPECT_EQ(PuOf(1), kNoPu);
}

TEST_F(MachinesTest, UnitWithTheMostRoomGetsTheTask) {
  Do(Added("m", {.cpu = 6000,
                 .memory = 100,
                 .pus = {{"small", {{"cpu", 2000}, {"memory", 50}}},
                         {"large", {{"cpu", 4000}, {"memory", 50}}}}}));
  const auto place = [&](uint64_t uid, const TaskOptions& options) {
    Do(Submitted(uid, options));
    Place(uid, "m");
    return MachineOf("m").pus[static_cast<size_t>(PuOf(uid))].uuid;
  };
  EXPECT_EQ(place(1, {.cpu = 1000}), "large");
  EXPECT_EQ(place(2, {.cpu = 1000}), "small");  // Both would be half full.
  EXPECT_EQ(place(3, {.cpu = 1000}), "large");
  // The scarcest resource decides: memory is even, cpu half full on both.
  EXPECT_EQ(place(4, {.memory = 30}), "small");
  EXPECT_EQ(place(5, {.memory = 30}), "large");
}

TEST_F(MachinesTest, UnitsThatStateNothingTakeTurns) {
  Do(Added("m", {.pus = {{"a", {}}, {"b", {}}, {"c", {}}}}));
  std::vector<int32_t> pus;
  for (uint64_t uid = 1; uid <= 6; ++uid) {
    Do(Submitted(uid));
    Place(uid, "m");
    pus.push_back(PuOf(uid));
  }
  EXPECT_THAT(pus, ElementsAre(0, 1, 2, 0, 1, 2));
  Do(Removed(2));
  Do(Submitted(7));
  Place(7, "m");
  EXPECT_EQ(PuOf(7), 1);
}

}  // namespace
}  // namespace sluice
