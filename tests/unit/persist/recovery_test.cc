#include "persist/recovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/limits.h"
#include "base/strings.h"
#include "persist/memory_store.h"
#include "persist/records.h"
#include "persist/rocksdb_store.h"
#include "persist/sealed_value.h"
#include "sluice/v1/store.pb.h"
#include "unit/persist/state_text.h"
#include "unit/persist/store_contract.h"
#include "unit/persist/temporary_directory.h"
#include "util/cluster_builder.h"
#include "util/state_invariants.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

void Save(ClusterState* state, Store* store) {
  ASSERT_THAT(store->Write(EncodeChanges(*state, state->TakeChanges()),
                           Durability::kBuffered),
              IsOk());
}

void AddMachine(const std::string& uuid, int64_t cpu, ClusterState* state) {
  MachineSpec spec;
  spec.uuid = uuid;
  spec.name = "name of " + uuid;
  spec.allocatable = {{"cpu", cpu}, {"memory", 1000}, {"pods", 9}, {"x/b", 4}};
  spec.capacity = {{"cpu", cpu + 1}, {"memory", 2000}};
  spec.labels = {{"disk", "ssd"}, {"zone", "z1"}};
  spec.taints = {NoExecute("gone"), NoSchedule("old")};
  spec.avoids = {{"ReplicaSet", "u"}};
  spec.pus = {{uuid + "/0", {{"cpu", cpu / 2}}}, {uuid + "/1", {}}};
  spec.other_uuids = {uuid + "/socket"};
  ASSERT_EQ(state->Apply(sluice::AddMachine{spec}, 0), Ack::kOk);
}

SubmitTask Submission(uint64_t uid) {
  SubmitTask submit;
  submit.uid = {uid};
  submit.job_uuid = "job";
  submit.job_name = "a job";
  return submit;
}

void Submit(uint64_t uid, const std::string& name, ClusterState* state,
            const std::string& quarantine_reason = "") {
  SubmitTask submit = Submission(uid);
  submit.spec.name = name;
  submit.spec.task_namespace = "default";
  submit.spec.request = {{"cpu", 100}, {"x/a", 0}};
  submit.spec.priority = 3;
  submit.spec.labels = {{"app", "web"}};
  submit.spec.rules.selectors = {LabelIn("disk", {"ssd"})};
  submit.spec.rules.tolerations = {Tolerates(NoExecute("gone"), 300)};
  submit.spec.rules.host_ports = {TcpPort(1000 + static_cast<int32_t>(uid))};
  submit.spec.owner = {"ReplicaSet", "u"};
  submit.spec.quarantine_reason = quarantine_reason;
  ASSERT_EQ(state->Apply(submit, 1234), Ack::kOk);
}

void Deliver(uint64_t sequence, ClusterState* state) {
  state->BeginDelivery(sequence);
  state->EndDelivery(sequence, /*is_delivered=*/true);
}

// Something of everything, and nothing in flight.
void Populate(ClusterState* state) {
  AddMachine("m0", 1000, state);
  AddMachine("m1", 500, state);
  AddMachine("m2", 500, state);
  state->Apply(AddForeignPod{"kube-proxy", "m0", {{"cpu", 10}}}, 0);
  for (uint64_t uid = 10; uid < 18; ++uid) Submit(uid, StrCat(uid), state);
  Submit(18, "strange", state, "its cpu is not a number");
  state->Place({10}, {0}, 0);
  state->Place({11}, {1}, 0);
  state->Place({12}, {0}, 0);
  Deliver(2, state);
  Deliver(3, state);
  state->Apply(CompleteTask{{13}}, 0);
  state->Apply(FailTask{{14}}, 0);
  Submit(15, "15", state);  // Removed once of twice.
  state->Apply(RemoveTask{{15}}, 0);
  Submit(12, "another 12", state);  // Leaves its load on m0 ...
  Submit(16, "another 16", state);
  state->Apply(RemoveTask{{16}}, 0);  // ... and this one is muted.
  state->Preempt({11});
  Deliver(4, state);
  state->Apply(RemoveMachine{"m1"}, 0);  // With task 11 on it.
  MachineSpec strange;
  strange.uuid = "m2";
  strange.quarantine_reason = "negative memory";
  state->Apply(UpdateMachine{strange}, 0);
}

