// Tasks that run already when the daemon hears of them, over real gRPC.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "integration/kept_daemon.h"
#include "integration/messages.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

firmament::TaskDescription RunningMessage(uint64_t uid,
                                          const TaskFields& fields,
                                          const std::string& resource) {
  firmament::TaskDescription task = TaskMessage(uid, fields);
  task.mutable_task_descriptor()->set_state(firmament::TaskDescriptor::RUNNING);
  task.mutable_task_descriptor()->set_scheduled_to_resource(resource);
  return task;
}

class AdoptionOverGrpc : public KeptDaemonTest {
 protected:
  AdoptionOverGrpc() { Start(); }
};

TEST_F(AdoptionOverGrpc, EmptyDaemonIsRebuiltFromItsBridge) {
  // One task before its node, one after it, and one that the node names.
  EXPECT_EQ(client_->Submit(RunningMessage(1, {.cpu = 400}, "m-pu")),
            firmament::TASK_SUBMITTED_OK);
  firmament::ResourceTopologyNodeDescriptor node =
      NodeMessage("m", {.cpu = 1200});
  node.mutable_children(0)->mutable_resource_desc()->add_current_running_tasks(
      3);
  EXPECT_EQ(client_->AddNode(node), firmament::NODE_ADDED_OK);
  client_->Submit(RunningMessage(2, {.cpu = 400}, "m"));
  client_->Submit(TaskMessage(3, {.cpu = 400}));
  client_->Submit(TaskMessage(4, {.cpu = 400}));
  EXPECT_THAT(client_->ScheduleTexts(), IsEmpty()) << "the node is full";
  EXPECT_EQ(client_->Status().used().cpu_millicores(), 1200);
  client_->Complete(1);
  client_->Remove(1);
  EXPECT_THAT(client_->ScheduleTexts(), ElementsAre("PLACE 4 m-pu"));
}

TEST_F(AdoptionOverGrpc, WhatWaitsForItsNodeIsExplainedAndKept) {
  client_->AddNode(NodeMessage("other"));
  client_->Submit(RunningMessage(1, {.cpu = 400}, "m"));
  const std::string reason =
      "runs on 'm', as its client says, but no machine or part with that uuid "
      "has been announced";
  EXPECT_THAT(client_->ScheduleTexts(), IsEmpty());
  EXPECT_THAT(client_->Explain(1).summary(), HasSubstr(reason));
  Start();
  client_->AddNode(NodeMessage("other"));  // Its client begins anew.
  client_->Submit(RunningMessage(1, {.cpu = 400}, "m"));
  EXPECT_THAT(client_->ScheduleTexts(), IsEmpty());
  EXPECT_THAT(client_->Explain(1).summary(), HasSubstr(reason));
  client_->AddNode(NodeMessage("m"));
  EXPECT_THAT(client_->ScheduleTexts(), IsEmpty());
  EXPECT_THAT(client_->Explain(1).summary(), HasSubstr("runs on machine 'm'"));
}

TEST_F(AdoptionOverGrpc, ClaimsOutliveARestart) {
  firmament::ResourceTopologyNodeDescriptor node = NodeMessage("m");
  node.mutable_resource_desc()->add_current_running_tasks(7);
  client_->AddNode(node);
  Start();
  client_->Submit(TaskMessage(7, {.cpu = 400}));
  EXPECT_THAT(client_->ScheduleTexts(), IsEmpty());
  EXPECT_THAT(client_->Explain(7).summary(), HasSubstr("runs on machine 'm'"));
}

TEST_F(AdoptionOverGrpc, FullNodeHoldsMoreThanItHas) {
  client_->AddNode(NodeMessage("m", {.cpu = 1000}));
  client_->AddNode(NodeMessage("n", {.cpu = 1000}));
  for (const uint64_t uid : {1, 2}) {
    EXPECT_EQ(client_->Submit(RunningMessage(uid, {.cpu = 700}, "m")),
              firmament::TASK_SUBMITTED_OK);
  }
  EXPECT_EQ(client_->Status().used().cpu_millicores(), 1400);
  EXPECT_EQ(client_->Status().overcommitted_machines(), 1);
  client_->Submit(TaskMessage(3, {.cpu = 100}));
  EXPECT_THAT(client_->ScheduleTexts(), ElementsAre("PLACE 3 n-pu"));
}

TEST_F(AdoptionOverGrpc, RunningWithoutAPlaceIsRefused) {
  EXPECT_EQ(client_->Submit(RunningMessage(1, {.cpu = 400}, "")),
            firmament::TASK_STATE_NOT_CREATED);
  EXPECT_EQ(client_->Status().jobs(), 0);
}

TEST_F(AdoptionOverGrpc, TooManyUidsAreNotRead) {
  firmament::ResourceTopologyNodeDescriptor node = NodeMessage("m");
  for (uint64_t uid = 1; uid <= 20000; ++uid) {
    node.mutable_resource_desc()->add_current_running_tasks(uid);
  }
  EXPECT_EQ(client_->AddNode(node), firmament::NODE_ADDED_OK);
  client_->Submit(TaskMessage(1, {.cpu = 400}));
  EXPECT_THAT(client_->ScheduleTexts(), ElementsAre("PLACE 1 m-pu"));
}

}  // namespace
}  // namespace sluice
