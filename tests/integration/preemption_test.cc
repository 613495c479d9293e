// Preemption by priority, as clients of the contract see it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <string>
#include <vector>

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

DaemonProcess Started(const std::string& data_dir) {
  return DaemonProcess({"--listen_address=127.0.0.1:0",
                        "--http_address=", "--preemption=priority",
                        "--removal_hold_ms=0", "--data_dir=" + data_dir});
}

TEST(PreemptionOverGrpc, StopsKeepsRoomAndPlaces) {
  const TemporaryDirectory directory;
  DaemonProcess daemon = Started(directory.path());
  Client client(daemon.AwaitReady());
  client.AddNode(NodeMessage("n", {.cpu = 1000}));
  client.Submit(TaskMessage(1, {.cpu = 600}));
  EXPECT_THAT(client.ScheduleTexts(), ElementsAre("PLACE 1 " + PuOf("n")));
  client.Submit(TaskMessage(2, {.cpu = 900, .priority = 1000}));
  EXPECT_THAT(client.ScheduleTexts(), ElementsAre("PREEMPT 1 " + PuOf("n")));
  EXPECT_THAT(
      client.Explain(2).summary(),
      HasSubstr("room is kept for it on machine 'n' until 1 task has left"));
  client.Submit(TaskMessage(3, {.cpu = 400, .priority = 5}));
  EXPECT_THAT(client.ScheduleTexts(), IsEmpty());
  EXPECT_EQ(client.Status().last_round().pending(), 2);
  client.Remove(1);
  EXPECT_THAT(client.ScheduleTexts(), ElementsAre("PLACE 2 " + PuOf("n")));
}

TEST(PreemptionOverGrpc, StopsNobodyElseAfterAKill) {
  const TemporaryDirectory directory;
  {
    DaemonProcess daemon = Started(directory.path());
    Client client(daemon.AwaitReady());
    client.AddNode(NodeMessage("a", {.cpu = 1000}));
    client.AddNode(NodeMessage("b", {.cpu = 1000}));
    client.Submit(TaskMessage(1, {.cpu = 600}));
    client.Submit(TaskMessage(2, {.cpu = 600}));
    client.ScheduleTexts();
    client.Submit(TaskMessage(3, {.cpu = 900, .priority = 1000}));
    EXPECT_EQ(client.ScheduleTexts().size(), 1u);
    daemon.Signal(SIGKILL);
    daemon.AwaitEnd();
  }
  DaemonProcess daemon = Started(directory.path());
  Client client(daemon.AwaitReady());
  // The delivery of what was told last may not have been noted.
  const std::vector<std::string> again = client.ScheduleTexts();
  EXPECT_LE(again.size(), 1u);
  const std::string why = client.Explain(3).summary();
  const std::string node =
      why.find("on machine 'a' until") != std::string::npos ? "a" : "b";
  const bool is_first = client.Explain(1).task().resource_id() == PuOf(node);
  client.Remove(is_first ? 1 : 2);
  EXPECT_THAT(client.ScheduleTexts(), ElementsAre("PLACE 3 " + PuOf(node)));
}

// Of a job with a budget: of its tasks so many stay available.
firmament::TaskDescription Protected(uint64_t uid, const std::string& minimum) {
  firmament::TaskDescription task = TaskMessage(uid, {.cpu = 1000});
  task.mutable_job_descriptor()->mutable_disruption_budget()->set_min_available(
      minimum);
  return task;
}

TEST(PreemptionOverGrpc, ExceedsNoBudgetBeforeAndAfterAKill) {
  const TemporaryDirectory directory;
  {
    DaemonProcess daemon = Started(directory.path());
    Client client(daemon.AwaitReady());
    for (const char* node : {"a", "b", "c", "d"}) {
      client.AddNode(NodeMessage(node, {.cpu = 1000}));
    }
    for (uint64_t uid = 1; uid <= 4; ++uid) {
      client.Submit(Protected(uid, "75%"));
    }
    EXPECT_THAT(client.ScheduleTexts(), SizeIs(4));
    for (uint64_t uid = 11; uid <= 14; ++uid) {
      client.Submit(
          TaskMessage(uid, {.cpu = 1000, .job = "urgent", .priority = 1000}));
    }
    EXPECT_THAT(client.ScheduleTexts(), SizeIs(1));
    EXPECT_THAT(client.ScheduleTexts(), IsEmpty());
    daemon.Signal(SIGKILL);
    daemon.AwaitEnd();
  }
  DaemonProcess daemon = Started(directory.path());
  Client client(daemon.AwaitReady());
  // The delivery of what was told last may not have been noted.
  EXPECT_LE(client.ScheduleTexts().size(), 1u);
  EXPECT_THAT(client.ScheduleTexts(), IsEmpty());
}

TEST(PreemptionOverGrpc, HoldsNothingBackForABudgetThatMakesNoSense) {
  const TemporaryDirectory directory;
  DaemonProcess daemon = Started(directory.path());
  Client client(daemon.AwaitReady());
  client.AddNode(NodeMessage("n", {.cpu = 1000}));
  EXPECT_EQ(client.Submit(Protected(1, "all")), firmament::TASK_SUBMITTED_OK);
  EXPECT_THAT(client.ScheduleTexts(), SizeIs(1))
      << "the task itself is in order";
  client.Submit(TaskMessage(2, {.cpu = 1000, .priority = 1000}));
  EXPECT_THAT(client.ScheduleTexts(), ElementsAre("PREEMPT 1 " + PuOf("n")));
  daemon.Signal(SIGTERM);
  daemon.AwaitEnd();
  EXPECT_THAT(daemon.log(),
              HasSubstr("disruption_budget: min_available: "
                        "'all' is neither a number nor a percentage"));
}

TEST(PreemptionOverGrpc, StopsNobodyForATaskThatDisplacesNobody) {
  const TemporaryDirectory directory;
  DaemonProcess daemon = Started(directory.path());
  Client client(daemon.AwaitReady());
  client.AddNode(NodeMessage("n", {.cpu = 1000}));
  client.Submit(TaskMessage(1, {.cpu = 1000}));
  client.ScheduleTexts();
  firmament::TaskDescription meek =
      TaskMessage(2, {.cpu = 1000, .priority = 1000});
  meek.mutable_task_descriptor()->set_preemption_policy(
      firmament::TaskDescriptor::NEVER);
  client.Submit(meek);
  EXPECT_THAT(client.ScheduleTexts(), IsEmpty());
  client.Remove(1);
  EXPECT_THAT(client.ScheduleTexts(), ElementsAre("PLACE 2 " + PuOf("n")));
}

TEST(PreemptionOverGrpc, IsNamedWhereTheDaemonDoesNotKnowIt) {
  DaemonProcess daemon({"--listen_address=127.0.0.1:0",
                        "--http_address=", "--preemption=sometimes"});
  EXPECT_EQ(daemon.AwaitReady(), 0);
  EXPECT_EQ(daemon.AwaitEnd(), 1);
  EXPECT_THAT(daemon.log(), HasSubstr("--preemption"));
  EXPECT_THAT(daemon.log(), HasSubstr("sometimes"));
}

}  // namespace
}  // namespace sluice
