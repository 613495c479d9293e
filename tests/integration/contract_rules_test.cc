// The rules that a server of the contract must honor, each as its client sees
// it.  R1 (no failing status) is in malformed_test.cc, R3 (size of replies) in
// large_reply_test.cc, R4 (order of removals and replies) in ordering_test.cc.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "integration/mini_server.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

class ContractRules : public ContractFixture {
 protected:
  // A node with one task that its client has been told of.
  void PlaceOne() {
    client_.AddNode(NodeMessage("n", {.cpu = 1000}));
    client_.Submit(TaskMessage(1, {.cpu = 600}));
    ASSERT_THAT(PlacesOf(client_.Schedule()), ElementsAre(Pair(1, PuOf("n"))));
  }
};

TEST_F(ContractRules, R2IdsAreOpaque) {
  for (const std::string id :
       {"node-1", "", " ", "\n", "6ea443f6-d5c5-4417-828e-b1f7c738963c",
        "x/../y", "\xc3\xa4"}) {
    EXPECT_EQ(client_.AddNode(NodeMessage(id)), firmament::NODE_ADDED_OK);
    EXPECT_EQ(client_.FailNode(id), firmament::NODE_FAILED_OK);
  }
  const std::string long_id(5000, 'i');
  EXPECT_EQ(client_.AddNode(NodeMessage(long_id, {.name = "long"})),
            firmament::NODE_ADDED_OK);
  EXPECT_EQ(client_.AddNode(NodeMessage(long_id, {.name = "long"})),
            firmament::NODE_ALREADY_EXISTS);
  for (const uint64_t uid : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}}) {
    EXPECT_EQ(client_.Submit(TaskMessage(uid)), firmament::TASK_SUBMITTED_OK);
    EXPECT_EQ(client_.Remove(uid), firmament::TASK_REMOVED_OK);
  }
}

TEST_F(ContractRules, R5TasksOfANodeThatWentStayKnownAndWhereTheyAre) {
  PlaceOne();
  client_.AddNode(NodeMessage("other", {.cpu = 1000}));
  EXPECT_EQ(client_.RemoveNode("n"), firmament::NODE_REMOVED_OK);
  EXPECT_THAT(client_.Schedule().deltas(), IsEmpty()) << "it runs already";
  EXPECT_EQ(client_.Update(TaskMessage(1, {.cpu = 700})),
            firmament::TASK_UPDATED_OK);
  EXPECT_EQ(client_.Complete(1), firmament::TASK_COMPLETED_OK);
  EXPECT_EQ(client_.Fail(1), firmament::TASK_FAILED_OK);
  EXPECT_EQ(client_.Remove(1), firmament::TASK_REMOVED_OK);
}

TEST_F(ContractRules, R5AFailedNodeTakesNothingWithItEither) {
  PlaceOne();
  client_.AddNode(NodeMessage("other", {.cpu = 1000}));
  EXPECT_EQ(client_.FailNode("n"), firmament::NODE_FAILED_OK);
  EXPECT_THAT(client_.Schedule().deltas(), IsEmpty());
  EXPECT_EQ(client_.Remove(1), firmament::TASK_REMOVED_OK);
}

TEST_F(ContractRules, R6ANodeThatReturnsGetsBackItsTasksAndForeignUsage) {
  PlaceOne();
  EXPECT_EQ(client_.AddInfo(ForeignPodMessage("pod/ns", "n", 300, 0)),
            firmament::TASKINFO_SUBMITTED_OK);
  client_.RemoveNode("n");
  EXPECT_EQ(client_.AddNode(NodeMessage("n", {.cpu = 1000})),
            firmament::NODE_ADDED_OK);
  client_.Submit(TaskMessage(2, {.cpu = 101}));
  EXPECT_THAT(client_.Schedule().deltas(), IsEmpty()) << "only 100 are free";
  client_.Submit(TaskMessage(3, {.cpu = 100}));
  EXPECT_THAT(PlacesOf(client_.Schedule()), ElementsAre(Pair(3, PuOf("n"))));
}

