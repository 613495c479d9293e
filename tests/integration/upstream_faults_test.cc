// What the server that the contract comes from got wrong, each as a scenario
// that ours must pass.  The letters are those by which the faults are known:
// O overcommit, S starvation, C crashes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "integration/mini_server.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class UpstreamFaults : public ContractFixture {};

TEST_F(UpstreamFaults, O1MixedSizesInOneRoundDoNotOvercommitAMachine) {
  client_.AddNode(NodeMessage("n", {.cpu = 4000}));
  for (uint64_t uid = 1; uid <= 4; ++uid) {
    client_.Submit(TaskMessage(uid, {.cpu = 1000, .job = "small"}));
    client_.Submit(TaskMessage(uid + 10, {.cpu = 3000, .job = "large"}));
  }
  const firmament::SchedulingDeltas reply = client_.Schedule();
  EXPECT_THAT(reply.deltas(), testing::Not(IsEmpty()));
  EXPECT_LE(client_.Status().used().cpu_millicores(), 4000);
}

TEST_F(UpstreamFaults, O2EachTaskOfAJobIsPlacedByItsOwnRequest) {
  client_.AddNode(NodeMessage("n", {.cpu = 1000}));
  client_.Submit(TaskMessage(1, {.cpu = 5000, .job = "j"}));
  client_.Submit(TaskMessage(2, {.cpu = 500, .job = "j"}));
  const firmament::SchedulingDeltas reply = client_.Schedule();
  EXPECT_THAT(PlacesOf(reply), ElementsAre(Pair(2, PuOf("n"))));
  EXPECT_THAT(WaitingOf(reply), ElementsAre(1));
  client_.Update(TaskMessage(1, {.cpu = 500, .job = "j"}));
  EXPECT_THAT(PlacesOf(client_.Schedule()), ElementsAre(Pair(1, PuOf("n"))));
}

TEST_F(UpstreamFaults, O3MemoryOfForeignPodsIsInBytes) {
  client_.AddNode(NodeMessage("n", {.ram = 4000}));
  client_.AddInfo(ForeignPodMessage("pod/ns", "n", 0, 4));
  client_.Submit(TaskMessage(1, {.ram = 1}));
  EXPECT_THAT(client_.Schedule().deltas(), IsEmpty());
}

TEST_F(UpstreamFaults, O4TasksOfANodeThatComesBackStillUseIt) {
  client_.AddNode(NodeMessage("n", {.cpu = 1000}));
  client_.Submit(TaskMessage(1, {.cpu = 1000}));
  client_.Schedule();
  client_.FailNode("n");
  client_.AddNode(NodeMessage("n", {.cpu = 1000}));
  client_.Submit(TaskMessage(2, {.cpu = 1000}));
  EXPECT_THAT(client_.Schedule().deltas(), IsEmpty());
}

TEST_F(UpstreamFaults, S1AJobOutlivesItsFirstTask) {
  client_.AddNode(NodeMessage("n"));
  client_.Submit(TaskMessage(1));
  client_.Schedule();
  client_.Fail(1);
  client_.Submit(TaskMessage(2));
  EXPECT_THAT(PlacesOf(client_.Schedule()), ElementsAre(Pair(2, PuOf("n"))));
  client_.Remove(1);
  client_.Submit(TaskMessage(3));
  EXPECT_THAT(PlacesOf(client_.Schedule()), ElementsAre(Pair(3, PuOf("n"))));
}

TEST_F(UpstreamFaults, S2ATaskMayTakeExactlyWhatIsLeft) {
  client_.AddNode(NodeMessage("n", {.cpu = 4000}));
  client_.Submit(TaskMessage(1, {.cpu = 2000}));
  client_.Submit(TaskMessage(2, {.cpu = 2000}));
  EXPECT_THAT(client_.Schedule().deltas(), SizeIs(2));
}

TEST_F(UpstreamFaults, S4SamplesWithoutStorageDoNotStopScheduling) {
  client_.AddNode(NodeMessage("n"));
  firmament::ResourceStats stats;
  stats.set_resource_id("n");
  stats.add_cpus_stats()->set_cpu_allocatable(4000);
  client_.AddStats(stats);
  client_.Submit(TaskMessage(1));
  EXPECT_THAT(client_.Schedule().deltas(), SizeIs(1));
}

TEST_F(UpstreamFaults, S5ExactlyTheTasksThatWaitAreListedAsWaiting) {
  client_.AddNode(NodeMessage("n", {.cpu = 2000}));
  for (uint64_t uid = 1; uid <= 4; ++uid) {
    client_.Submit(TaskMessage(uid, {.cpu = 1000}));
  }
  const firmament::SchedulingDeltas reply = client_.Schedule();
  EXPECT_THAT(reply.deltas(), SizeIs(2));
  std::vector<uint64_t> all = WaitingOf(reply);
  for (const auto& [uid, place] : PlacesOf(reply)) all.push_back(uid);
  EXPECT_THAT(all, UnorderedElementsAre(1, 2, 3, 4));
}

TEST_F(UpstreamFaults, C1CallsForATaskOfARemovedNodeAreAnswered) {
  client_.AddNode(NodeMessage("n"));
  for (uint64_t uid = 1; uid <= 3; ++uid) client_.Submit(TaskMessage(uid));
  client_.Schedule();
  client_.RemoveNode("n");
  EXPECT_EQ(client_.Complete(1), firmament::TASK_COMPLETED_OK);
  EXPECT_EQ(client_.Fail(2), firmament::TASK_FAILED_OK);
  for (uint64_t uid = 1; uid <= 3; ++uid) {
    EXPECT_EQ(client_.Remove(uid), firmament::TASK_REMOVED_OK);
  }
  client_.Schedule();
}

