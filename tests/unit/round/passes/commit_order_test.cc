#include "round/passes/commit_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "constraints/class_peers.h"
#include "util/peer_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::ElementsAre;

// Two hosts in zone a, one in zone b; the tasks 1, 2, ... of one class.
class CommitOrderTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* uuid : {"a1", "a2", "b1"}) {
      cluster_.Apply(Added(
          uuid, {.cpu = 1000,
                 .labels = {{"host", uuid}, {"zone", std::string(uuid, 1)}}}));
    }
  }
  void Submit(const PlacementRules& rules, const std::vector<int64_t>& ages) {
    for (const int64_t age : ages) {
      cluster_.Apply(
          Submitted(++last_uid_,
                    {.cpu = 10, .labels = {{"app", "web"}}, .rules = rules},
                    PeerOptions()),
          1000 - age);
    }
  }
  // "1 on a1" for task 1 and so on, in their new order.
  std::vector<std::string> Order(const std::vector<std::string>& machines) {
    cluster_.mutable_state().SyncPeers();
    BandClass band_class;
    band_class.key = cluster_.TaskOf(1).class_key;
    const ClassPeers peers(cluster_.state(), cluster_.constraints(),
                           band_class.key);
    band_class.peers = &peers;
    std::vector<Proposal> proposals;
    uint64_t uid = 0;
    for (const std::string& uuid : machines) {
      proposals.push_back({0, {++uid}, cluster_.state().FindMachine(uuid)->id});
    }
    std::vector<std::string> texts;
    for (const Proposal& one :
         InCommitOrder(cluster_.state(), {&band_class, 1}, proposals)) {
      texts.push_back(StrCat(one.task.value, " on ",
                             cluster_.state().FindMachine(one.machine)->uuid));
    }
    return texts;
  }
  TestScheduler cluster_;

 private:
  uint64_t last_uid_ = 0;
};

TEST_F(CommitOrderTest, TheOldestFirst) {
  Submit({.anti_affinity = {{App("db"), ""}}}, {1, 3, 2});
  EXPECT_THAT(Order({"a1", "a2", "b1"}),
              ElementsAre("2 on a2", "3 on b1", "1 on a1"));
}

TEST_F(CommitOrderTest, OfOneAgeTheFirstOfEachMachineFirst) {
  Submit({.anti_affinity = {{App("db"), ""}}}, {1, 1, 1});
  EXPECT_THAT(Order({"a1", "a1", "b1"}),
              ElementsAre("1 on a1", "3 on b1", "2 on a1"));
}

TEST_F(CommitOrderTest, LevelByLevel) {
  Submit({.spread = {Spread(App("web"), "zone")}}, {3, 2, 1, 0});
  EXPECT_THAT(Order({"a1", "a2", "b1", "b1"}),
              ElementsAre("1 on a1", "3 on b1", "2 on a2", "4 on b1"));
}

TEST_F(CommitOrderTest, FromTheLevelsThatThereAre) {
  Submit({.spread = {Spread(App("web"), "zone", 2)}}, {3, 2, 1, 0});
  cluster_.mutable_state().Place({4}, cluster_.state().FindMachine("a1")->id,
                                 0);
  EXPECT_THAT(Order({"a2", "b1", "b1"}),
              ElementsAre("2 on b1", "1 on a2", "3 on b1"));
}

TEST_F(CommitOrderTest, WithinTheFewestDomainsByTheLevelsOfTheOthers) {
  Submit({.spread = {Spread(App("web"), "host", 2),
                     Spread(App("web"), "zone", 2)}},
         {4, 3, 2, 1});
  EXPECT_THAT(Order({"a1", "a1", "a2", "b1"}),
              ElementsAre("1 on a1", "4 on b1", "3 on a2", "2 on a1"));
}

}  // namespace
}  // namespace sluice