TEST_F(ContractRules, R7ANodeThatIsKnownExistsAlready) {
  EXPECT_EQ(client_.AddNode(NodeMessage("n")), firmament::NODE_ADDED_OK);
  EXPECT_EQ(client_.AddNode(NodeMessage("n")), firmament::NODE_ALREADY_EXISTS);
  // So does one of which any uuid of the tree is known.
  firmament::ResourceTopologyNodeDescriptor other = NodeMessage("other");
  other.mutable_children(0)->mutable_resource_desc()->set_uuid(PuOf("n"));
  EXPECT_EQ(client_.AddNode(other), firmament::NODE_ALREADY_EXISTS);
}

TEST_F(ContractRules, R8EveryEndOfATaskIsLegalInEveryState) {
  client_.Submit(TaskMessage(1));
  EXPECT_EQ(client_.Complete(1), firmament::TASK_COMPLETED_OK);
  EXPECT_EQ(client_.Complete(1), firmament::TASK_COMPLETED_OK);
  EXPECT_EQ(client_.Fail(1), firmament::TASK_FAILED_OK);
  EXPECT_EQ(client_.Fail(1), firmament::TASK_FAILED_OK);
  EXPECT_EQ(client_.Complete(1), firmament::TASK_COMPLETED_OK);
  EXPECT_EQ(client_.Remove(1), firmament::TASK_REMOVED_OK);
  client_.Submit(TaskMessage(2));
  EXPECT_EQ(client_.Remove(2), firmament::TASK_REMOVED_OK);
  client_.AddNode(NodeMessage("n"));
  client_.Submit(TaskMessage(3));
  client_.Schedule();
  EXPECT_EQ(client_.Remove(3), firmament::TASK_REMOVED_OK);
}

TEST_F(ContractRules, R9ATaskSubmittedAgainByARestartedClientStaysWhereItIs) {
  PlaceOne();
  client_.AddNode(NodeMessage("roomier", {.cpu = 100000}));
  EXPECT_EQ(client_.Submit(TaskMessage(1, {.cpu = 600})),
            firmament::TASK_SUBMITTED_OK);
  EXPECT_THAT(PlacesOf(client_.Schedule()), ElementsAre(Pair(1, PuOf("n"))));
  EXPECT_THAT(client_.Schedule().deltas(), IsEmpty());
}

TEST_F(ContractRules, R9ATaskSubmittedAgainBeforeItWasPlacedIsPlacedOnce) {
  EXPECT_EQ(client_.Submit(TaskMessage(1)), firmament::TASK_SUBMITTED_OK);
  EXPECT_EQ(client_.Submit(TaskMessage(1)), firmament::TASK_SUBMITTED_OK);
  client_.AddNode(NodeMessage("n"));
  EXPECT_THAT(client_.Schedule().deltas(), SizeIs(1));
  EXPECT_THAT(client_.Schedule().deltas(), IsEmpty());
  EXPECT_EQ(client_.Status().used().pods(), 1);
}

TEST_F(ContractRules, R9AUidGivenToAnotherPodCountsBothPods) {
  PlaceOne();
  EXPECT_EQ(client_.Submit(TaskMessage(1, {.cpu = 600, .name = "ns/new"})),
            firmament::TASK_SUBMITTED_OK);
  EXPECT_THAT(client_.Schedule().deltas(), IsEmpty())
      << "the first pod still has its 600";
  client_.AddNode(NodeMessage("other", {.cpu = 600}));
  EXPECT_THAT(PlacesOf(client_.Schedule()),
              ElementsAre(Pair(1, PuOf("other"))));
  EXPECT_EQ(client_.Status().used().cpu_millicores(), 1200);
  EXPECT_EQ(client_.Remove(1), firmament::TASK_REMOVED_OK);
  EXPECT_EQ(client_.Remove(1), firmament::TASK_REMOVED_OK);
  EXPECT_EQ(client_.Remove(1), firmament::TASK_NOT_FOUND);
  EXPECT_EQ(client_.Status().used().cpu_millicores(), 0);
}

