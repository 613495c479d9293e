// Daemons that share a store on etcd, of which one at a time has it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <string>
#include <vector>

#include "etcd/etcd_address.h"
#include "etcd/etcd_client.h"
#include "integration/client.h"
#include "integration/daemon_process.h"
#include "util/etcd_server.h"
#include "util/status_matchers.h"

namespace sluice {
namespace {

using testing::HasSubstr;

class StoreOnEtcdTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!EtcdServer::IsInstalled()) {
      GTEST_SKIP() << "there is no etcd here: scripts/install-deps --test";
    }
  }

  static std::vector<std::string> Flags(const std::string& store) {
    return {"--listen_address=127.0.0.1:0",
            "--http_address=", "--store=" + store};
  }
};

TEST_F(StoreOnEtcdTest, GoesToTheNextDaemonWhenItsOwnIsKilled) {
  const EtcdServer etcd;
  const std::string store = etcd.Address("/sluice");
  DaemonProcess first(Flags(store));
  const int port = first.AwaitReady();
  ASSERT_NE(port, 0) << first.log();
  Client client(port);
  client.AddNode(NodeMessage("n", {.cpu = 1000}));
  EXPECT_EQ(client.Submit(TaskMessage(1, {.cpu = 500})),
            firmament::TASK_SUBMITTED_OK);
  DaemonProcess second(Flags(store));
  first.Signal(SIGKILL);
  first.AwaitEnd();
  // After the rest of the lease.
  const int next_port = second.AwaitReady();
  ASSERT_NE(next_port, 0) << second.log();
  EXPECT_THAT(second.log(), HasSubstr("to go"));
  EXPECT_THAT(second.log(), HasSubstr("store=" + store));
  EXPECT_EQ(Client(next_port).Status().machines(), 1);
  second.Signal(SIGTERM);
  EXPECT_EQ(second.AwaitEnd(), 0);

  // One that ended in order gave it back at once.
  DaemonProcess third(Flags(store));
  EXPECT_NE(third.AwaitReady(), 0) << third.log();
}

TEST_F(StoreOnEtcdTest, EndsADaemonThatWasDeposed) {
  const EtcdServer etcd;
  const std::string store = etcd.Address("/sluice");
  DaemonProcess daemon(Flags(store));
  const int port = daemon.AwaitReady();
  ASSERT_NE(port, 0) << daemon.log();
  const auto etcd_client =
      EtcdClient::Make({.address = ParseEtcdAddress(store).value()}).value();
  etcdserverpb::RangeRequest request;
  request.set_key("/sluice/leader");
  const int64_t lease = etcd_client->Range(request)->kvs(0).lease();
  EXPECT_THAT(etcd_client->RevokeLease(lease, 5000), IsOk());
  Client client(port);
  grpc::ClientContext context;
  firmament::NodeAddedResponse response;
  EXPECT_FALSE(client.scheduler()
                   .NodeAdded(&context, NodeMessage("n", {.cpu = 1}), &response)
                   .ok());
  EXPECT_EQ(daemon.AwaitEnd(), 1);
  EXPECT_THAT(daemon.log(),
              HasSubstr("deposed: the lease on " + store + " has ended"));
}

TEST_F(StoreOnEtcdTest, RefusesToStartWithoutEtcdAndSaysWhere) {
  DaemonProcess daemon(Flags("etcd://127.0.0.1:1/sluice"));
  EXPECT_EQ(daemon.AwaitReady(), 0);
  EXPECT_EQ(daemon.AwaitEnd(), 1);
  EXPECT_THAT(daemon.log(), HasSubstr("etcd://127.0.0.1:1/sluice"));
  EXPECT_THAT(daemon.log(), HasSubstr("does etcd run there"));
}

}  // namespace
}  // namespace sluice