// Whether there is such a record under `key`.
template <class Message>
bool Read(const Store& store, const std::string& key, Message* message) {
  const Entries entries = ScanAll(store, key);
  return entries.size() == 1 &&
         message->ParseFromString(std::string(*Unseal(key, entries[0].second)));
}

std::unique_ptr<ClusterState> Recovered(const Store& store) {
  auto state = std::make_unique<ClusterState>();
  EXPECT_THAT(Recover(store, state.get()), IsOk());
  return state;
}

TEST(Recovery, LeavesAStateEmptyWhereTheStoreIs) {
  const std::unique_ptr<ClusterState> state = Recovered(MemoryStore());
  EXPECT_EQ(StateText(*state), StateText(ClusterState()));
  EXPECT_FALSE(state->has_changes());
}

TEST(Recovery, BringsBackEverythingFromRealFiles) {
  const TemporaryDirectory directory;
  ClusterState state;
  {
    absl::StatusOr<std::unique_ptr<Store>> store =
        OpenRocksDbStore(directory.path());
    ASSERT_THAT(store, IsOk());
    Populate(&state);
    Save(&state, store->get());
  }
  absl::StatusOr<std::unique_ptr<Store>> store =
      OpenRocksDbStore(directory.path());
  ASSERT_THAT(store, IsOk());
  const std::unique_ptr<ClusterState> recovered = Recovered(**store);
  EXPECT_EQ(StateText(*recovered), StateText(state));
  EXPECT_FALSE(recovered->has_changes());
  EXPECT_EQ(recovered->FindTask({18})->quarantine_reason,
            "its cpu is not a number");
  EXPECT_EQ(recovered->FindMachine("m2")->quarantine_reason, "negative memory");
  ASSERT_THAT(recovered->FindHolder({12})->client.earlier_holders, SizeIs(1));
  EXPECT_TRUE(recovered->FindHolder({16})->client.IsMuted());
  EXPECT_TRUE(recovered->FindTask({11})->is_evicted);
  const TaskId earlier = recovered->FindHolder({12})->client.earlier_holders[0];
  EXPECT_EQ(recovered->FindTask(earlier)->class_key.rules->host_ports,
            std::vector{TcpPort(1012)});
  EXPECT_EQ(recovered->FindHolder({12})->class_key.rules->owner,
            (Owner{"ReplicaSet", "u"}));
}

TEST(Recovery, TellsATaskToMoveOnceMoreButKeepsNoRoom) {
  MemoryStore store;
  ClusterState state;
  for (const char* uuid : {"from", "to"}) {
    state.Apply(Added(uuid, {.cpu = 1000}), 0);
  }
  state.Apply(Submitted(1, {.cpu = 600}), 0);
  state.Place({1}, {0}, 0);
  Deliver(1, &state);
  state.Migrate({1}, {1});
  state.BeginDelivery(2);
  Save(&state, &store);
  const std::unique_ptr<ClusterState> recovered = Recovered(store);
  EXPECT_TRUE(recovered->FindTask({1})->is_evicted);
  ASSERT_THAT(recovered->outbox(), SizeIs(1));
  const Delta& delta = recovered->outbox().begin()->second;
  EXPECT_EQ(delta.type, DeltaType::kMigrate);
  EXPECT_EQ(delta.machine, MachineId{0});
  EXPECT_FALSE(delta.is_in_flight);
  EXPECT_EQ(recovered->FindMachine("to")->Free()[kCpu], 1000);
  recovered->Apply(Submitted(2, {.cpu = 600}), 0);
  EXPECT_TRUE(recovered->nominations().machines().empty());
  EXPECT_EQ(FindContradiction(*recovered), "");
}

TEST(Recovery, TakesBackAMoveThatNobodyWasToldOf) {
  MemoryStore store;
  ClusterState state;
  state.Apply(Added("from", {.cpu = 1000}), 0);
  state.Apply(Added("to", {.cpu = 1000}), 0);
  state.Apply(Submitted(1, {.cpu = 600}), 0);
  state.Place({1}, {0}, 0);
  Deliver(1, &state);
  state.Migrate({1}, {1});
  Save(&state, &store);
  const std::unique_ptr<ClusterState> recovered = Recovered(store);
  EXPECT_FALSE(recovered->FindTask({1})->is_evicted);
  EXPECT_THAT(recovered->outbox(), IsEmpty());
  EXPECT_EQ(FindContradiction(*recovered), "");
}