TEST_F(ContractRules, R9NothingIsToldOfASharedUidAfterItsFirstRemoval) {
  client_.Submit(TaskMessage(1, {.name = "ns/a"}));
  client_.Submit(TaskMessage(1, {.name = "ns/b"}));
  EXPECT_EQ(client_.Remove(1), firmament::TASK_REMOVED_OK);
  client_.AddNode(NodeMessage("n"));
  const firmament::SchedulingDeltas reply = client_.Schedule();
  EXPECT_THAT(reply.deltas(), IsEmpty());
  EXPECT_THAT(reply.unscheduled_tasks(), IsEmpty());
  EXPECT_EQ(client_.Remove(1), firmament::TASK_REMOVED_OK);
}

TEST_F(ContractRules, R10WhatWasNeverKnownIsNotFound) {
  EXPECT_EQ(client_.Remove(7), firmament::TASK_NOT_FOUND);
  EXPECT_EQ(client_.Complete(7), firmament::TASK_NOT_FOUND);
  EXPECT_EQ(client_.Fail(7), firmament::TASK_NOT_FOUND);
  EXPECT_EQ(client_.Update(TaskMessage(7)), firmament::TASK_NOT_FOUND);
  EXPECT_EQ(client_.RemoveNode("x"), firmament::NODE_NOT_FOUND);
  EXPECT_EQ(client_.FailNode("x"), firmament::NODE_NOT_FOUND);
  EXPECT_EQ(client_.UpdateNode(NodeMessage("x")), firmament::NODE_NOT_FOUND);
}

TEST_F(ContractRules, R11ScheduleWithNothingToDoIsEmpty) {
  EXPECT_THAT(client_.Schedule().deltas(), IsEmpty());
  client_.AddNode(NodeMessage("n"));
  EXPECT_THAT(client_.Schedule().deltas(), IsEmpty());
  client_.RemoveNode("n");
  client_.Submit(TaskMessage(1));
  const firmament::SchedulingDeltas reply = client_.Schedule();
  EXPECT_THAT(reply.deltas(), IsEmpty());
  EXPECT_THAT(WaitingOf(reply), ElementsAre(1));
}

TEST_F(ContractRules, R12EveryPlacementIsToldOnce) {
  PlaceOne();
  for (int round = 0; round < 5; ++round) {
    EXPECT_THAT(client_.Schedule().deltas(), IsEmpty());
  }
}

TEST_F(ContractRules, R13NothingRunningIsStoppedOrMoved) {
  PlaceOne();
  client_.Submit(TaskMessage(2, {.cpu = 600}));
  client_.Update(TaskMessage(1, {.cpu = 900}));
  client_.AddNode(NodeMessage("roomier", {.cpu = 100000}));
  for (int round = 0; round < 3; ++round) {
    const firmament::SchedulingDeltas reply = client_.Schedule();
    for (const firmament::SchedulingDelta& delta : reply.deltas()) {
      EXPECT_EQ(delta.type(), firmament::SchedulingDelta::PLACE);
      EXPECT_EQ(delta.task_id(), 2u);
    }
  }
}

TEST_F(ContractRules, R14AnUpdateOfARunningTaskOnlyChangesWhatItUses) {
  PlaceOne();
  EXPECT_EQ(client_.Update(TaskMessage(1, {.cpu = 900})),
            firmament::TASK_UPDATED_OK);
  EXPECT_EQ(client_.Status().used().cpu_millicores(), 900);
  client_.Submit(TaskMessage(2, {.cpu = 101}));
  EXPECT_THAT(client_.Schedule().deltas(), IsEmpty());
  client_.Update(TaskMessage(1, {.cpu = 100}));
  EXPECT_THAT(PlacesOf(client_.Schedule()), ElementsAre(Pair(2, PuOf("n"))));
}

