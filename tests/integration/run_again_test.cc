// Tasks that run again, over real gRPC.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/await.h"
#include "integration/kept_daemon.h"
#include "integration/messages.h"
#include "integration/mini_server.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Pair;
using testing::StartsWith;

class RunAgainOverGrpc : public KeptDaemonTest {
 protected:
  void Start(const RequeueOptions& requeues) {
    Options options = MiniServer::OptionsFor(ReplyMode::kContract);
    options.requeues = requeues;
    options.evict_on_no_execute = true;
    KeptDaemonTest::Start(options);
  }
  // One task, uid 1, on the node "m", and a node "n" that has room for it.
  void RunOnM() {
    client_->AddNode(NodeMessage("m", {.cpu = 1000}));
    client_->Submit(TaskMessage(1, {.cpu = 1000}));
    ASSERT_THAT(client_->ScheduleTexts(), ElementsAre("PLACE 1 m-pu"));
    client_->AddNode(NodeMessage("n", {.cpu = 1000}));
  }
};

TEST_F(RunAgainOverGrpc, TasksOfAFailedNodeArePlacedElsewhere) {
  Start({.from_failed_machines = true});
  RunOnM();
  EXPECT_EQ(client_->FailNode("m"), firmament::NODE_FAILED_OK);
  EXPECT_THAT(client_->Explain(1).summary(),
              StartsWith("its machine m failed; "));
  Start({.from_failed_machines = true});
  EXPECT_EQ(client_->Explain(1).task().runs_again(), "its machine m failed");
  EXPECT_THAT(client_->ScheduleTexts(), ElementsAre("PLACE 1 n-pu"));
  EXPECT_EQ(client_->AddNode(NodeMessage("m")), firmament::NODE_ADDED_OK);
  EXPECT_EQ(client_->Status().used().cpu_millicores(), 1000);
}

TEST_F(RunAgainOverGrpc, TasksOfAFailedNodeStayThereByDefault) {
  Start({});
  RunOnM();
  client_->FailNode("m");
  EXPECT_THAT(client_->ScheduleTexts(), IsEmpty());
  EXPECT_THAT(client_->Explain(1).summary(), HasSubstr("which has gone away"));
}

TEST_F(RunAgainOverGrpc, TasksOfARemovedNodeStayThere) {
  Start({.from_failed_machines = true});
  RunOnM();
  client_->RemoveNode("m");
  EXPECT_THAT(client_->ScheduleTexts(), IsEmpty());
}

TEST_F(RunAgainOverGrpc, TasksOfAJobThatAsksForItWaitAgainAfterAPause) {
  using Job = firmament::JobDescriptor;
  Start({});
  client_->AddNode(NodeMessage("m", {.cpu = 1000}));
  firmament::TaskDescription task = TaskMessage(1, {.cpu = 1000});
  Job* job = task.mutable_job_descriptor();
  job->set_on_failure(Job::REQUEUE);
  job->set_failures_max(1);
  job->set_backoff_seconds(6);
  client_->Submit(task);
  ASSERT_THAT(client_->ScheduleTexts(), ElementsAre("PLACE 1 m-pu"));
  EXPECT_EQ(client_->Fail(1), firmament::TASK_FAILED_OK);
  Start({});  // It remembers, and shows it until it is asked for a round.
  EXPECT_THAT(client_->Explain(1).summary(),
              MatchesRegex("failed 1 time of at most 1; waits [0-6] s more"));
  firmament::SchedulingDeltas told = client_->Schedule();
  EXPECT_THAT(WaitingOf(told), IsEmpty());
  Await([&] {
    if (told.deltas().empty()) told = client_->Schedule();
    return !told.deltas().empty();
  });
  ASSERT_EQ(told.deltas_size(), 1);
  EXPECT_EQ(told.deltas(0).type(), firmament::SchedulingDelta::PLACE);
  EXPECT_THAT(PlacesOf(told), ElementsAre(Pair(1, PuOf("m"))));
  client_->Fail(1);
  EXPECT_EQ(client_->Explain(1).task().state(), v1::Task::FAILED);
}

TEST_F(RunAgainOverGrpc, TasksThatWereToldToLeaveWaitAgain) {
  Start({.evicted = true});
  RunOnM();
  client_->UpdateNode(NodeMessage(
      "m", {.cpu = 1000, .taints = {TaintMessage("down", "", "NoExecute")}}));
  ASSERT_THAT(client_->ScheduleTexts(), ElementsAre("PREEMPT 1 m-pu"));
  client_->Fail(1);
  EXPECT_THAT(client_->ScheduleTexts(), ElementsAre("PLACE 1 n-pu"));
}

TEST_F(RunAgainOverGrpc, TasksLeaveANodeThatIsNotReadyWhenTheySay) {
  Start({});
  client_->AddNode(NodeMessage("m"));
  client_->Submit(TaskMessage(1));
  firmament::TaskDescription at_once = TaskMessage(2);
  firmament::Toleration* toleration =
      at_once.mutable_task_descriptor()->add_toleration();
  *toleration = TolerationMessage("node.kubernetes.io/not-ready", "Exists", "",
                                  "NoExecute");
  toleration->set_tolerationseconds(0);
  client_->Submit(at_once);
  ASSERT_THAT(client_->ScheduleTexts(),
              ElementsAre("PLACE 1 m-pu", "PLACE 2 m-pu"));
  client_->UpdateNode(NodeMessage("m", {.conditions = {{"Ready", "False"}}}));
  EXPECT_THAT(client_->ScheduleTexts(), ElementsAre("PREEMPT 2 m-pu"));
}

TEST_F(RunAgainOverGrpc, AWrongWordIsToldWithTheTask) {
  Start({});
  firmament::TaskDescription task = TaskMessage(1);
  task.mutable_job_descriptor()->set_on_failure(
      static_cast<firmament::JobDescriptor::OnFailure>(7));
  client_->AddNode(NodeMessage("m", {.cpu = 1000}));
  EXPECT_EQ(client_->Submit(task), firmament::TASK_SUBMITTED_OK);
  EXPECT_THAT(client_->ScheduleTexts(), ElementsAre("PLACE 1 m-pu"));
  MiniServer strict(ReplyMode::kStrict);
  Client client(strict.port());
  grpc::ClientContext context;
  firmament::TaskSubmittedResponse response;
  const grpc::Status status =
      client.scheduler().TaskSubmitted(&context, task, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(),
            "task 1 'ns/pod-1': on_failure: 7 is unknown");
}

}  // namespace
}  // namespace sluice