TEST(Recovery, KeepsTheTimeSinceWhichATaintIsThere) {
  MemoryStore store;
  ClusterState state;
  state.Apply(Added("m", {.taints = {NoExecute("a")}}), 100);
  state.Apply(Updated("m", {.taints = {NoExecute("a"), NoExecute("b")}}), 200);
  Save(&state, &store);
  std::unique_ptr<ClusterState> recovered = Recovered(store);
  recovered->Apply(Updated("m", {.taints = {NoExecute("a"), NoExecute("b"),
                                            NoExecute("c")}}),
                   300);
  const std::vector<MachineTaint>& taints = recovered->FindMachine("m")->taints;
  ASSERT_THAT(taints, SizeIs(3));
  EXPECT_EQ(taints[0].since_ms, 100);
  EXPECT_EQ(taints[1].since_ms, 200);
  EXPECT_EQ(taints[2].since_ms, 300);
}

TEST(Recovery, KeepsTheRulesOfATaskThatIsQuarantinedWhileItRuns) {
  MemoryStore store;
  ClusterState state;
  state.Apply(Added("m", {.cpu = 100}), 0);
  Submit(10, "10", &state);
  state.Place({10}, {0}, 0);
  state.Apply(Updated(10, {.name = "10", .quarantine_reason = "no sense"}), 0);
  Save(&state, &store);
  const std::unique_ptr<ClusterState> recovered = Recovered(store);
  EXPECT_EQ(StateText(*recovered), StateText(state));
  EXPECT_EQ(recovered->FindMachine("m")->used_host_ports,
            std::vector{TcpPort(1010)});
  recovered->Apply(CompleteTask{{10}}, 0);
  EXPECT_THAT(recovered->FindMachine("m")->used_host_ports, SizeIs(0));
}

TEST(Recovery, ReadsOlderFormatsWhichKnowLessRules) {
  MemoryStore store;
  ClusterState state;
  state.Apply(Added("m", {.cpu = 100, .labels = {{"disk", "ssd"}}}), 0);
  state.Apply(Submitted(10, {.cpu = 1}), 0);
  state.Place({10}, {0}, 0);
  Save(&state, &store);
  v1::StoredTask task;
  ASSERT_TRUE(Read(store, TaskKey({10}), &task));
  EXPECT_FALSE(task.spec().has_rules());
  EXPECT_FALSE(task.spec().has_owner());
  for (const uint32_t format : {1u, 2u}) {
    v1::StoredCounters counters;
    ASSERT_TRUE(Read(store, CountersKey(), &counters));
    counters.set_format(format);
    WriteBatch batch;
    batch.Put(CountersKey(), Seal(CountersKey(), counters.SerializeAsString()));
    ASSERT_THAT(store.Write(batch, Durability::kBuffered), IsOk());
    const std::unique_ptr<ClusterState> recovered = Recovered(store);
    EXPECT_EQ(recovered->FindTask({10})->class_key.rules, &NoRules());
    EXPECT_EQ(StateText(*recovered), StateText(state));
  }
}

TEST(Recovery, DeliversAgainWhatWasInFlight) {
  MemoryStore store;
  ClusterState state;
  AddMachine("m0", 1000, &state);
  Submit(10, "10", &state);
  state.Place({10}, {0}, 0);
  state.BeginDelivery(1);
  Save(&state, &store);
  const std::unique_ptr<ClusterState> recovered = Recovered(store);
  ASSERT_THAT(recovered->outbox(), SizeIs(1));
  const Delta& delta = recovered->outbox().begin()->second;
  EXPECT_EQ(delta.task, TaskId{10});
  EXPECT_EQ(delta.machine, MachineId{0});
  EXPECT_FALSE(delta.is_in_flight);
  EXPECT_FALSE(recovered->IsUntold({10})) << "its client may act on it";
  EXPECT_EQ(recovered->Apply(RemoveMachine{"m0"}, 0), Ack::kOk);
  EXPECT_EQ(recovered->FindTask({10})->state, TaskState::kPending)
      << "its client may know nothing of it";
  EXPECT_THAT(recovered->outbox(), IsEmpty());
}

