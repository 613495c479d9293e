// Rounds that empty machines.

#include "round/stages/drain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "util/peer_builder.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

using Limit = DisruptionBudget::Limit;

class DrainTest : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
  }
  std::vector<std::string> Reply() { return cluster_.Reply(now_ms_ += 1000); }
  void Machine(std::string_view uuid, int64_t cpu, LabelPairs labels = {}) {
    cluster_.Apply(Added(uuid, {.cpu = cpu, .labels = std::move(labels)}));
  }
  static TaskOptions Owned(int64_t cpu) {
    return {.cpu = cpu, .owner = {"ReplicaSet", "r"}};
  }
  static TaskOptions Web(PlacementRules rules) {
    TaskOptions options = Owned(100);
    options.labels = {{"app", "web"}};
    options.rules = std::move(rules);
    return options;
  }
  // Of a job of its own unless the options name one.
  void Run(uint64_t uid, std::string_view uuid, TaskOptions options,
           const PeerOptions& peers = {}) {
    if (options.job == "job") options.job = StrCat("job-", uid);
    cluster_.Apply(Submitted(uid, options, peers));
    cluster_.mutable_state().SyncPeers();
    cluster_.mutable_state().Place({uid},
                                   cluster_.state().FindMachine(uuid)->id, 0);
    cluster_.Deliver();
  }
  void Drain(const std::string& uuid) {
    ASSERT_EQ(cluster_.Apply(SetDraining{uuid}), Ack::kOk);
  }
  const RoundStats& stats() const { return cluster_.scheduler().round_stats(); }

  TestScheduler cluster_;
  int64_t now_ms_ = 0;
};

TEST_F(DrainTest, MovesTheMostUrgentFirstAndThenTheLargest) {
  for (const char* uuid : {"a", "b"}) Machine(uuid, 1000);
  Run(9, "b", {.cpu = 500});
  Run(1, "a", Owned(100));
  Run(2, "a", Owned(300));
  TaskOptions urgent = Owned(400);
  urgent.priority = 5;
  Run(3, "a", urgent);
  Drain("a");
  EXPECT_THAT(Reply(), ElementsAre("MIGRATE 3 on b", "MIGRATE 1 on b"));
  EXPECT_EQ(stats().moved, 2);
  EXPECT_EQ(stats().undrained, 1) << "2 may find room later";
  EXPECT_THAT(Reply(), IsEmpty()) << "nobody is told twice";
  Machine("c", 1000);
  EXPECT_THAT(Reply(), ElementsAre("MIGRATE 2 on c"));
  EXPECT_EQ(stats().undrained, 0);
}

TEST_F(DrainTest, GivesSuccessorsTheirPlacesAndPlacesNothingOnTheMachine) {
  for (const char* uuid : {"a", "b"}) Machine(uuid, 1000);
  Run(1, "a", Owned(600));
  Drain("a");
  EXPECT_THAT(Reply(), ElementsAre("MIGRATE 1 on b"));
  cluster_.Apply(Submitted(5, {.cpu = 500, .job = "other"}));
  EXPECT_THAT(Reply(), IsEmpty()) << "the room on b is kept";
  cluster_.Apply(Removed(1));
  EXPECT_THAT(Reply(), IsEmpty()) << "a takes nothing";
  TaskOptions successor = Owned(600);
  successor.job = "job-1";
  cluster_.Apply(Submitted(11, successor));
  EXPECT_THAT(Reply(), ElementsAre("PLACE 11 on b"));
  cluster_.Apply(SetDraining{"a", false});
  EXPECT_THAT(Reply(), ElementsAre("PLACE 5 on a"));
}

TEST_F(DrainTest, KeepsToBudgetsRoundByRound) {
  for (const char* uuid : {"a", "b"}) Machine(uuid, 1000);
  TaskOptions web = Owned(100);
  web.job = "web";
  web.budget = {.limit = Limit::kMaxUnavailable, .amount = 1};
  for (const uint64_t uid : {1, 2}) Run(uid, "a", web);
  Drain("a");
  EXPECT_THAT(Reply(), ElementsAre("MIGRATE 1 on b"));
  EXPECT_EQ(stats().undrained, 1);
  EXPECT_THAT(Reply(), IsEmpty());
  cluster_.Apply(Removed(1));
  cluster_.Apply(Submitted(11, web));
  EXPECT_THAT(Reply(), ElementsAre("PLACE 11 on b"));
  EXPECT_THAT(Reply(), ElementsAre("MIGRATE 2 on b"));
}

TEST_F(DrainTest, LeavesThoseOfWhomNobodyMakesASuccessor) {
  for (const char* uuid : {"a", "b"}) Machine(uuid, 1000);
  Run(1, "a", {.cpu = 100});
  Run(2, "a", Owned(100), {.gang = {.minimum = 1}});
  Drain("a");
  EXPECT_THAT(Reply(), IsEmpty());
  EXPECT_EQ(stats().undrained, 0);
}

TEST_F(DrainTest, WaitsUntilAClientKnowsThatATaskRuns) {
  for (const char* uuid : {"a", "b"}) Machine(uuid, 1000);
  cluster_.Apply(Submitted(1, Owned(100)));
  cluster_.mutable_state().Place({1}, cluster_.state().FindMachine("a")->id, 0);
  Drain("a");
  EXPECT_THAT(Reply(), ElementsAre("PLACE 1 on a"));
  EXPECT_EQ(stats().undrained, 1);
  EXPECT_THAT(Reply(), ElementsAre("MIGRATE 1 on b"));
}

