// How many tasks each domain should have at least, and each domain and the
// cluster may have at most, over real gRPC.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "integration/client.h"
#include "integration/messages.h"
#include "integration/mini_server.h"

namespace sluice {
namespace {

using firmament::TaskDescription;
using testing::HasSubstr;
using testing::Not;

class MinimumsOverGrpc : public testing::Test {
 protected:
  MinimumsOverGrpc()
      : server_(MiniServer::OptionsFor(ReplyMode::kContract)),
        client_(server_.port()) {}

  void AddNode(const std::string& uuid, const std::string& zone,
               float cpu = 4000) {
    client_.AddNode(
        NodeMessage(uuid, {.cpu = cpu, .labels = {{"zone", zone}}}));
  }
  static TaskDescription Web(uint64_t uid, int32_t at_least) {
    TaskDescription task = TaskMessage(uid, {.cpu = 1000});
    firmament::DomainMinimum* minimum =
        task.mutable_task_descriptor()->add_domain_minimums();
    minimum->set_topologykey("zone");
    minimum->set_atleast(at_least);
    return task;
  }

  MiniServer server_;
  Client client_;
};

TEST_F(MinimumsOverGrpc, AreMetAndTold) {
  AddNode("a", "a", 64000);
  AddNode("b", "b");
  AddNode("full", "c", 500);
  for (uint64_t uid = 1; uid <= 8; ++uid) client_.Submit(Web(uid, 2));
  std::map<std::string, int> counts;
  for (const auto& [uid, pu] : PlacesOf(client_.Schedule())) ++counts[pu];
  EXPECT_GE(counts[PuOf("a")], 2);
  EXPECT_GE(counts[PuOf("b")], 2);
  EXPECT_THAT(client_.Explain(1).summary(),
              HasSubstr("of the 2 that it should have, zone=c has 0"));
}

TEST_F(MinimumsOverGrpc, WhatMakesNoSenseIsNamed) {
  AddNode("a", "a");
  client_.Submit(Web(1, -2));
  EXPECT_THAT(PlacesOf(client_.Schedule()), testing::IsEmpty());
  EXPECT_THAT(client_.Explain(1).summary(),
              HasSubstr("quarantined: atLeast: -2 < 0"));
  // One about others is set aside.
  TaskDescription stranger = Web(2, 1);
  (*stranger.mutable_task_descriptor()
        ->mutable_domain_minimums(0)
        ->mutable_labelselector()
        ->mutable_match_labels_map())["app"] = "other";
  client_.Submit(stranger);
  EXPECT_EQ(PlacesOf(client_.Schedule()).size(), 1u);
  EXPECT_THAT(client_.Explain(2).summary(), Not(HasSubstr("should have")));
}

TEST_F(MinimumsOverGrpc, AMinimumAboveTheMaximumIsSetAside) {
  AddNode("a", "a");
  TaskDescription task = Web(1, 5);
  firmament::DomainMaximum* maximum =
      task.mutable_task_descriptor()->add_domain_maximums();
  maximum->set_topologykey("zone");
  maximum->set_atmost(2);
  client_.Submit(task);
  EXPECT_EQ(PlacesOf(client_.Schedule()).size(), 1u);
  EXPECT_THAT(client_.Explain(1).summary(), Not(HasSubstr("should have")));
}

TEST_F(MinimumsOverGrpc, NoDomainHasMoreThanItMay) {
  AddNode("a1", "a", 64000);
  AddNode("a2", "a", 64000);
  AddNode("b", "b", 64000);
  client_.AddNode(NodeMessage("nowhere", {.cpu = 64000}));
  for (uint64_t uid = 1; uid <= 6; ++uid) {
    TaskDescription task = TaskMessage(uid, {.cpu = 1000});
    firmament::DomainMaximum* maximum =
        task.mutable_task_descriptor()->add_domain_maximums();
    maximum->set_topologykey("zone");
    maximum->set_atmost(2);
    client_.Submit(task);
  }
  std::map<std::string, int> counts;
  for (const auto& [uid, pu] : PlacesOf(client_.Schedule())) ++counts[pu];
  EXPECT_EQ(counts[PuOf("a1")] + counts[PuOf("a2")], 2);
  EXPECT_EQ(counts[PuOf("b")], 2);
  EXPECT_EQ(counts[PuOf("nowhere")], 0);
  EXPECT_THAT(client_.Explain(6).summary(),
              HasSubstr("at most 2 of job job in each zone"));
}

TEST_F(MinimumsOverGrpc, TheClusterHasNoMoreThanItMay) {
  AddNode("a1", "a", 64000);
  AddNode("b", "b", 64000);
  client_.AddNode(NodeMessage("nowhere", {.cpu = 64000}));
  const auto submit = [this](uint64_t uid) {
    TaskDescription task = TaskMessage(uid, {.cpu = 1000});
    for (const auto& [key, most] :
         {std::pair("*", 4), std::pair("zone", 3), std::pair("", 2)}) {
      firmament::DomainMaximum* maximum =
          task.mutable_task_descriptor()->add_domain_maximums();
      maximum->set_topologykey(key);
      maximum->set_atmost(most);
    }
    client_.Submit(task);
  };
  for (uint64_t uid = 1; uid <= 6; ++uid) submit(uid);
  const auto places = PlacesOf(client_.Schedule());
  ASSERT_EQ(places.size(), 4u);
  std::map<std::string, int> counts;
  for (const auto& [uid, pu] : places) ++counts[pu];
  EXPECT_EQ(counts[PuOf("a1")], 2);
  EXPECT_EQ(counts[PuOf("b")], 2);
  EXPECT_EQ(counts[PuOf("nowhere")], 0);
  std::set<uint64_t> waiting = {1, 2, 3, 4, 5, 6};
  for (const auto& [uid, pu] : places) waiting.erase(uid);
  EXPECT_THAT(client_.Explain(*waiting.begin()).summary(),
              HasSubstr("at most 4 of job job in all"));
  EXPECT_THAT(PlacesOf(client_.Schedule()), testing::IsEmpty());
  // One goes, and one comes.
  client_.Complete(places.begin()->first);
  EXPECT_EQ(PlacesOf(client_.Schedule()).size(), 1u);
}

// A policy bounds the tasks of each job.
TEST(JobBoundsOverGrpc, EachJobHasNoMoreInAZoneThanThePolicySays) {
  Options options = MiniServer::OptionsFor(ReplyMode::kContract);
  options.cost_model = "cpu_memory,job_bounds:label=zone:at_least=0:at_most=2";
  MiniServer server(options);
  Client client(server.port());
  for (const std::string zone : {"a", "b"}) {
    for (const std::string number : {"1", "2"}) {
      client.AddNode(NodeMessage(zone + number,
                                 {.cpu = 64000, .labels = {{"zone", zone}}}));
    }
  }
  for (uint64_t uid = 1; uid <= 12; ++uid) {
    client.Submit(
        TaskMessage(uid, {.cpu = 1000, .job = uid % 2 == 0 ? "even" : "odd"}));
  }
  std::map<std::pair<bool, char>, int> counts;
  std::set<uint64_t> waiting_even = {2, 4, 6, 8, 10, 12};
  for (const auto& [uid, pu] : PlacesOf(client.Schedule())) {
    waiting_even.erase(uid);
    for (const char zone : {'a', 'b'}) {
      for (const char number : {'1', '2'}) {
        if (pu == PuOf(std::string{zone, number})) {
          ++counts[{uid % 2 == 0, zone}];
        }
      }
    }
  }
  using testing::Pair;
  EXPECT_THAT(counts, testing::UnorderedElementsAre(
                          Pair(Pair(false, 'a'), 2), Pair(Pair(false, 'b'), 2),
                          Pair(Pair(true, 'a'), 2), Pair(Pair(true, 'b'), 2)));
  ASSERT_EQ(waiting_even.size(), 2u);
  EXPECT_THAT(client.Explain(*waiting_even.begin()).summary(),
              HasSubstr("at most 2 of job even in each zone"));
}

// One of them at all, as of a disk that one task may hold.
TEST_F(MinimumsOverGrpc, OneKeepsTheOthersFromTheWholeCluster) {
  AddNode("a1", "a", 64000);
  AddNode("b", "b", 64000);
  for (uint64_t uid = 1; uid <= 3; ++uid) {
    TaskDescription task = TaskMessage(uid, {.cpu = 1000});
    firmament::DomainMaximum* maximum =
        task.mutable_task_descriptor()->add_domain_maximums();
    maximum->set_topologykey("*");
    client_.Submit(task);
  }
  EXPECT_EQ(PlacesOf(client_.Schedule()).size(), 1u);
  EXPECT_THAT(PlacesOf(client_.Schedule()), testing::IsEmpty());
}

}  // namespace
}  // namespace sluice
