#include "rpc/inspect_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "util/peer_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::SizeIs;

class InspectNetworkTest : public testing::Test {
 protected:
  v1::RoundNetwork Inspect() { return InspectOf(cluster_); }
  static v1::RoundNetwork InspectOf(const TestScheduler& cluster) {
    v1::RoundNetwork network;
    InspectNetwork(cluster.state(), cluster.scheduler().network_log(),
                   cluster.scheduler().policies().AggregateLabel(), &network);
    return network;
  }
  static std::vector<std::string> Names(const v1::RoundNetwork::Pass& pass) {
    std::vector<std::string> names;
    for (const auto& node : pass.nodes()) names.push_back(node.name());
    return names;
  }

  TestScheduler cluster_{{.network_arcs_max = 1000}};
};

TEST_F(InspectNetworkTest, NamesWhatNodesStandFor) {
  for (const char* uuid : {"a", "b", "c"}) {
    cluster_.Apply(Added(uuid, {.cpu = 1000}));
  }
  for (const uint64_t uid : {1, 2}) {
    cluster_.Apply(Submitted(uid, {.cpu = 500, .priority = 7, .job = "web"}));
  }
  cluster_.Reply(1);
  const v1::RoundNetwork network = Inspect();
  EXPECT_EQ(network.round(), 1u);
  EXPECT_EQ(network.arcs_max(), 1000);
  ASSERT_THAT(network.passes(), SizeIs(1));
  const v1::RoundNetwork::Pass& pass = network.passes(0);
  EXPECT_THAT(Names(pass), ElementsAre("2 of web, priority 7", "sink",
                                       "a and 1 alike", "unscheduled of web"))
      << "two tasks need no third machine";
  EXPECT_TRUE(pass.has_cost());
  int64_t cost = 0;
  for (const auto& arc : pass.arcs()) {
    int64_t flow = arc.flow();
    EXPECT_GE(flow, arc.lower());
    for (const auto& segment : arc.segments()) {
      const int64_t used = std::min(flow, segment.width());
      cost += used * segment.cost();
      flow -= used;
    }
    EXPECT_EQ(flow, 0) << "more than its segments are wide";
  }
  EXPECT_EQ(cost, pass.cost());
}

TEST_F(InspectNetworkTest, NamesMachinesWithoutNamesByTheirUuids) {
  AddMachine machine = Added("a", {.cpu = 1000});
  machine.spec.name.clear();
  cluster_.Apply(machine);
  cluster_.Apply(Submitted(1, {.cpu = 500, .job = "web"}));
  cluster_.Reply(1);
  EXPECT_THAT(Names(Inspect().passes(0)), Contains("a"));
}

TEST_F(InspectNetworkTest, NamesAggregatesByTheirLabel) {
  TestScheduler cluster({.network_arcs_max = 1000}, "domain_spreading");
  for (const char* uuid : {"a", "b"}) {
    cluster.Apply(Added(uuid, {.cpu = 1000, .labels = {{"rack", "r1"}}}));
  }
  cluster.Apply(Submitted(1, {.cpu = 500, .job = "web"}));
  cluster.Reply(1);
  EXPECT_THAT(Names(InspectOf(cluster).passes(0)), Contains("rack=r1"));
}

TEST_F(InspectNetworkTest, NamesByTheirIdsWhatIsGone) {
  cluster_.Apply(Added("a", {.cpu = 1000}));
  cluster_.Apply(Submitted(1, {.cpu = 500, .job = "web"}));
  cluster_.Reply(1);
  cluster_.Apply(Removed(1));
  EXPECT_THAT(Names(Inspect().passes(0)), Contains("unscheduled of job 0"));
}

TEST_F(InspectNetworkTest, HasGatesOfGangs) {
  for (const char* uuid : {"a", "b"}) {
    cluster_.Apply(Added(uuid, {.cpu = 1000}));
  }
  for (const uint64_t uid : {1, 2, 3}) {
    cluster_.Apply(
        Submitted(uid, {.cpu = 1000, .job = "gang"}, {.gang = {.minimum = 2}}));
  }
  cluster_.Reply(1);
  const v1::RoundNetwork network = Inspect();
  ASSERT_GE(network.passes_size(), 1);
  const v1::RoundNetwork::Pass& pass = network.passes(0);
  EXPECT_THAT(Names(pass),
              ElementsAre("3 of gang, priority 0", "sink", "gather", "place",
                          "placed", "a and 1 alike", "unscheduled of gang"));
  for (const auto& node : pass.nodes()) {
    EXPECT_EQ(node.kind() == v1::RoundNetwork::Node::GATE,
              node.name() == "gather" || node.name().starts_with("place"));
  }
  for (const auto& arc : pass.arcs()) {
    EXPECT_EQ(arc.all_or_none(), pass.nodes(arc.tail()).name() == "gather");
  }
}

TEST_F(InspectNetworkTest, SaysWhichMachinesADomainHas) {
  for (const char* uuid : {"a", "b", "c"}) {
    cluster_.Apply(
        Added(uuid, {.cpu = uuid[0] == 'c' ? 4000 : 2000,
                     .labels = {{"zone", uuid[0] == 'a' ? "x" : "y"}}}));
  }
  for (const uint64_t uid : {1, 2}) {
    cluster_.Apply(
        Submitted(uid,
                  {.cpu = 1000,
                   .job = "web",
                   .labels = {{"app", "web"}},
                   .rules = {.anti_affinity = {{App("web"), "zone"}}}},
                  PeerOptions()));
  }
  cluster_.Reply(1);
  const v1::RoundNetwork network = Inspect();
  ASSERT_GE(network.passes_size(), 1);
  EXPECT_THAT(Names(network.passes(0)),
              IsSupersetOf({"2 of web, priority 0, on a",
                            "2 of web, priority 0, on b and c"}));
}

TEST_F(InspectNetworkTest, IsEmptyBeforeAnyRound) {
  EXPECT_EQ(Inspect().round(), 0u);
  EXPECT_THAT(Inspect().passes(), IsEmpty());
}

}  // namespace
}  // namespace sluice
