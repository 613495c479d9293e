// Machines are emptied, as clients of the contract and operators see it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
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

DaemonProcess Started(const std::string& data_dir) {
  return DaemonProcess({"--listen_address=127.0.0.1:0", "--http_address=",
                        "--removal_hold_ms=0", "--data_dir=" + data_dir});
}

// Once no task is held because its client cannot be told: a reply may have
// arrived before the daemon knows that it has.
v1::Drain DrainOnceAllCanBeTold(const std::string& machine, Client* client) {
  const auto cannot_be_told = [](const v1::Drain::Held& held) {
    return held.code() == "not_reached";
  };
  v1::Drain drain = client->Drain(machine);
  constexpr int kCallsMax = 20'000;  // Some seconds.
  for (int i = 0;
       i < kCallsMax && std::ranges::any_of(drain.held(), cannot_be_told);
       ++i) {
    drain = client->Drain(machine);
  }
  return drain;
}

TEST(DrainOverGrpc, EmptiesAMachineThatTakesNothingThenEvenAfterAKill) {
  const TemporaryDirectory directory;
  {
    DaemonProcess daemon = Started(directory.path());
    Client client(daemon.AwaitReady());
    client.AddNode(NodeMessage("a", {.cpu = 1000}));
    client.Submit(OwnedTaskMessage(1, {.cpu = 400, .job = "one"}));
    client.Submit(TaskMessage(2, {.cpu = 100, .job = "two"}));
    client.ScheduleTexts();
    client.AddNode(NodeMessage("b", {.cpu = 500}));
    v1::Drain drain = DrainOnceAllCanBeTold("a", &client);
    EXPECT_TRUE(drain.is_draining());
    EXPECT_EQ(drain.movable(), 1);
    ASSERT_EQ(drain.held_size(), 1);
    EXPECT_EQ(drain.held(0).code(), "no_owner");
    EXPECT_THAT(client.ScheduleTexts(), ElementsAre("MIGRATE 1 " + PuOf("b")));
    EXPECT_EQ(client.Status().draining_machines(), 1);
    EXPECT_THAT(client.Explain(1).summary(), HasSubstr("which is draining"));
    client.Submit(OwnedTaskMessage(21, {.cpu = 400, .job = "one"}));
    EXPECT_THAT(client.ScheduleTexts(), ElementsAre("PLACE 21 " + PuOf("b")));
    client.Remove(1);
    v1::GetDrainRequest request;
    request.set_machine("a");
    grpc::ClientContext context;
    ASSERT_TRUE(client.inspector().GetDrain(&context, request, &drain).ok());
    EXPECT_EQ(drain.left(), 1);
    daemon.Signal(SIGKILL);
    daemon.AwaitEnd();
  }
  DaemonProcess daemon = Started(directory.path());
  Client client(daemon.AwaitReady());
  client.ScheduleTexts();
  client.Submit(TaskMessage(3, {.cpu = 500, .job = "three"}));
  EXPECT_THAT(client.ScheduleTexts(), IsEmpty()) << "a is still draining";
  EXPECT_THAT(client.Explain(3).summary(), HasSubstr("1 draining"));
  EXPECT_FALSE(client.Drain("a", /*cancels=*/true).is_draining());
  EXPECT_THAT(client.ScheduleTexts(), ElementsAre("PLACE 3 " + PuOf("a")));
}

TEST(DrainOverGrpc, NamesAMachineThatIsNotThere) {
  const TemporaryDirectory directory;
  DaemonProcess daemon = Started(directory.path());
  Client client(daemon.AwaitReady());
  v1::DrainMachineRequest request;
  v1::Drain drain;
  request.set_machine("nobody");
  {
    grpc::ClientContext context;
    const grpc::Status status =
        client.inspector().DrainMachine(&context, request, &drain);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
    EXPECT_THAT(status.error_message(), HasSubstr("nobody"));
  }
  client.AddNode(NodeMessage("a", {.cpu = 1000}));
  client.Submit(TaskMessage(1, {.cpu = 400}));
  client.ScheduleTexts();
  client.RemoveNode("a");
  request.set_machine("a");
  grpc::ClientContext context;
  const grpc::Status status =
      client.inspector().DrainMachine(&context, request, &drain);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(status.error_message(), HasSubstr("a has departed"));
}

}  // namespace
}  // namespace sluice
