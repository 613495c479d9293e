#include "core/leader_moves.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "util/peer_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

constexpr char kHost[] = "kubernetes.io/hostname";

PlacementRules NearOnPublic(const std::string& app,
                            const std::string& topology) {
  return {.selectors = {LabelIn("net", {"public"})},
          .affinity = {{App(app), topology}}};
}

class LeaderMovesTest : public testing::Test {
 protected:
  void AddMachine(const std::string& uuid, int64_t cpu, const std::string& net,
                  const std::string& zone = "z") {
    cluster_.Apply(Added(
        uuid,
        {.cpu = cpu, .labels = {{kHost, uuid}, {"net", net}, {"zone", zone}}}));
  }
  void Submit(uint64_t uid, const std::string& app, PlacementRules rules,
              int64_t cpu = 100, int64_t now_ms = 0) {
    cluster_.Apply(Submitted(uid,
                             {.cpu = cpu,
                              .job = app,
                              .labels = {{"app", app}},
                              .rules = std::move(rules)},
                             {}),
                   now_ms);
  }
  void PlaceOn(uint64_t uid, const std::string& uuid) {
    cluster_.mutable_state().SyncPeers();
    cluster_.mutable_state().Place(
        {uid}, cluster_.state().FindMachine(uuid)->id, /*now_ms=*/0);
  }
  Transaction::Outcome Move(int64_t now_ms = 0) {
    RoundContext context({cluster_.mutable_state(), cluster_.policies(),
                          cluster_.constraints(), cluster_.eligibility()},
                         {}, now_ms);
    context.search_budget = budget_;
    Transaction transaction(now_ms, &context.state);
    MoveLeaders(Tier{}, &context, &transaction);
    budget_ = context.search_budget;
    return transaction.Keep();
  }
  std::string MachineOf(uint64_t uid) const { return cluster_.MachineOf(uid); }

  TestScheduler cluster_;
  int64_t budget_ = 500000;
};

TEST_F(LeaderMovesTest, MoveALeaderToTheMachineOfItsFollower) {
  AddMachine("private", 1000, "private");
  AddMachine("public", 1000, "public");
  Submit(1, "db", {});
  Submit(2, "web", NearOnPublic("db", kHost));
  PlaceOn(1, "private");
  const Transaction::Outcome outcome = Move();
  EXPECT_EQ(outcome.placed, std::vector<TaskId>{{2}});
  EXPECT_EQ(outcome.given_up, 0);
  EXPECT_EQ(MachineOf(1), "public");
  EXPECT_EQ(MachineOf(2), "public");
}

TEST_F(LeaderMovesTest, MoveALeaderToTheZoneOfItsFollower) {
  AddMachine("private", 1000, "private", "a");
  AddMachine("beside", 1000, "private", "b");
  AddMachine("public", 100, "public", "b");
  Submit(1, "db", {}, 500);
  Submit(2, "web", NearOnPublic("db", "zone"));
  PlaceOn(1, "private");
  Move();
  EXPECT_EQ(MachineOf(1), "beside");
  EXPECT_EQ(MachineOf(2), "public");
}

TEST_F(LeaderMovesTest, MoveALeaderToWhereItWouldRatherBe) {
  AddMachine("private", 1000, "private");
  AddMachine("public", 1000, "public", "a");
  AddMachine("liked", 1000, "public", "b");
  Submit(1, "db", {.preferred = {{100, {.labels = {LabelIn("zone", {"b"})}}}}});
  Submit(2, "web", NearOnPublic("db", kHost));
  PlaceOn(1, "private");
  Move();
  EXPECT_EQ(MachineOf(1), "liked");
  EXPECT_EQ(MachineOf(2), "liked");
}

