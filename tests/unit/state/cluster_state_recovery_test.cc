// The state put together from records, and the records that make no sense.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/state/state_fixture.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class RecoveryTest : public StateTest {
 protected:
  void SetUp() override {
    EXPECT_THAT(RestoreJob(4, "job"), IsOk());
    EXPECT_THAT(RestoreMachine(7, "m"), IsOk());
  }
  // A state that refused a record is of no use, and need not make sense.
  void TearDown() override {}

  absl::Status RestoreJob(uint32_t id, std::string_view uuid) {
    Job job;
    job.id = {id};
    job.uuid = uuid;
    return state_.RestoreJob(job);
  }
  absl::Status RestoreMachine(uint32_t id, std::string_view uuid,
                              bool is_present = true) {
    return state_.RestoreMachine(StoredMachine(id, is_present),
                                 MachineSpecOf(uuid, {.cpu = 1000, .pus = {}}),
                                 {}, {});
  }
  static Machine StoredMachine(uint32_t id, bool is_present = true) {
    Machine machine;
    machine.id = {id};
    machine.is_present = is_present;
    return machine;
  }
  static Task Stored(uint64_t uid, TaskState state) {
    Task task;
    task.id = {uid};
    task.client.uid = {uid};
    task.job = {4};
    task.state = state;
    task.sequence = uid;
    if (state == TaskState::kRunning) task.machine = {7};
    return task;
  }
  absl::Status RestoreTask(const Task& task) {
    return state_.RestoreTask(task, TaskSpecOf(task.id.value, {.cpu = 100}));
  }
  static Delta StoredDelta(uint64_t sequence, uint64_t uid) {
    return {.sequence = sequence, .task = {uid}, .machine = {7}};
  }
  static auto Contradicts(std::string_view what) {
    return StatusIs(absl::StatusCode::kDataLoss, HasSubstr(std::string(what)));
  }
};

TEST_F(RecoveryTest, PutsEverythingWhereItWas) {
  EXPECT_THAT(RestoreTask(Stored(1, TaskState::kRunning)), IsOk());
  EXPECT_THAT(RestoreTask(Stored(2, TaskState::kPending)), IsOk());
  EXPECT_THAT(state_.RestoreDelta(StoredDelta(5, 1)), IsOk());
  state_.RestoreCounters({.next_job_id = 5,
                          .next_machine_id = 8,
                          .next_task_sequence = 3,
                          .next_delta_sequence = 6,
                          .version = 99});
  EXPECT_FALSE(state_.has_changes());
  EXPECT_EQ(state_.version(), 99u);
  EXPECT_EQ(UsedCpu("m"), 100);
  EXPECT_TRUE(IsWaiting(2));
  EXPECT_TRUE(state_.IsUntold({1}));
  EXPECT_EQ(state_.FindJob({4})->task_count, 2);
  EXPECT_EQ(FindContradiction(state_), "");
  Do(Added("n", {}));
  EXPECT_EQ(MachineOf("n").id, MachineId{8});
}

TEST_F(RecoveryTest, RemembersRemovalsAndLoadsOfSharedUids) {
  Task shared = Stored(1, TaskState::kPending);
  shared.client.expected_removals = 2;
  shared.client.earlier_holders = {{99}};
  EXPECT_THAT(RestoreTask(shared), IsOk());
  EXPECT_THAT(state_.RestoreHolders(), Contradicts("an earlier holder"));
  Task displaced = Stored(99, TaskState::kRunning);
  displaced.client.uid_standing = UidStanding::kDisplaced;
  EXPECT_THAT(
      state_.RestoreTask(
          displaced,
          TaskSpecOf(99, {.cpu = 40, .rules = {.host_ports = {TcpPort(80)}}})),
      IsOk());
  EXPECT_THAT(state_.RestoreHolders(), IsOk());
  Task tombstone = Stored(2, TaskState::kRemoved);
  tombstone.job = {99};  // Long gone.
  EXPECT_THAT(RestoreTask(tombstone), IsOk());
  EXPECT_EQ(UsedCpu("m"), 40);
  EXPECT_THAT(MachineOf("m").used_host_ports, ElementsAre(TcpPort(80)));
  EXPECT_EQ(Do(Removed(2)), Ack::kOk);
  EXPECT_EQ(Do(Removed(2)), Ack::kNotFound);
  EXPECT_EQ(Do(Removed(1)), Ack::kOk);
  EXPECT_EQ(Do(Removed(1)), Ack::kOk);
  EXPECT_EQ(UsedCpu("m"), 0);
  EXPECT_THAT(MachineOf("m").used_host_ports, IsEmpty());
}

TEST_F(RecoveryTest, BringsBackTaintsWithTheirTimesAndTheRulesOfTasks) {
  EXPECT_THAT(
      state_.RestoreMachine(
          StoredMachine(8),
          MachineSpecOf("n", {.cpu = 1000,
                              .taints = {NoExecute("a"), NoExecute("b")},
                              .avoids = {{"ReplicaSet", "u"}}}),
          {}, {17, 18}),
      IsOk());
  ASSERT_THAT(MachineOf("n").taints, SizeIs(2));
  EXPECT_EQ(MachineOf("n").taints[0].since_ms, 17);
  EXPECT_EQ(MachineOf("n").taints[1].since_ms, 18);
  Task evicted = Stored(1, TaskState::kRunning);
  evicted.is_evicted = true;
  const Owner owner = {"ReplicaSet", "u"};
  EXPECT_THAT(
      state_.RestoreTask(evicted,
                         TaskSpecOf(1, {.rules = {.host_ports = {TcpPort(80)}},
                                        .owner = owner,
                                        .quarantine_reason = "no sense"})),
      IsOk());
  EXPECT_TRUE(TaskOf(1).is_evicted);
  EXPECT_EQ(TaskOf(1).class_key.rules->owner, owner) << "machine n avoids it";
  EXPECT_THAT(MachineOf("m").used_host_ports, ElementsAre(TcpPort(80)));
  EXPECT_EQ(TaskOf(1).quarantine_reason, "no sense");
}