TEST(Recovery, DoesNotDeliverAgainWhatIsKnownToHaveArrived) {
  MemoryStore store;
  ClusterState state;
  AddMachine("m0", 1000, &state);
  Submit(10, "10", &state);
  state.Place({10}, {0}, 0);
  Save(&state, &store);
  Deliver(1, &state);
  Save(&state, &store);
  const std::unique_ptr<ClusterState> recovered = Recovered(store);
  EXPECT_THAT(recovered->outbox(), SizeIs(0));
  EXPECT_EQ(recovered->Apply(RemoveMachine{"m0"}, 0), Ack::kOk);
  EXPECT_EQ(recovered->FindTask({10})->state, TaskState::kRunning);
}

TEST(Recovery, KnowsThatOthersDecidedForAStandby) {
  MemoryStore store;
  ClusterState state;
  const FeedId feed = state.OpenFeed("shop");
  state.Apply(feed, SnapshotBegan{.is_standby = true}, 0);
  state.Apply(feed, MachineStated{MachineSpecOf("m", {.cpu = 1000})}, 0);
  Save(&state, &store);
  EXPECT_TRUE(Recovered(store)->feeds().at(feed).is_standby);
  state.Apply(feed, FeedLed{.term = {"lease", 2, "second"}}, 0);
  Save(&state, &store);
  const std::unique_ptr<ClusterState> recovered = Recovered(store);
  EXPECT_FALSE(recovered->feeds().at(feed).is_standby);
  EXPECT_EQ(recovered->feeds().at(feed).term.number, 2);
}

TEST(Recovery, KnowsWhatFeedsHaveStatedAndHoldsItUntilTheyAreBack) {
  MemoryStore store;
  ClusterState state;
  const FeedId feed = state.OpenFeed("shop");
  const auto apply = [&](const FeedEvent& event) {
    ASSERT_EQ(state.Apply(feed, event, 0), FeedOutcome::kApplied);
  };
  const FeedTerm term{.lease = "lease", .number = 7, .holder = "holder"};
  apply(SnapshotBegan{.term = term});
  apply(MachineStated{MachineSpecOf("m", {.cpu = 1000})});
  TaskStated task{.id = "a",
                  .job_uuid = "job",
                  .job_name = "job",
                  .gang = {},
                  .spec = TaskSpecOf(0, {.cpu = 100}),
                  .machine_uuid = "",
                  .is_foreign = false};
  apply(task);
  task.id = "b";
  apply(task);
  task.id = "c";
  task.machine_uuid = "m";
  task.is_foreign = true;
  apply(task);
  apply(SnapshotEnded());
  state.Place(state.feeds().at(feed).tasks.at("a"), {0}, 0);
  Save(&state, &store);
  const std::unique_ptr<ClusterState> recovered = Recovered(store);
  EXPECT_EQ(FindContradiction(*recovered), "");
  const Feed& known = recovered->feeds().at(feed);
  EXPECT_EQ(known.name, "shop");
  EXPECT_EQ(known.term, term);
  EXPECT_THAT(known.tasks, SizeIs(3));
  EXPECT_TRUE(recovered->FindTask(known.tasks.at("c"))->is_foreign);
  EXPECT_EQ(recovered->FindMachine("m")->feed, feed);
  EXPECT_EQ(recovered->FindMachine("m")->used[kCpu], 200);
  EXPECT_EQ(recovered->pending_count(), 0);
  EXPECT_THAT(recovered->SequencesOf(feed), SizeIs(1));
  EXPECT_EQ(recovered->OpenFeed("shop"), feed);
  EXPECT_NE(recovered->OpenFeed("other"), feed);
  // What was stated before the restart does not count as stated since.
  recovered->Apply(feed, SnapshotBegan(), 0);
  recovered->Apply(feed, SnapshotEnded(), 0);
  EXPECT_THAT(recovered->tasks(), SizeIs(0));
}

// The task has two deltas in flight: placed, and placed again for a client that
// started anew.
TEST(Recovery, UndoesWhatCannotBeDeliveredAgainForGood) {
  MemoryStore store;
  ClusterState state;
  AddMachine("m0", 1000, &state);
  AddMachine("m1", 1000, &state);
  Submit(10, "10", &state);
  state.Place({10}, {0}, 0);
  state.BeginDelivery(1);
  Submit(10, "10", &state);
  state.BeginDelivery(2);
  state.Apply(RemoveMachine{"m0"}, 0);
  Save(&state, &store);

  std::unique_ptr<ClusterState> recovered = Recovered(store);
  EXPECT_EQ(recovered->FindTask({10})->state, TaskState::kPending);
  EXPECT_EQ(recovered->pending_count(), 1);
  EXPECT_TRUE(recovered->FindMachine("m0")->IsEmpty());
  ASSERT_TRUE(recovered->has_changes());
  recovered->Place({10}, {1}, 0);
  Save(recovered.get(), &store);

  const std::unique_ptr<ClusterState> again = Recovered(store);
  EXPECT_FALSE(again->has_changes());
  EXPECT_EQ(again->FindTask({10})->machine, MachineId{1});
  EXPECT_THAT(again->outbox(), SizeIs(1));
}

