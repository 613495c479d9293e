// Several daemons on a store in etcd, of which one leads: killed, frozen, cut
// off and asked in vain.

#include <gmock/gmock.h>
#include <grpc/support/time.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "etcd/etcd_address.h"
#include "etcd/etcd_client.h"
#include "integration/client.h"
#include "integration/daemon_process.h"
#include "integration/feed_client.h"
#include "integration/shell_command.h"
#include "sluice/base/clock.h"
#include "sluice/v1/errors.pb.h"
#include "util/etcd_server.h"
#include "util/http_get.h"
#include "util/paths.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Replicas : public testing::Test {
 protected:
  void SetUp() override {
    if (!EtcdServer::IsInstalled()) {
      GTEST_SKIP() << "there is no etcd here: scripts/install-deps --test";
    }
  }

  // A leader that stands still for most of its lease ends.  So it is long where
  // nobody waits for its end.
  static std::unique_ptr<DaemonProcess> Start(const std::string& store,
                                              int lease_s = 2) {
    return std::make_unique<DaemonProcess>(std::vector<std::string>{
        "--listen_address=127.0.0.1:0", "--http_address=127.0.0.1:0",
        "--store=" + store, StrCat("--replicas_lease=", lease_s)});
  }
};

TEST_F(Replicas, AFollowerSaysWhoLeadsAndAnswersNothingElse) {
  const EtcdServer etcd;
  const auto leader = Start(etcd.Address("/sluice"), 30);
  const int leader_port = leader->AwaitReady();
  ASSERT_NE(leader_port, 0) << leader->log();
  const auto follower = Start(etcd.Address("/sluice"), 30);
  const std::string address = StrCat("127.0.0.1:", leader_port);
  const int port = follower->AwaitFollowing();
  ASSERT_NE(port, 0) << follower->log();
  EXPECT_THAT(follower->log(), HasSubstr("following " + address));

  Client client(port);
  for (const char* method :
       {"firmament.FirmamentScheduler/Schedule",
        "firmament.FirmamentScheduler/TaskSubmitted",
        "firmament.FirmamentScheduler/AddTaskInfo",
        "sluice.v1.Inspector/GetStatus", "sluice.v1.Inspector/ForgetStale",
        "sluice.v1.Inspector/ListPolicies", "sluice.v1.Inspector/PlanRebalance",
        "sluice.v1.Inspector/DrainMachine", "sluice.v1.Feed/Connect"}) {
    std::string response;
    const grpc::Status status = client.CallRaw(method, "", &response);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE) << method;
    EXPECT_EQ(status.error_message(),
              "this daemon does not lead; " + address + " does");
    v1::ErrorStatus details;
    ASSERT_TRUE(details.ParseFromString(status.error_details())) << method;
    v1::NotLeading detail;
    ASSERT_TRUE(details.details(0).UnpackTo(&detail));
    EXPECT_EQ(detail.leader(), address);
  }
  std::string health;
  EXPECT_TRUE(client.CallRaw("grpc.health.v1.Health/Check", "", &health).ok());
  EXPECT_EQ(health, "\x08\x02");  // NOT_SERVING
  EXPECT_EQ(client.Check(""), firmament::NOT_SERVING);
  EXPECT_EQ(HttpGet(follower->http_port(), "/readyz").status, 503);
  EXPECT_EQ(HttpGet(follower->http_port(), "/healthz").status, 200);
  EXPECT_EQ(HttpGet(leader->http_port(), "/readyz").status, 200);
}

TEST_F(Replicas, TheNextOneLeadsWhenTheLeaderEndsOrIsKilled) {
  const EtcdServer etcd;
  auto leader = Start(etcd.Address("/sluice"), 6);
  ASSERT_NE(leader->AwaitReady(), 0) << leader->log();
  for (const int signal : {SIGTERM, SIGKILL, SIGTERM}) {
    auto next = Start(etcd.Address("/sluice"), 6);
    ASSERT_NE(next->AwaitFollowing(), 0) << next->log();
    Client client(leader->AwaitReady());
    const std::string machine = StrCat("machine", signal);
    client.AddNode(NodeMessage(machine, {.cpu = 1000}));
    const int64_t machines = client.Status().machines();
    leader->Signal(signal);
    const int port = next->AwaitReady();
    ASSERT_NE(port, 0) << next->log();
    EXPECT_EQ(Client(port).Status().machines(), machines);
    EXPECT_EQ(Client(port).Check(""), firmament::SERVING);
    leader->AwaitEnd();
    leader = std::move(next);
  }
}