TEST_F(ContractRules, R15WhatIsAvailableCountsAndNotWhatThereIs) {
  auto node = NodeMessage("n", {.cpu = 4000, .ram = 8000});
  node.mutable_resource_desc()->mutable_available_resources()->set_cpu_cores(
      1000);
  client_.AddNode(node);
  client_.Submit(TaskMessage(1, {.cpu = 1001}));
  EXPECT_THAT(client_.Schedule().deltas(), IsEmpty());
  // Memory of foreign pods comes in bytes, a thousand of our unit.
  client_.AddInfo(ForeignPodMessage("pod/ns", "n", 0, 5));
  client_.Submit(TaskMessage(2, {.ram = 3001}));
  client_.Submit(TaskMessage(3, {.ram = 3000}));
  EXPECT_THAT(PlacesOf(client_.Schedule()), ElementsAre(Pair(3, PuOf("n"))));
}

TEST_F(ContractRules, R15AForeignPodIsOneOfTheMachinesPods) {
  client_.AddNode(NodeMessage("n", {.max_pods = 2}));
  client_.AddInfo(ForeignPodMessage("pod/ns", "n", 0, 0));
  client_.Submit(TaskMessage(1));
  client_.Submit(TaskMessage(2));
  const firmament::SchedulingDeltas reply = client_.Schedule();
  EXPECT_THAT(reply.deltas(), SizeIs(1));
  EXPECT_THAT(reply.unscheduled_tasks(), SizeIs(1));
}

TEST_F(ContractRules, R16AnExactFitFits) {
  client_.AddNode(NodeMessage("n", {.cpu = 4000, .ram = 64, .max_pods = 2}));
  client_.Submit(TaskMessage(1, {.cpu = 2000, .ram = 32}));
  client_.Submit(TaskMessage(2, {.cpu = 2000, .ram = 32}));
  EXPECT_THAT(client_.Schedule().deltas(), SizeIs(2));
}

TEST_F(ContractRules, R17TheFirstTaskOfAJobIsLikeAnyOther) {
  client_.AddNode(NodeMessage("n"));
  client_.Submit(TaskMessage(1));
  client_.Submit(TaskMessage(2));
  EXPECT_THAT(client_.Schedule().deltas(), SizeIs(2));
  client_.Remove(1);
  client_.Submit(TaskMessage(3));
  EXPECT_THAT(PlacesOf(client_.Schedule()), ElementsAre(Pair(3, PuOf("n"))));
}

TEST_F(ContractRules, ATaskThatIsNotCreatedIsRefusedAndNotKept) {
  firmament::TaskDescription running = TaskMessage(1);
  running.mutable_task_descriptor()->set_state(
      firmament::TaskDescriptor::RUNNING);
  EXPECT_EQ(client_.Submit(running), firmament::TASK_STATE_NOT_CREATED);
  EXPECT_EQ(client_.Remove(1), firmament::TASK_NOT_FOUND);
}

TEST_F(ContractRules, APlacementNamesTheRoomiestProcessingUnit) {
  auto node = NodeMessage("n", {.cpu = 4000});
  node.clear_children();
  for (const auto& [uuid, cpu] :
       {std::pair("small", 1000.0F), std::pair("large", 3000.0F)}) {
    auto* pu = node.add_children()->mutable_resource_desc();
    pu->set_uuid(uuid);
    pu->mutable_resource_capacity()->set_cpu_cores(cpu);
  }
  client_.AddNode(node);
  client_.Submit(TaskMessage(1, {.cpu = 1000}));
  EXPECT_THAT(PlacesOf(client_.Schedule()), ElementsAre(Pair(1, "large")));
  client_.AddNode([] {
    auto bare = NodeMessage("bare", {.cpu = 9000});
    bare.clear_children();
    return bare;
  }());
  client_.Submit(TaskMessage(2, {.cpu = 9000}));
  EXPECT_THAT(PlacesOf(client_.Schedule()), ElementsAre(Pair(2, "bare")));
}

TEST_F(ContractRules, CheckIsServingForTheDaemonAndUnknownForAnythingElse) {
  EXPECT_EQ(client_.Check(""), firmament::SERVING);
  EXPECT_EQ(client_.Check("x"), firmament::UNKNOWN);
}