// The order of classes follows the order in which resources were first named.
TEST(Recovery, KeepsTheOrderOfExtendedResources) {
  MemoryStore store;
  ClusterState state;
  SubmitTask submit = Submission(20);
  submit.spec.request = {{"x/second", 1}};
  state.Apply(submit, 0);
  submit.uid = {10};
  submit.spec.request = {{"x/first", 1}};
  state.Apply(submit, 0);
  Save(&state, &store);
  EXPECT_EQ(StateText(*Recovered(store)), StateText(state));
}

// What was freed before a restart is free after it, between others too.
TEST(Recovery, BringsBackFreeIndicesOfResources) {
  MemoryStore store;
  ClusterState state;
  SubmitTask junk = Submission(1);
  for (size_t i = 0; i < kExtendedResourceNamesMax - 1; ++i) {
    junk.spec.request.emplace_back(StrCat("x/", i), 1);
  }
  state.Apply(junk, 0);
  SubmitTask submit = Submission(2);
  submit.spec.request = {{"last", 1}};
  state.Apply(submit, 0);
  Save(&state, &store);
  EXPECT_EQ(StateText(*Recovered(store)), StateText(state));
  state.Apply(RemoveTask{{1}}, 0);
  Save(&state, &store);
  const auto again = Recovered(store);
  EXPECT_EQ(StateText(*again), StateText(state));
  EXPECT_EQ(again->resource_count(),
            kBuiltinResourceCount + kExtendedResourceNamesMax);
  // It goes on as the state would have gone on.
  submit.uid = {3};
  submit.spec.request = {{"a", 1}, {"b", 1}};
  for (ClusterState* one : {&state, again.get()}) one->Apply(submit, 0);
  EXPECT_EQ(again->ResourceName(kBuiltinResourceCount + 1), "b");
  EXPECT_EQ(StateText(*again), StateText(state));
}

// As in stores that were written when names were never freed.
TEST(Recovery, FreesNamesThatNothingHas) {
  MemoryStore store;
  ClusterState state;
  for (size_t i = 0; i < kExtendedResourceNamesMax; ++i) {
    ASSERT_THAT(state.RestoreResourceName(StrCat("x/", i)), IsOk());
  }
  ChangeSet changes;
  changes.counters = true;
  ASSERT_THAT(store.Write(EncodeChanges(state, changes), Durability::kBuffered),
              IsOk());
  const auto again = Recovered(store);
  EXPECT_EQ(again->resource_count(), kBuiltinResourceCount);
}

TEST(Recovery, BringsBackATaskWithTooManyResources) {
  MemoryStore store;
  ClusterState state;
  SubmitTask submit = Submission(1);
  for (size_t i = 0; i <= kExtendedResourceNamesMax; ++i) {
    submit.spec.request.emplace_back(StrCat("x/", i), 1);
  }
  state.Apply(submit, 0);
  Save(&state, &store);
  EXPECT_THAT(state.FindTask({1})->quarantine_reason, HasSubstr("x/256"));
  EXPECT_EQ(StateText(*Recovered(store)), StateText(state));
}

// A store of everything, and what damage does to it.
class DamagedStore : public testing::Test {
 protected:
  DamagedStore() {
    Populate(&state_);
    Save(&state_, &store_);
  }

  // Writes `message` under `key`, properly sealed.
  template <class Message>
  void Replace(const std::string& key, const Message& message) {
    WriteBatch batch;
    batch.Put(key, Seal(key, message.SerializeAsString()));
    ASSERT_THAT(store_.Write(batch, Durability::kBuffered), IsOk());
  }

  void Delete(const std::string& key) {
    WriteBatch batch;
    batch.Delete(key);
    ASSERT_THAT(store_.Write(batch, Durability::kBuffered), IsOk());
  }