TEST_F(Replicas, ALeaderThatWasFrozenAnswersNobodyWhenItGoesOn) {
  const EtcdServer etcd;
  const auto first = Start(etcd.Address("/sluice"));
  const int first_port = first->AwaitReady();
  ASSERT_NE(first_port, 0) << first->log();
  Client client(first_port);
  client.AddNode(NodeMessage("n", {.cpu = 1000}));
  const auto second = Start(etcd.Address("/sluice"));
  ASSERT_NE(second->AwaitFollowing(), 0) << second->log();
  first->Signal(SIGSTOP);
  const int port = second->AwaitReady();
  ASSERT_NE(port, 0) << second->log();
  // What it is asked while it sleeps is neither written nor answered.
  grpc::ClientContext context;
  firmament::NodeAddedResponse response;
  grpc::CompletionQueue queue;
  const auto call = client.scheduler().AsyncNodeAdded(
      &context, NodeMessage("late", {.cpu = 1}), &queue);
  grpc::Status status;
  call->Finish(&response, &status, nullptr);
  first->Signal(SIGCONT);
  void* tag = nullptr;
  bool ok = false;
  ASSERT_TRUE(queue.Next(&tag, &ok));
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(first->AwaitEnd(), 1);
  EXPECT_THAT(first->log(), HasSubstr("deposed: "));
  EXPECT_EQ(Client(port).Status().machines(), 1);
}

TEST_F(Replicas, ALeaderThatCannotKeepItsLeaseEndsAndComesBackAsOthersDo) {
  EtcdServer etcd;
  const auto leader = Start(etcd.Address("/sluice"));
  const int port = leader->AwaitReady();
  ASSERT_NE(port, 0) << leader->log();
  Client(port).AddNode(NodeMessage("n", {.cpu = 1000}));
  etcd.Signal(SIGSTOP);
  EXPECT_EQ(leader->AwaitEnd(), 1);
  EXPECT_THAT(leader->log(),
              HasSubstr("could not be kept alive and is about to end"));
  // One that starts meanwhile waits for etcd.
  const auto next = Start(etcd.Address("/sluice"));
  ASSERT_NE(next->AwaitFollowing(), 0) << next->log();
  EXPECT_EQ(Client(next->AwaitFollowing()).Check(""), firmament::NOT_SERVING);
  etcd.Signal(SIGCONT);
  const int next_port = next->AwaitReady();
  ASSERT_NE(next_port, 0) << next->log();
  EXPECT_EQ(Client(next_port).Status().machines(), 1);
}

TEST_F(Replicas, OneThatWaitsForEtcdOrForOthersEndsWhenItIsTold) {
  DaemonProcess alone({"--listen_address=127.0.0.1:0",
                       "--http_address=", "--store=etcd://127.0.0.1:1/sluice"});
  ASSERT_NE(alone.AwaitFollowing(), 0) << alone.log();
  alone.Signal(SIGTERM);
  EXPECT_EQ(alone.AwaitEnd(), 0);
  EXPECT_THAT(alone.log(), AllOf(HasSubstr("etcd://127.0.0.1:1/sluice"),
                                 HasSubstr("does etcd run there")));
}

