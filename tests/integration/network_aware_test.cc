// Bandwidth, and the policy that goes by it (--cost_model=network_aware), over
// real gRPC.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "integration/client.h"
#include "integration/messages.h"
#include "integration/mini_server.h"

namespace sluice {
namespace {

using firmament::ResourceTopologyNodeDescriptor;
using firmament::TaskDescription;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

ResourceTopologyNodeDescriptor NodeWithLinks(const std::string& uuid,
                                             uint64_t rx, uint64_t tx) {
  ResourceTopologyNodeDescriptor node = NodeMessage(uuid);
  for (firmament::ResourceVector* amounts :
       {node.mutable_resource_desc()->mutable_resource_capacity(),
        node.mutable_resource_desc()->mutable_available_resources()}) {
    amounts->set_net_rx_bw(rx);
    amounts->set_net_tx_bw(tx);
  }
  return node;
}

TaskDescription TaskThatAsksFor(uint64_t uid, uint64_t rx, uint64_t tx) {
  TaskDescription task = TaskMessage(uid, {.cpu = 100});
  auto* request = task.mutable_task_descriptor()->mutable_resource_request();
  request->set_net_rx_bw(rx);
  request->set_net_tx_bw(tx);
  return task;
}

class NetworkAwareOverGrpc : public testing::Test {
 protected:
  NetworkAwareOverGrpc() : server_(NetworkOptions()), client_(server_.port()) {}

  static Options NetworkOptions() {
    Options options = MiniServer::OptionsFor(ReplyMode::kContract);
    options.cost_model = "network_aware";
    return options;
  }
  void Sample(const std::string& uuid, int64_t rx, int64_t tx) {
    firmament::ResourceStats stats;
    stats.set_resource_id(uuid);
    stats.set_net_rx_bw(rx);
    stats.set_net_tx_bw(tx);
    EXPECT_EQ(client_.AddStats(stats), firmament::NODE_ADDED_OK);
  }

  MiniServer server_;
  Client client_;
};

TEST_F(NetworkAwareOverGrpc, PutsATaskWhereTheLinkIsEmptier) {
  client_.AddNode(NodeWithLinks("a", 1000, 1000));
  client_.AddNode(NodeWithLinks("b", 1000, 1000));
  client_.Submit(TaskThatAsksFor(1, 400, 0));
  const std::string first = PlacesOf(client_.Schedule()).at(1);
  client_.Submit(TaskThatAsksFor(2, 100, 0));
  const std::string second = PlacesOf(client_.Schedule()).at(2);
  EXPECT_NE(second, first);
  client_.Submit(TaskThatAsksFor(3, 100, 0));
  EXPECT_EQ(PlacesOf(client_.Schedule()).at(3), second);
}

TEST_F(NetworkAwareOverGrpc, GoesByWhatWasMeasuredLast) {
  for (const char* uuid : {"a", "b", "c"}) {
    client_.AddNode(NodeWithLinks(uuid, 1000, 1000));
  }
  Sample("a", 500, 500);
  Sample("b", 100, 0);
  Sample("c", 900, 0);
  Sample("c", 0, 200);
  client_.Submit(TaskThatAsksFor(1, 10, 10));
  EXPECT_THAT(PlacesOf(client_.Schedule()), ElementsAre(Pair(1, PuOf("b"))));
}

TEST_F(NetworkAwareOverGrpc, LeavesATaskWaitingThatNoLinkHasRoomFor) {
  client_.AddNode(NodeMessage("none"));
  client_.AddNode(NodeWithLinks("small", 100, 1000));
  client_.Submit(TaskThatAsksFor(1, 101, 1));
  EXPECT_THAT(PlacesOf(client_.Schedule()), IsEmpty());
  const v1::TaskExplanation explanation = client_.Explain(1);
  EXPECT_THAT(explanation.summary(), HasSubstr("2 insufficient net-rx-kb"));
  EXPECT_EQ(explanation.reasons(0).code(), "insufficient_net-rx-kb");
  // To the last unit, and a task that asks for none goes anywhere.
  client_.Submit(TaskThatAsksFor(2, 100, 1));
  client_.Submit(TaskThatAsksFor(3, 0, 0));
  EXPECT_THAT(PlacesOf(client_.Schedule()),
              ElementsAre(Pair(2, PuOf("small")), Pair(3, testing::_)));
  client_.UpdateNode(NodeWithLinks("none", 200, 200));
  EXPECT_THAT(PlacesOf(client_.Schedule()), ElementsAre(Pair(1, PuOf("none"))));
}

// Poseidon's nodes state no bandwidth, and some of its pods ask for some.
TEST(NetworkOverGrpc, IsOverlookedWhereNoPolicyHeedsIt) {
  const MiniServer server(MiniServer::OptionsFor(ReplyMode::kContract));
  Client client(server.port());
  client.AddNode(NodeMessage("n"));
  client.Submit(TaskThatAsksFor(1, 1000, 1000));
  TaskDescription by_name = TaskMessage(2, {.cpu = 100});
  (*by_name.mutable_task_descriptor()
        ->mutable_resource_request()
        ->mutable_extended_resources())["net-rx-kb"] = 1;
  client.Submit(by_name);
  EXPECT_THAT(PlacesOf(client.Schedule()), ElementsAre(Pair(1, PuOf("n"))));
  EXPECT_THAT(client.Explain(2).summary(), HasSubstr("insufficient net-rx-kb"));
}

TEST_F(NetworkAwareOverGrpc, NamesBandwidthThatMakesNoSense) {
  client_.AddNode(NodeWithLinks("n", 1000, 1000));
  client_.Submit(TaskThatAsksFor(1, -uint64_t{1}, 0));
  EXPECT_THAT(PlacesOf(client_.Schedule()), IsEmpty());
  EXPECT_THAT(
      client_.Explain(1).summary(),
      HasSubstr("quarantined: net_rx_bw: more than 1152921504606846976"));
  client_.AddNode(NodeWithLinks("m", 1, -uint64_t{5}));
  EXPECT_EQ(client_.Status().quarantined_machines(), 1);
}

}  // namespace
}  // namespace sluice