  // Changes the message under `key` and expects the error that names it.
  template <class Message>
  void ExpectRefused(const std::string& key,
                     const std::function<void(Message*)>& change,
                     const std::string& error,
                     absl::StatusCode code = absl::StatusCode::kDataLoss) {
    SCOPED_TRACE(error);
    const Entries before = ScanAll(store_, key);
    ASSERT_THAT(before, SizeIs(1));
    Message message;
    ASSERT_TRUE(
        message.ParseFromString(std::string(*Unseal(key, before[0].second))));
    change(&message);
    Replace(key, message);
    ClusterState state;
    EXPECT_THAT(
        Recover(store_, &state),
        StatusIs(code, AllOf(HasSubstr(StrCat("record ", KeyText(key), ": ")),
                             HasSubstr(error))));
    WriteBatch batch;
    batch.Put(key, before[0].second);
    ASSERT_THAT(store_.Write(batch, Durability::kBuffered), IsOk());
  }

  ClusterState state_;
  MemoryStore store_;
};

TEST_F(DamagedStore, IsRecoveredWhereItIsNotDamaged) {
  EXPECT_EQ(StateText(*Recovered(store_)), StateText(state_));
}

TEST_F(DamagedStore, IsRefusedForEveryFlippedBitOfAValue) {
  for (const auto& [key, value] : ScanAll(store_)) {
    for (size_t bit = 0; bit < value.size() * 8; ++bit) {
      std::string flipped = value;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
      WriteBatch batch;
      batch.Put(key, flipped);
      ASSERT_THAT(store_.Write(batch, Durability::kBuffered), IsOk());
      ClusterState state;
      ASSERT_THAT(Recover(store_, &state),
                  StatusIs(absl::StatusCode::kDataLoss,
                           HasSubstr(StrCat("record ", KeyText(key), ": "))))
          << bit;
    }
    WriteBatch batch;
    batch.Put(key, value);
    ASSERT_THAT(store_.Write(batch, Durability::kBuffered), IsOk());
  }
}

TEST_F(DamagedStore, IsRefusedForEveryFlippedBitOfAKey) {
  for (const auto& [key, value] : ScanAll(store_)) {
    for (size_t bit = 0; bit < key.size() * 8; ++bit) {
      std::string flipped = key;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
      MemoryStore damaged;
      WriteBatch batch;
      for (const auto& [other_key, other_value] : ScanAll(store_)) {
        if (other_key != key) batch.Put(other_key, other_value);
      }
      batch.Put(flipped, value);
      ASSERT_THAT(damaged.Write(batch, Durability::kBuffered), IsOk());
      ClusterState state;
      ASSERT_THAT(Recover(damaged, &state),
                  StatusIs(absl::StatusCode::kDataLoss, HasSubstr("record 0x")))
          << KeyText(flipped);
    }
  }
}

TEST(Recovery, BringsBackWhichMachinesAreDraining) {
  MemoryStore store;
  ClusterState state;
  Populate(&state);
  state.Apply(SetDraining{"m0"}, 0);
  state.Apply(SetDraining{"m1", false}, 0);
  Save(&state, &store);
  const std::unique_ptr<ClusterState> recovered = Recovered(store);
  EXPECT_EQ(StateText(*recovered), StateText(state));
  EXPECT_EQ(recovered->draining(), state.draining());
  EXPECT_THAT(recovered->draining(), SizeIs(1));
  EXPECT_FALSE(recovered->FindMachine("m0")->IsUsable());
}

TEST_F(DamagedStore, IsRefusedIfItDrainsFromLessThanNoTask) {
  ExpectRefused<v1::StoredMachine>(
      MachineKey({0}), [](auto* machine) { machine->set_draining_from(-1); },
      "its task count at drain start is negative");
}

TEST_F(DamagedStore, IsRefusedIfTwoTasksHaveOneUid) {
  ExpectRefused<v1::StoredTask>(
      TaskKey({13}), [](auto* task) { task->set_client_uid(10); },
      "task 13: another task has its uid");
}

TEST_F(DamagedStore, IsRefusedIfItsFormatIsAnother) {
  for (const uint32_t format : {0u, 9u}) {
    ExpectRefused<v1::StoredCounters>(
        CountersKey(), [&](auto* counters) { counters->set_format(format); },
        StrCat("the store has format ", format,
               ", but this daemon reads formats 1 to 8"),
        absl::StatusCode::kFailedPrecondition);
  }
}