TEST_F(Replicas, OneThatIsToldToEndDoesNotWaitForASilentEtcd) {
  EtcdServer etcd;
  const std::string store = etcd.Address("/sluice");
  const auto start = [&] {
    return std::make_unique<DaemonProcess>(std::vector<std::string>{
        "--listen_address=127.0.0.1:0", "--http_address=", "--store=" + store,
        "--replicas_lease=10", "--shutdown_timeout_ms=1000"});
  };
  const auto leader = start();
  const int port = leader->AwaitReady();
  ASSERT_NE(port, 0) << leader->log();
  const auto follower = start();
  ASSERT_NE(follower->AwaitFollowing(), 0) << follower->log();
  Client client(port);
  client.AddNode(NodeMessage("n", {.cpu = 1000}));
  etcd.Signal(SIGSTOP);
  // A call waits for ten seconds.  Ends take a second or two of them, and
  // longer on a machine that has much else to do.
  constexpr int64_t kEndUs = 5'000'000;
  const SystemClock clock;
  int64_t told_us = clock.MonotonicUs();
  follower->Signal(SIGTERM);
  EXPECT_EQ(follower->AwaitEnd(), 0) << follower->log();
  EXPECT_LT(clock.MonotonicUs() - told_us, kEndUs);
  // With a write under way, of which nobody knows whether it will be done.
  grpc::ClientContext context;
  firmament::NodeAddedResponse response;
  grpc::CompletionQueue queue;
  const auto call = client.scheduler().AsyncNodeAdded(
      &context, NodeMessage("unknown", {.cpu = 1}), &queue);
  grpc::Status status;
  call->Finish(&response, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  EXPECT_EQ(queue.AsyncNext(&tag, &ok, gpr_time_from_millis(300, GPR_TIMESPAN)),
            grpc::CompletionQueue::TIMEOUT);
  told_us = clock.MonotonicUs();
  leader->Signal(SIGTERM);
  EXPECT_EQ(leader->AwaitEnd(), 1) << leader->log();
  EXPECT_LT(clock.MonotonicUs() - told_us, kEndUs);
  EXPECT_THAT(leader->log(), HasSubstr("nothing can be acknowledged"));
  ASSERT_TRUE(queue.Next(&tag, &ok));
  EXPECT_FALSE(status.ok());
  etcd.Signal(SIGCONT);
  const auto next = start();
  const int next_port = next->AwaitReady();
  ASSERT_NE(next_port, 0) << next->log();
  EXPECT_GE(Client(next_port).Status().machines(), 1);
}

TEST_F(Replicas, APrefixOfAnotherVersionIsRefused) {
  const EtcdServer etcd;
  const std::string store = etcd.Address("/sluice");
  const auto client =
      EtcdClient::Make({.address = ParseEtcdAddress(store).value()}).value();
  etcdserverpb::TxnRequest request;
  etcdserverpb::PutRequest& put = *request.add_success()->mutable_request_put();
  put.set_key("/sluice/format");
  put.set_value("999");
  ASSERT_THAT(client->Txn(request), IsOk());
  const auto daemon = Start(store);
  EXPECT_EQ(daemon->AwaitEnd(), 1);
  EXPECT_THAT(daemon->log(), HasSubstr("has format '999'"));
}

TEST_F(Replicas, TheLeaderShowsWhoFollowsAndSluicectlWhoLeads) {
  const EtcdServer etcd;
  const auto leader = Start(etcd.Address("/sluice"), 30);
  const int leader_port = leader->AwaitReady();
  ASSERT_NE(leader_port, 0) << leader->log();
  const auto follower = Start(etcd.Address("/sluice"), 30);
  const int port = follower->AwaitFollowing();
  ASSERT_NE(port, 0) << follower->log();
  Client client(leader_port);
  client.AddNode(NodeMessage("n", {.cpu = 1000}));
  const std::string address = StrCat("127.0.0.1:", leader_port);
  const std::string other = StrCat("127.0.0.1:", port);
  const SystemClock clock;
  const int64_t end_us = clock.MonotonicUs() + 30000000;
  v1::Replicas replicas;
  do {
    replicas = client.Status().replicas();
  } while (clock.MonotonicUs() < end_us &&
           (replicas.followers_size() < 1 || !replicas.followers(0).is_warm() ||
            replicas.followers(0).lag() > 0));
  EXPECT_EQ(replicas.leader(), address);
  EXPECT_GT(replicas.term(), 0);
  ASSERT_EQ(replicas.followers_size(), 1);
  EXPECT_EQ(replicas.followers(0).address(), other);
  EXPECT_TRUE(replicas.followers(0).is_warm());
  EXPECT_EQ(replicas.followers(0).lag(), 0);
  const auto sluicectl = [](const std::string& server) {
    return OutputOf(
        StrCat(ProgramPath("sluicectl"), " status --server=", server, " 2>&1"));
  };
  EXPECT_THAT(sluicectl(address), HasSubstr(other + ": warm, up to date\n"));
  EXPECT_THAT(sluicectl(other),
              AllOf(HasSubstr(StrCat(other, " follows; ", address,
                                     " leads: --server=", address)),
                    HasSubstr("exit code ")));
}

TEST_F(Replicas, TheSecondOneOfAnAddressEnds) {
  const EtcdServer etcd;
  const auto start = [&](int lease_s) {
    return std::make_unique<DaemonProcess>(std::vector<std::string>{
        "--listen_address=127.0.0.1:0",
        "--http_address=", "--advertise_address=sluice-0:9090",
        "--store=" + etcd.Address("/sluice"),
        StrCat("--replicas_lease=", lease_s)});
  };
  const auto first = start(8);
  const int port = first->AwaitReady();
  ASSERT_NE(port, 0) << first->log();
  const auto second = start(2);
  EXPECT_EQ(second->AwaitEnd(), 1);
  EXPECT_THAT(second->log(), HasSubstr("also has the address sluice-0:9090"));
  EXPECT_EQ(Client(port).Status().replicas().leader(), "sluice-0:9090");
  // One that takes the place of itself is not another, though the lease of the
  // first outlives it, and etcd may end it late.
  first->Signal(SIGKILL);
  first->AwaitEnd();
  const auto third = start(12);
  EXPECT_NE(third->AwaitReady(), 0) << third->log();
}

}  // namespace
}  // namespace sluice
