// What runs is moved, as clients of the contract see it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <string>

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

DaemonProcess Started(const std::string& data_dir,
                      const std::string& preemption = "full") {
  return DaemonProcess({"--listen_address=127.0.0.1:0", "--http_address=",
                        "--preemption=" + preemption, "--min_run_time=0",
                        "--removal_hold_ms=0", "--data_dir=" + data_dir});
}

TEST(MovesOverGrpc, MakeRoomAndFollowTheirTasks) {
  const TemporaryDirectory directory;
  DaemonProcess daemon = Started(directory.path());
  Client client(daemon.AwaitReady());
  client.AddNode(NodeMessage("a", {.cpu = 1000}));
  client.Submit(OwnedTaskMessage(1, {.cpu = 400, .job = "one"}));
  EXPECT_THAT(client.ScheduleTexts(), ElementsAre("PLACE 1 " + PuOf("a")));
  client.AddNode(NodeMessage("b", {.cpu = 500}));
  client.Submit(TaskMessage(3, {.cpu = 800, .job = "large"}));
  EXPECT_THAT(client.ScheduleTexts(), ElementsAre("MIGRATE 1 " + PuOf("b")));
  EXPECT_THAT(
      client.Explain(3).summary(),
      HasSubstr("room is kept for it on machine 'a' until 1 task has left"));
  EXPECT_EQ(client.Status().last_round().moved(), 1);
  EXPECT_THAT(client.ScheduleTexts(), IsEmpty());
  client.Submit(OwnedTaskMessage(21, {.cpu = 400, .job = "one"}));
  EXPECT_THAT(client.ScheduleTexts(), ElementsAre("PLACE 21 " + PuOf("b")));
  client.Remove(1);
  EXPECT_THAT(client.ScheduleTexts(), ElementsAre("PLACE 3 " + PuOf("a")));
}

// What was told last may be told again, and nothing else.
TEST(MovesOverGrpc, MoveNobodyElseAfterAKill) {
  const TemporaryDirectory directory;
  {
    DaemonProcess daemon = Started(directory.path());
    Client client(daemon.AwaitReady());
    client.AddNode(NodeMessage("a", {.cpu = 1000}));
    client.Submit(OwnedTaskMessage(1, {.cpu = 400, .job = "one"}));
    client.ScheduleTexts();
    client.AddNode(NodeMessage("b", {.cpu = 500}));
    client.Submit(TaskMessage(3, {.cpu = 800, .job = "large"}));
    EXPECT_THAT(client.ScheduleTexts(), SizeIs(1));
    daemon.Signal(SIGKILL);
    daemon.AwaitEnd();
  }
  DaemonProcess daemon = Started(directory.path());
  Client client(daemon.AwaitReady());
  for (const std::string& delta : client.ScheduleTexts()) {
    EXPECT_THAT(delta, HasSubstr("MIGRATE 1 "));
  }
  EXPECT_THAT(client.ScheduleTexts(), IsEmpty());
  client.Remove(1);
  client.Submit(OwnedTaskMessage(21, {.cpu = 400, .job = "one"}));
  EXPECT_THAT(client.ScheduleTexts(), SizeIs(2)) << "both have room";
}

TEST(MovesOverGrpc, AreToldBeforehandByAPlan) {
  const TemporaryDirectory directory;
  DaemonProcess daemon = Started(directory.path(), "off");
  Client client(daemon.AwaitReady());
  client.AddNode(NodeMessage("a", {.cpu = 1000}));
  client.Submit(OwnedTaskMessage(1, {.cpu = 400, .job = "one"}));
  client.ScheduleTexts();
  client.AddNode(NodeMessage("b", {.cpu = 500}));
  client.Submit(TaskMessage(3, {.cpu = 800, .job = "large"}));
  EXPECT_THAT(client.ScheduleTexts(), IsEmpty());
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
  EXPECT_THAT(client.ScheduleTexts(), IsEmpty());
}

}  // namespace
}  // namespace sluice