TEST_F(DamagedStore, IsRefusedWithoutAnEarlierHolderOfAUid) {
  Delete(TaskKey(state_.FindHolder({12})->client.earlier_holders[0]));
  ClusterState state;
  EXPECT_THAT(
      Recover(store_, &state),
      StatusIs(absl::StatusCode::kDataLoss,
               HasSubstr(StrCat("task ", state_.FindHolder({12})->id.value,
                                ": an earlier holder of its uid"))));
}

// Of such a holder nothing but its load was stored.
TEST_F(DamagedStore, OfFormat3HasEarlierHoldersWithoutAName) {
  const std::string key = TaskKey(state_.FindHolder({12})->id);
  v1::StoredTask stored;
  ASSERT_TRUE(stored.ParseFromString(
      std::string(*Unseal(key, ScanAll(store_, key)[0].second))));
  const TaskId holder = {stored.earlier_holders(0)};
  const MachineId machine = state_.FindTask(holder)->machine;
  stored.clear_earlier_holders();
  stored.set_holder_count(3);  // One of them never ran.
  v1::StoredSharedLoad* load = stored.add_shared_loads();
  load->set_machine_id(machine.value);
  for (const auto& [name, amount] :
       state_.ToNamed(state_.FindTask(holder)->class_key.request)) {
    load->add_request()->set_resource(name);
    load->mutable_request()->rbegin()->set_amount(amount);
  }
  Replace(key, stored);
  Delete(TaskKey(holder));
  const Resources used = state_.FindMachine(machine)->used;
  std::unique_ptr<ClusterState> recovered = Recovered(store_);
  EXPECT_EQ(recovered->FindMachine(machine)->used, used);
  EXPECT_THAT(recovered->FindHolder({12})->client.earlier_holders, SizeIs(2));
  EXPECT_EQ(FindContradiction(*recovered), "");
  // From then on they are stored as they should be.
  Save(recovered.get(), &store_);
  EXPECT_EQ(StateText(*Recovered(store_)), StateText(*recovered));
}

TEST_F(DamagedStore, IsRefusedWithoutItsCounters) {
  Delete(CountersKey());
  ClusterState state;
  EXPECT_THAT(Recover(store_, &state),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("counters")));
}

TEST_F(DamagedStore, IsRefusedForAKeyThatNobodyKnows) {
  for (const char* key : {"d", "zebra"}) {
    Replace(key, v1::StoredJob());
    ClusterState state;
    EXPECT_THAT(Recover(store_, &state),
                StatusIs(absl::StatusCode::kDataLoss,
                         HasSubstr(StrCat("record ", KeyText(key),
                                          ": its kind is unknown"))));
    Delete(key);
  }
}

TEST_F(DamagedStore, IsRefusedForBytesThatAreNoMessage) {
  const std::string key = TaskKey({10});
  WriteBatch batch;
  batch.Put(key, Seal(key, "\xff\xff"));
  ASSERT_THAT(store_.Write(batch, Durability::kBuffered), IsOk());
  ClusterState state;
  EXPECT_THAT(Recover(store_, &state),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr(StrCat("record ", KeyText(key), ": not"))));
}

TEST_F(DamagedStore, IsRefusedForTasksThatContradictOthers) {
  const auto expect = [&](uint64_t uid, auto change, const char* error) {
    ExpectRefused<v1::StoredTask>(TaskKey({uid}), change, error);
  };
  expect(
      10, [](auto* task) { task->set_uid(99); }, "differ in id");
  expect(
      10, [](auto* task) { task->set_job_id(7); }, "job is not stored");
  expect(
      10, [](auto* task) { task->set_state(9); }, "state");
  expect(
      10, [](auto* task) { task->set_state(-1); }, "state");
  expect(
      10, [](auto* task) { task->set_machine_id(7); }, "machine is not stored");
  expect(
      10, [](auto* task) { task->set_pu(2); }, "processing unit");
  expect(
      10, [](auto* task) { task->set_pu(-1); }, "processing unit");
  expect(
      10, [](auto* task) { task->set_sequence(1000); },
      "not been assigned yet");
  expect(
      11, [](auto* task) { task->set_sequence(0); }, "another task");
  expect(
      10, [](auto* task) { task->set_expected_removals(0); }, "no removal");
  expect(
      10,
      [](auto* task) {
        task->mutable_spec()->mutable_request(0)->set_amount(-1);
      },
      "out of range");
  expect(
      10,
      [](auto* task) {
        task->mutable_spec()->mutable_rules()->mutable_selectors(0)->set_op(9);
      },
      "its requirements: op: 9 is not in 0 to 6");
  expect(
      10,
      [](auto* task) {
        task->add_shared_loads()->add_host_ports()->set_port(0);
      },
      "host port");
  expect(
      17, [](auto* task) { task->set_is_evicted(true); }, "told to leave");
}