TEST_F(ContractRules, SamplesAreTakenOfWhatIsKnown) {
  client_.AddNode(NodeMessage("n"));
  client_.Submit(TaskMessage(1));
  firmament::TaskStats task;
  task.set_task_id(1);
  EXPECT_EQ(client_.AddStats(task), firmament::TASK_COMPLETED_OK);
  task.set_task_id(2);
  EXPECT_EQ(client_.AddStats(task), firmament::TASK_NOT_FOUND);
  firmament::ResourceStats node;
  node.set_resource_id("n");
  EXPECT_EQ(client_.AddStats(node), firmament::NODE_ADDED_OK);
  node.set_resource_id("x");
  EXPECT_EQ(client_.AddStats(node), firmament::NODE_NOT_FOUND);
}

TEST_F(ContractRules, ForeignPodsSayWhetherTheyWereTaken) {
  client_.AddNode(NodeMessage("n"));
  firmament::TaskInfo pod = ForeignPodMessage("pod/ns", "n", 1, 1);
  EXPECT_EQ(client_.AddInfo(pod), firmament::TASKINFO_SUBMITTED_OK);
  EXPECT_EQ(client_.AddInfo(pod), firmament::TASKINFO_SUBMITTED_OK);
  pod.set_resource_id("x");
  EXPECT_EQ(client_.AddInfo(pod), firmament::TASKINFO_SUBMIT_FAILED);
  pod.set_type(firmament::TASKINFO_REMOVE);
  EXPECT_EQ(client_.AddInfo(pod), firmament::TASKINFO_REMOVE_FAILED)
      << "it is elsewhere";
  pod.set_resource_id("n");
  EXPECT_EQ(client_.AddInfo(pod), firmament::TASKINFO_REMOVED_OK);
  EXPECT_EQ(client_.AddInfo(pod), firmament::TASKINFO_REMOVE_FAILED);
}

// ---------------------------------------------------------------------------
// The other reply modes

class LenientMode : public ContractFixture {
 protected:
  LenientMode() : ContractFixture(ReplyMode::kLenient) {}
};

TEST_F(LenientMode, R10WhatIsUnknownIsAnsweredAsIfItWereKnown) {
  EXPECT_EQ(client_.Remove(7), firmament::TASK_REMOVED_OK);
  EXPECT_EQ(client_.Complete(7), firmament::TASK_COMPLETED_OK);
  EXPECT_EQ(client_.Fail(7), firmament::TASK_FAILED_OK);
  EXPECT_EQ(client_.Update(TaskMessage(7)), firmament::TASK_UPDATED_OK);
  EXPECT_EQ(client_.RemoveNode("x"), firmament::NODE_REMOVED_OK);
  EXPECT_EQ(client_.FailNode("x"), firmament::NODE_FAILED_OK);
  EXPECT_EQ(client_.UpdateNode(NodeMessage("x")), firmament::NODE_UPDATED_OK);
  firmament::TaskInfo pod = ForeignPodMessage("pod/ns", "x", 1, 1);
  EXPECT_EQ(client_.AddInfo(pod), firmament::TASKINFO_SUBMITTED_OK);
  pod.set_type(firmament::TASKINFO_REMOVE);
  EXPECT_EQ(client_.AddInfo(pod), firmament::TASKINFO_REMOVED_OK);
  EXPECT_EQ(client_.Status().jobs(), 0) << "nothing was made up";
}

class StrictMode : public ContractFixture {
 protected:
  StrictMode() : ContractFixture(ReplyMode::kStrict) {}
};

TEST_F(StrictMode, AKnownUidIsRefused) {
  EXPECT_EQ(client_.Submit(TaskMessage(1)), firmament::TASK_SUBMITTED_OK);
  EXPECT_EQ(client_.Submit(TaskMessage(1)), firmament::TASK_ALREADY_SUBMITTED);
  EXPECT_EQ(client_.Remove(1), firmament::TASK_REMOVED_OK);
  EXPECT_EQ(client_.Remove(1), firmament::TASK_NOT_FOUND);
}

}  // namespace
}  // namespace sluice
