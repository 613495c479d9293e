// What runs is moved, as clients of the contract see it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <string>
#include <vector>

#include "base/strings.h"
#include "integration/client.h"
#include "integration/daemon_process.h"
#include "integration/messages.h"
#include "unit/persist/temporary_directory.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> Schedule(Client* client) {
  std::vector<std::string> texts;
  const firmament::SchedulingDeltas reply = client->Schedule();
  for (const firmament::SchedulingDelta& delta : reply.deltas()) {
    texts.push_back(
        StrCat(firmament::SchedulingDelta::ChangeType_Name(delta.type()), " ",
               delta.task_id(), " ", delta.resource_id()));
  }
  return texts;
}

DaemonProcess Started(const std::string& data_dir,
                      const std::string& preemption = "full") {
  return DaemonProcess({"--listen_address=127.0.0.1:0", "--http_address=",
                        "--preemption=" + preemption, "--min_run_time=0",
                        "--removal_hold_ms=0", "--data_dir=" + data_dir});
}

firmament::TaskDescription Owned(uint64_t uid, const TaskFields& fields) {
  firmament::TaskDescription message = TaskMessage(uid, fields);
  message.mutable_task_descriptor()->set_owner_ref_kind("ReplicaSet");
  message.mutable_task_descriptor()->set_owner_ref_uid(fields.job);
  return message;
}

TEST(MovesOverGrpc, MakeRoomAndFollowTheirTasks) {
  const TemporaryDirectory directory;
  DaemonProcess daemon = Started(directory.path());
  Client client(daemon.AwaitReady());
  client.AddNode(NodeMessage("a", {.cpu = 1000}));
  client.Submit(Owned(1, {.cpu = 400, .job = "one"}));
  EXPECT_THAT(Schedule(&client), ElementsAre("PLACE 1 " + PuOf("a")));
  client.AddNode(NodeMessage("b", {.cpu = 500}));
  client.Submit(TaskMessage(3, {.cpu = 800, .job = "large"}));
  EXPECT_THAT(Schedule(&client), ElementsAre("MIGRATE 1 " + PuOf("b")));
  EXPECT_THAT(client.Explain(3).summary(),
              HasSubstr("room is kept for it on a until 1 task has left"));
  EXPECT_EQ(client.Status().last_round().moved(), 1);
  EXPECT_THAT(Schedule(&client), IsEmpty());
  client.Submit(Owned(21, {.cpu = 400, .job = "one"}));
  EXPECT_THAT(Schedule(&client), ElementsAre("PLACE 21 " + PuOf("b")));
  client.Remove(1);
  EXPECT_THAT(Schedule(&client), ElementsAre("PLACE 3 " + PuOf("a")));
}

// What was told last may be told again, and nothing else.
TEST(MovesOverGrpc, MoveNobodyElseAfterAKill) {
  const TemporaryDirectory directory;
  {
    DaemonProcess daemon = Started(directory.path());
    Client client(daemon.AwaitReady());
    client.AddNode(NodeMessage("a", {.cpu = 1000}));
    client.Submit(Owned(1, {.cpu = 400, .job = "one"}));
    Schedule(&client);
    client.AddNode(NodeMessage("b", {.cpu = 500}));
    client.Submit(TaskMessage(3, {.cpu = 800, .job = "large"}));
    EXPECT_THAT(Schedule(&client), SizeIs(1));
    daemon.Signal(SIGKILL);
    daemon.AwaitEnd();
  }
  DaemonProcess daemon = Started(directory.path());
  Client client(daemon.AwaitReady());
  for (const std::string& delta : Schedule(&client)) {
    EXPECT_THAT(delta, HasSubstr("MIGRATE 1 "));
  }
  EXPECT_THAT(Schedule(&client), IsEmpty());
  client.Remove(1);
  client.Submit(Owned(21, {.cpu = 400, .job = "one"}));
  EXPECT_THAT(Schedule(&client), SizeIs(2)) << "both have room";
}

TEST(MovesOverGrpc, AreToldBeforehandByAPlan) {
  const TemporaryDirectory directory;
  DaemonProcess daemon = Started(directory.path(), "off");
  Client client(daemon.AwaitReady());
  client.AddNode(NodeMessage("a", {.cpu = 1000}));
  client.Submit(Owned(1, {.cpu = 400, .job = "one"}));
  Schedule(&client);
  client.AddNode(NodeMessage("b", {.cpu = 500}));
  client.Submit(TaskMessage(3, {.cpu = 800, .job = "large"}));
  EXPECT_THAT(Schedule(&client), IsEmpty());
  const v1::RebalancePlan plan =
      client.Plan(v1::PlanRebalanceRequest::PREEMPTION_UNSPECIFIED);
  ASSERT_THAT(plan.moves(), SizeIs(1));
  EXPECT_EQ(plan.moves(0).task(), "1");
  EXPECT_EQ(plan.moves(0).from(), "a");
  EXPECT_EQ(plan.moves(0).to(), "b");
  ASSERT_THAT(plan.served(), SizeIs(1));
  EXPECT_EQ(plan.served(0).task(), "3");
  EXPECT_THAT(client.Plan(v1::PlanRebalanceRequest::PRIORITY).stops(),
              IsEmpty());
  EXPECT_THAT(Schedule(&client), IsEmpty());
}

}  // namespace
}  // namespace sluice