TEST_F(RecoveryTest, RefusesTaintsThatAreNotAsManyAsTheirTimes) {
  EXPECT_THAT(
      state_.RestoreMachine(StoredMachine(8),
                            MachineSpecOf("n", {.taints = {NoExecute("a")}}),
                            {}, {}),
      Contradicts("the number of its taints differs from that of their times"));
}

TEST_F(RecoveryTest, UndoesThePlacementsThatCannotBeToldAnyMore) {
  EXPECT_THAT(RestoreMachine(8, "gone", /*is_present=*/false), IsOk());
  for (const uint64_t uid : {1u, 2u}) {
    Task task = Stored(uid, TaskState::kRunning);
    task.machine = {8};
    EXPECT_THAT(RestoreTask(task), IsOk());
  }
  Delta first = StoredDelta(5, 1);
  first.machine = {8};
  Delta repeat = StoredDelta(6, 2);
  repeat.machine = {8};
  repeat.is_repeat = true;
  EXPECT_THAT(state_.RestoreDelta(first), IsOk());
  EXPECT_THAT(state_.RestoreDelta(repeat), IsOk());
  state_.RestoreCounters({.next_delta_sequence = 7});
  EXPECT_TRUE(IsWaiting(1)) << "nobody was told";
  EXPECT_TRUE(IsWaiting(2)) << "its client asked for a machine again";
  EXPECT_THAT(Outbox(), IsEmpty());
  EXPECT_THAT(state_.TakeChanges().deltas, SizeIs(2)) << "the store is told";
  EXPECT_EQ(FindContradiction(state_), "");
}

TEST_F(RecoveryTest, RefusesRecordsStoredTwice) {
  EXPECT_THAT(RestoreJob(4, "other"), Contradicts("job 4: stored twice"));
  EXPECT_THAT(RestoreJob(5, "job"), Contradicts("job 5: stored twice"));
  EXPECT_THAT(RestoreMachine(7, "other"), Contradicts("machine 7"));
  EXPECT_THAT(RestoreTask(Stored(1, TaskState::kRunning)), IsOk());
  EXPECT_THAT(RestoreTask(Stored(1, TaskState::kPending)),
              Contradicts("task 1: stored twice"));
  EXPECT_THAT(state_.RestoreDelta(StoredDelta(5, 1)), IsOk());
  EXPECT_THAT(state_.RestoreDelta(StoredDelta(5, 1)),
              Contradicts("delta 5 of task 1: stored twice"));
}

TEST_F(RecoveryTest, RefusesRecordsThatNameWhatIsNotThere) {
  Task jobless = Stored(1, TaskState::kPending);
  jobless.job = {9};
  EXPECT_THAT(RestoreTask(jobless), Contradicts("its job is not stored"));
  Task nowhere = Stored(2, TaskState::kRunning);
  nowhere.machine = {9};
  EXPECT_THAT(RestoreTask(nowhere), Contradicts("its machine is not stored"));
  Task on_a_unit = Stored(3, TaskState::kRunning);
  on_a_unit.pu = 0;
  EXPECT_THAT(RestoreTask(on_a_unit), Contradicts("no such processing unit"));
}

TEST_F(RecoveryTest, RefusesDeltasThatDoNotTellTheTruth) {
  EXPECT_THAT(RestoreMachine(8, "n"), IsOk());
  EXPECT_THAT(RestoreTask(Stored(1, TaskState::kPending)), IsOk());
  EXPECT_THAT(RestoreTask(Stored(2, TaskState::kRunning)), IsOk());
  EXPECT_THAT(state_.RestoreDelta(StoredDelta(5, 1)),
              Contradicts("its task does not run"));
  Delta elsewhere = StoredDelta(6, 2);
  elsewhere.machine = {8};
  EXPECT_THAT(state_.RestoreDelta(elsewhere),
              Contradicts("its task runs elsewhere"));
  Task evicted = Stored(3, TaskState::kRunning);
  evicted.is_evicted = true;
  EXPECT_THAT(RestoreTask(evicted), IsOk());
  for (const DeltaType type :
       {DeltaType::kPlace, DeltaType::kPreempt, DeltaType::kMigrate}) {
    const bool is_place = type == DeltaType::kPlace;
    Delta delta = StoredDelta(7, is_place ? 3 : 2);
    delta.type = type;
    EXPECT_THAT(state_.RestoreDelta(delta),
                Contradicts("its type contradicts the state of its task"));
    if (is_place) continue;
    delta = StoredDelta(7 + static_cast<uint64_t>(type), 3);
    delta.type = type;
    EXPECT_THAT(state_.RestoreDelta(delta), IsOk());
  }
}

TEST_F(RecoveryTest, RefusesAMachineWithTheUuidOfAnother) {
  EXPECT_THAT(
      state_.RestoreMachine(StoredMachine(8),
                            MachineSpecOf("n", {.other_uuids = {"m"}}), {}, {}),
      Contradicts("another machine has one of its uuids"));
}

TEST_F(RecoveryTest, RefusesAForeignPodOnTwoMachines) {
  const AddForeignPod pod = ForeignPod("a/ns", "n", {{"cpu", 5}});
  EXPECT_THAT(state_.RestoreMachine(StoredMachine(8), MachineSpecOf("n", {}),
                                    {pod, pod}, {}),
              Contradicts("foreign pods"));
}

}  // namespace
}  // namespace sluice