TEST_F(DamagedStore, IsRefusedForMachinesThatContradictOthers) {
  const auto expect = [&](uint32_t id, auto change, const char* error) {
    ExpectRefused<v1::StoredMachine>(MachineKey({id}), change, error);
  };
  expect(
      0, [](auto* machine) { machine->set_machine_id(1); }, "differ in id");
  expect(
      1, [](auto* machine) { machine->set_uuid("m0"); }, "one of its uuids");
  expect(
      1, [](auto* machine) { machine->mutable_pus(0)->set_uuid("m0/1"); },
      "one of its uuids");
  expect(
      1, [](auto* machine) { machine->set_other_uuids(0, "m0"); },
      "one of its uuids");
  expect(
      1,
      [](auto* machine) {
        machine->add_foreign_pods()->set_name("kube-proxy");
      },
      "foreign pods");
  expect(
      0,
      [](auto* machine) {
        machine->mutable_allocatable(0)->set_amount(INT64_MAX);
      },
      "out of range");
  expect(
      0, [](auto* machine) { machine->mutable_labels()->SwapElements(0, 1); },
      "its labels are out of order");
  expect(
      0, [](auto* machine) { machine->mutable_taints(0)->set_effect(9); },
      "its taints: effect: 9 is not in 0 to 3");
  expect(
      0, [](auto* machine) { *machine->add_avoids() = machine->avoids(0); },
      "its avoided owners are out of order");
  expect(
      0,
      [](auto* machine) {
        for (size_t i = 0; i <= kExtendedResourceNamesMax; ++i) {
          v1::StoredAmount* amount = machine->add_capacity();
          amount->set_resource(StrCat("x/", i));
          amount->set_amount(1);
        }
      },
      "distinct names");
}

TEST_F(DamagedStore, IsRefusedForJobsDeltasAndCountersThatContradictOthers) {
  ExpectRefused<v1::StoredJob>(
      JobKey({0}), [](auto* job) { job->set_job_id(3); }, "differ in id");
  const auto expect = [&](auto change, const char* error) {
    ExpectRefused<v1::StoredDelta>(DeltaKey(1), change, error);
  };
  expect([](auto* delta) { delta->set_sequence(9); }, "differ in id");
  expect([](auto* delta) { delta->set_task_uid(77); }, "does not run");
  expect([](auto* delta) { delta->set_task_uid(17); }, "does not run");
  expect([](auto* delta) { delta->set_machine_id(1); }, "runs elsewhere");
  expect([](auto* delta) { delta->set_machine_id(77); }, "runs elsewhere");
  expect([](auto* delta) { delta->set_type(0); }, "its type");
  expect([](auto* delta) { delta->set_type(4); }, "its type");

  const auto lower = [&](auto change, const std::string& key) {
    v1::StoredCounters counters;
    const Entries before = ScanAll(store_, CountersKey());
    ASSERT_TRUE(counters.ParseFromString(
        std::string(*Unseal(CountersKey(), before.at(0).second))));
    v1::StoredCounters changed = counters;
    change(&changed);
    Replace(CountersKey(), changed);
    ClusterState state;
    EXPECT_THAT(Recover(store_, &state),
                StatusIs(absl::StatusCode::kDataLoss,
                         AllOf(HasSubstr(KeyText(key)),
                               HasSubstr("not been assigned yet"))));
    Replace(CountersKey(), counters);
  };
  lower([](auto* counters) { counters->set_next_job_id(0); }, JobKey({0}));
  lower([](auto* counters) { counters->set_next_machine_id(2); },
        MachineKey({2}));
  lower([](auto* counters) { counters->set_next_task_sequence(0); },
        TaskKey({10}));
  lower([](auto* counters) { counters->set_next_delta_sequence(0); },
        DeltaKey(1));
}

}  // namespace
}  // namespace sluice