TEST_F(LeaderMovesTest, TakeFollowersAlongOfWhichMoreWait) {
  AddMachine("small", 200, "public");
  AddMachine("large", 300, "public");
  Submit(1, "db", {});
  for (const uint64_t uid : {2, 3})
    Submit(uid, "web", NearOnPublic("db", kHost));
  PlaceOn(1, "small");
  PlaceOn(2, "small");
  EXPECT_EQ(Move().placed, std::vector<TaskId>{{3}});
  for (const uint64_t uid : {1, 2, 3}) EXPECT_EQ(MachineOf(uid), "large");
}

TEST_F(LeaderMovesTest, TakeItsOtherFollowersAlong) {
  AddMachine("private", 1000, "private");
  AddMachine("public", 1000, "public");
  Submit(1, "db", {});
  Submit(2, "web", NearOnPublic("db", kHost));
  Submit(3, "cache", {.affinity = {{App("db"), kHost}}});
  Submit(4, "log", {.affinity = {{App("cache"), kHost}}});
  PlaceOn(1, "private");
  PlaceOn(3, "private");
  PlaceOn(4, "private");
  Move();
  for (const uint64_t uid : {1, 2, 3, 4}) EXPECT_EQ(MachineOf(uid), "public");
}

TEST_F(LeaderMovesTest, LeaveAllAsItWasWhereOthersWouldWaitInstead) {
  AddMachine("private", 1000, "private");
  AddMachine("public", 300, "public");
  Submit(1, "db", {});
  Submit(2, "web", NearOnPublic("db", kHost));
  Submit(3, "cache", {.affinity = {{App("db"), kHost}}}, 900);
  PlaceOn(1, "private");
  PlaceOn(3, "private");
  EXPECT_TRUE(Move().placed.empty());
  EXPECT_EQ(MachineOf(1), "private");
  EXPECT_EQ(MachineOf(2), "");
  EXPECT_EQ(MachineOf(3), "private");
}

TEST_F(LeaderMovesTest, GiveUpWhatIsCheaperToLeaveWaiting) {
  AddMachine("private", 1000, "private");
  AddMachine("public", 300, "public");
  constexpr int64_t kHourMs = 3'600'000;
  Submit(2, "web", NearOnPublic("db", kHost));
  Submit(1, "db", {}, 100, kHourMs);
  Submit(3, "cache", {.affinity = {{App("db"), kHost}}}, 900, kHourMs);
  PlaceOn(1, "private");
  PlaceOn(3, "private");
  EXPECT_EQ(Move(kHourMs).given_up, 1);
  EXPECT_EQ(MachineOf(1), "public");
  EXPECT_EQ(MachineOf(2), "public");
  EXPECT_EQ(MachineOf(3), "");
}

TEST_F(LeaderMovesTest, LeaveWhatAClientKnowsOf) {
  AddMachine("private", 1000, "private");
  AddMachine("public", 1000, "public");
  Submit(1, "db", {});
  Submit(2, "web", NearOnPublic("db", kHost));
  PlaceOn(1, "private");
  cluster_.Deliver();
  EXPECT_TRUE(Move().placed.empty());
  EXPECT_EQ(MachineOf(1), "private");
}

TEST_F(LeaderMovesTest, LeaveALeaderAmongWhichOthersAreSpread) {
  AddMachine("private", 1000, "private");
  AddMachine("other", 1000, "private");
  AddMachine("public", 1000, "public");
  Submit(1, "db", {});
  Submit(2, "web", NearOnPublic("db", kHost));
  Submit(3, "db", {.spread = {Spread(App("db"), kHost)}});
  PlaceOn(1, "private");
  PlaceOn(3, "other");
  EXPECT_TRUE(Move().placed.empty());
  EXPECT_EQ(MachineOf(1), "private");
}

TEST_F(LeaderMovesTest, LookAtNoMachineWhereNothingWasPlaced) {
  AddMachine("private", 1000, "private");
  AddMachine("public", 1000, "public");
  Submit(1, "db", {});
  Submit(2, "web", NearOnPublic("db", kHost));
  const int64_t budget = budget_;
  EXPECT_TRUE(Move().placed.empty());
  EXPECT_EQ(budget_, budget);
}

}  // namespace
}  // namespace sluice