TEST_F(UpstreamFaults, C2ATaskThatWasNeverPlacedMayEnd) {
  client_.Submit(TaskMessage(1));
  client_.Submit(TaskMessage(2));
  EXPECT_EQ(client_.Fail(1), firmament::TASK_FAILED_OK);
  EXPECT_EQ(client_.Complete(2), firmament::TASK_COMPLETED_OK);
  client_.AddNode(NodeMessage("n"));
  EXPECT_THAT(client_.Schedule().deltas(), IsEmpty());
}

TEST_F(UpstreamFaults, C3ATaskMayCompleteTwice) {
  client_.AddNode(NodeMessage("n", {.cpu = 1000}));
  client_.Submit(TaskMessage(1, {.cpu = 1000}));
  client_.Schedule();
  EXPECT_EQ(client_.Complete(1), firmament::TASK_COMPLETED_OK);
  EXPECT_EQ(client_.Complete(1), firmament::TASK_COMPLETED_OK);
  EXPECT_EQ(client_.Status().used().cpu_millicores(), 0) << "freed once";
}

TEST_F(UpstreamFaults, C4IdsNeedNotBeUuids) {
  EXPECT_EQ(client_.AddNode(NodeMessage("not-a-uuid")),
            firmament::NODE_ADDED_OK);
  EXPECT_EQ(client_.Submit(TaskMessage(1, {.job = "not a uuid either"})),
            firmament::TASK_SUBMITTED_OK);
  EXPECT_EQ(client_.RemoveNode("}{"), firmament::NODE_NOT_FOUND);
  EXPECT_THAT(client_.Schedule().deltas(), SizeIs(1));
}

TEST_F(UpstreamFaults, C7TwoNodesMayHaveOneName) {
  client_.AddNode(NodeMessage("a", {.cpu = 1000, .name = "twin"}));
  client_.AddNode(NodeMessage("b", {.cpu = 1000, .name = "twin"}));
  client_.Submit(TaskMessage(1, {.cpu = 1000}));
  client_.Submit(TaskMessage(2, {.cpu = 1000}));
  EXPECT_THAT(client_.Schedule().deltas(), SizeIs(2));
}

TEST_F(UpstreamFaults, C13SamplesWithoutAnyCpuAreTaken) {
  client_.AddNode(NodeMessage("n"));
  firmament::ResourceStats stats;
  stats.set_resource_id("n");
  EXPECT_EQ(client_.AddStats(stats), firmament::NODE_ADDED_OK);
}

TEST_F(UpstreamFaults, C15AForeignPodOfAnUnknownTypeIsAnswered) {
  client_.AddNode(NodeMessage("n"));
  firmament::TaskInfo info = ForeignPodMessage("pod/ns", "n", 1, 1);
  info.set_type(static_cast<firmament::TaskInfoType>(7));
  EXPECT_EQ(client_.AddInfo(info), firmament::TASKINFO_SUBMIT_FAILED);
}

TEST_F(UpstreamFaults, RacesEveryMethodMayBeCalledWhileRoundsRun) {
  constexpr uint64_t kThreads = 4;
  constexpr uint64_t kTasks = 60;
  client_.AddNode(NodeMessage("shared", {.cpu = 1e6F, .max_pods = 100000}));
  std::vector<std::thread> threads;
  for (uint64_t t = 1; t <= kThreads; ++t) {
    threads.emplace_back([this, t] {
      Client client(server_.port());
      const std::string node = StrCat("node-", t);
      firmament::TaskStats stats;
      for (uint64_t i = 0; i < kTasks; ++i) {
        const uint64_t uid = t * 1000 + i;
        client.AddNode(NodeMessage(node));
        client.Submit(TaskMessage(uid, {.cpu = 10}));
        client.UpdateNode(NodeMessage(node));
        client.AddInfo(ForeignPodMessage(StrCat("pod-", t), "shared", 1, 1));
        stats.set_task_id(uid);
        client.AddStats(stats);
        if (i % 8 == 0) client.Schedule();
        client.Update(TaskMessage(uid, {.cpu = 20}));
        if (i % 2 == 0) client.Complete(uid);
        EXPECT_EQ(client.Remove(uid), firmament::TASK_REMOVED_OK);
        if (i % 4 == 0) client.FailNode(node);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(client_.Status().jobs(), 0);
}

TEST_F(UpstreamFaults, LeaksNothingIsLeftOfTasksAndPodsThatWent) {
  client_.AddNode(NodeMessage("n", {.cpu = 4000}));
  for (uint64_t uid = 1; uid <= 50; ++uid) {
    client_.Submit(TaskMessage(uid, {.cpu = 10, .job = StrCat("j", uid)}));
  }
  firmament::TaskInfo pod = ForeignPodMessage("web-0/ns", "n", 100, 100);
  client_.AddInfo(pod);
  client_.Schedule();
  for (uint64_t uid = 1; uid <= 50; ++uid) client_.Remove(uid);
  pod.set_type(firmament::TASKINFO_REMOVE);
  EXPECT_EQ(client_.AddInfo(pod), firmament::TASKINFO_REMOVED_OK);
  const v1::Status status = client_.Status();
  EXPECT_EQ(status.jobs(), 0);
  EXPECT_EQ(status.pending_tasks() + status.running_tasks(), 0);
  EXPECT_EQ(status.used().cpu_millicores(), 0);
  EXPECT_EQ(status.used().pods(), 0);
  // A pod that returns under its old name counts again.
  pod.set_type(firmament::TASKINFO_ADD);
  EXPECT_EQ(client_.AddInfo(pod), firmament::TASKINFO_SUBMITTED_OK);
  EXPECT_EQ(client_.Status().used().cpu_millicores(), 100);
}

}  // namespace
}  // namespace sluice