TEST_F(DrainTest, TakesTasksToWhereTheyCostLeastAndThenToWhereMostRoomIs) {
  Machine("a", 1000);
  Machine("full", 1000, {{"disk", "ssd"}});
  Machine("empty", 1000, {{"disk", "ssd"}});
  Machine("other", 2000);
  Run(9, "full", {.cpu = 300});
  TaskOptions likes = Owned(400);
  likes.rules.preferred = {
      {.weight = 20, .term = {.labels = {LabelIn("disk", {"ssd"})}}}};
  Run(1, "a", likes);
  Run(2, "a", likes);
  Drain("a");
  EXPECT_THAT(Reply(), ElementsAre("MIGRATE 1 on empty", "MIGRATE 2 on full"));
}

TEST_F(DrainTest, GoesWhereRulesAllowAsIfTheTaskWereGone) {
  Machine("a", 1000, {{"zone", "z"}});
  Machine("b", 1000, {{"zone", "z"}});
  Machine("c", 1000, {{"zone", "y"}});
  Machine("d", 1000);
  const PlacementRules alone = {.selectors = {LabelExists("zone")},
                                .anti_affinity = {{App("web"), "zone"}}};
  Run(1, "a", Web(alone));
  Run(9, "c", Web({}));
  Drain("a");
  EXPECT_THAT(Reply(), ElementsAre("MIGRATE 1 on b"));
}

TEST_F(DrainTest, KeepsThoseApartThatAreStillToCome) {
  for (const char* uuid : {"a", "b"}) Machine(uuid, 1000, {{"zone", uuid}});
  for (const char* uuid : {"c", "d"}) Machine(uuid, 1000, {{"zone", "z"}});
  const PlacementRules alone = {.anti_affinity = {{App("web"), "zone"}}};
  Run(1, "a", Web(alone));
  Run(2, "b", Web(alone));
  Drain("a");
  Drain("b");
  EXPECT_THAT(Reply(), SizeIs(1)) << "c and d are of one zone";
  EXPECT_THAT(Reply(), IsEmpty()) << "in the next round, too";
  Machine("e", 1000, {{"zone", "y"}});
  EXPECT_THAT(Reply(), SizeIs(1));
}

TEST_F(DrainTest, SpreadsThoseThatAreStillToCome) {
  Machine("a", 1000, {{"zone", "z"}});
  Machine("c", 1000, {{"zone", "z"}});
  Machine("d", 1000, {{"zone", "y"}});
  const PlacementRules spread = {.spread = {Spread(App("web"), "zone")}};
  for (const uint64_t uid : {1, 2}) Run(uid, "a", Web(spread));
  Drain("a");
  EXPECT_THAT(Reply(),
              UnorderedElementsAre("MIGRATE 1 on d", "MIGRATE 2 on c"));
}

TEST_F(DrainTest, GivesAPortToOneOfThoseThatAreStillToCome) {
  for (const char* uuid : {"a", "b", "c"}) Machine(uuid, 1000);
  for (const auto& [uid, uuid] :
       {std::pair(uint64_t{1}, "a"), std::pair(uint64_t{2}, "b")}) {
    TaskOptions options = Owned(100);
    options.rules.host_ports = {TcpPort(80)};
    Run(uid, uuid, options);
  }
  Drain("a");
  Drain("b");
  EXPECT_THAT(Reply(), SizeIs(1));
  EXPECT_EQ(stats().undrained, 1);
  EXPECT_THAT(Reply(), IsEmpty());
}

// Whoever leaves there may stay for as long as its client likes.
TEST_F(DrainTest, DoesNotCountOnRoomThatOthersAreToLeave) {
  for (const char* uuid : {"a", "b"}) Machine(uuid, 1000);
  Run(1, "a", Owned(400));
  Run(2, "b", Owned(400));
  Run(3, "b", Owned(400));
  Machine("c", 400);
  Drain("a");
  EXPECT_THAT(Reply(), ElementsAre("MIGRATE 1 on c"));
  cluster_.Apply(SetDraining{"a", false});
  Drain("b");
  EXPECT_THAT(Reply(), ElementsAre("MIGRATE 2 on a")) << "600 are free";
  cluster_.Apply(Removed(1));
  EXPECT_THAT(Reply(), ElementsAre("MIGRATE 3 on a"));
}

TEST_F(DrainTest, LeavesRoomToWhoeverIsMoreUrgent) {
  for (const char* uuid : {"a", "b"}) Machine(uuid, 500);
  Run(1, "a", Owned(400));
  TaskOptions urgent = {.cpu = 400, .priority = 9, .job = "urgent"};
  cluster_.Apply(Submitted(2, urgent));
  Drain("a");
  EXPECT_THAT(Reply(), ElementsAre("PLACE 2 on b"));
  EXPECT_EQ(stats().undrained, 1);
}

TEST_F(DrainTest, LeavesAMachineThatHasDepartedAlone) {
  for (const char* uuid : {"a", "b"}) Machine(uuid, 1000);
  Run(1, "a", Owned(100));
  Drain("a");
  cluster_.Apply(Removed("a"));
  EXPECT_THAT(Reply(), IsEmpty());
  Machine("a", 1000);
  EXPECT_THAT(Reply(), ElementsAre("MIGRATE 1 on b"));
}

}  // namespace
}  // namespace sluice
