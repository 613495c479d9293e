#include "round/together/followers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "explain/explanation.h"
#include "util/peer_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

constexpr char kHost[] = "kubernetes.io/hostname";
constexpr char kZone[] = "zone";
// More than an exhaustive search takes on (round/search/neighborhood.h).
constexpr int kPrivateMachines = 301;

const LabelRequirement kIsPublic = LabelIn("net", {"public"});

// A task of an app of its own.
struct AppTask {
  uint64_t uid = 0;
  std::string app;
  PlacementRules rules = {};
  int64_t cpu = 100;
  uint32_t priority = 0;
};

PlacementRules Near(const std::string& app, const std::string& topology,
                    std::vector<LabelRequirement> selectors = {}) {
  return {.selectors = std::move(selectors),
          .affinity = {{App(app), topology}}};
}

class FollowersTest : public testing::Test {
 protected:
  // With the labels "net" and "zone" where they are not empty.
  void AddMachine(const std::string& uuid, int64_t cpu,
                  const std::string& net = "", const std::string& zone = "") {
    LabelPairs labels = {{kHost, uuid}};
    if (!net.empty()) labels.emplace_back("net", net);
    if (!zone.empty()) labels.emplace_back(kZone, zone);
    cluster_.Apply(Added(uuid, {.cpu = cpu, .labels = labels}));
  }
  void AddPrivateMachines(int64_t cpu, const std::string& zone = "") {
    for (int i = 0; i < kPrivateMachines; ++i) {
      AddMachine(StrCat("private-", i), cpu, "", zone);
    }
  }
  void Submit(const AppTask& task) {
    cluster_.Apply(Submitted(task.uid,
                             {.cpu = task.cpu,
                              .priority = task.priority,
                              .job = task.app,
                              .labels = {{"app", task.app}},
                              .rules = task.rules},
                             {}));
  }
  std::string MachineOf(uint64_t uid) const { return cluster_.MachineOf(uid); }
  int64_t waiting() const { return cluster_.state().pending_count(); }

  TestScheduler cluster_;
};

// What is submitted first.
class FollowersInBothOrders : public FollowersTest,
                              public testing::WithParamInterface<bool> {
 protected:
  void SubmitAll(std::vector<AppTask> tasks) {
    if (GetParam()) std::ranges::reverse(tasks);
    for (const AppTask& task : tasks) Submit(task);
    cluster_.Round();
  }
};

INSTANTIATE_TEST_SUITE_P(Order, FollowersInBothOrders, testing::Bool(),
                         [](const testing::TestParamInfo<bool>& order) {
                           return order.param ? "LeadersFirst"
                                              : "FollowersFirst";
                         });

TEST_P(FollowersInBothOrders, TakeTheirLeaderToTheOneMachineThatTheyMayUse) {
  AddPrivateMachines(/*cpu=*/4000);
  AddMachine("public", /*cpu=*/4000, "public");
  SubmitAll({{1, "web", Near("db", kHost, {kIsPublic})}, {2, "db"}});
  EXPECT_EQ(MachineOf(1), "public");
  EXPECT_EQ(MachineOf(2), "public");
}

TEST_P(FollowersInBothOrders, MayBeLargerThanTheirLeader) {
  AddPrivateMachines(/*cpu=*/4000);
  AddMachine("public", /*cpu=*/4000, "public");
  SubmitAll({{1, "web", Near("db", kHost, {kIsPublic}), 3000}, {2, "db"}});
  EXPECT_EQ(MachineOf(1), "public");
  EXPECT_EQ(MachineOf(2), "public");
}

TEST_P(FollowersInBothOrders, MayBeSmallerThanTheirLeader) {
  AddPrivateMachines(/*cpu=*/4000);
  AddMachine("public", /*cpu=*/4000, "public");
  SubmitAll({{1, "web", Near("db", kHost, {kIsPublic})}, {2, "db", {}, 3000}});
  EXPECT_EQ(MachineOf(1), "public");
  EXPECT_EQ(MachineOf(2), "public");
}

TEST_P(FollowersInBothOrders, OfTwoJobsFindRoomOnTheSameMachine) {
  AddPrivateMachines(/*cpu=*/2000);
  AddMachine("large", /*cpu=*/3000);
  SubmitAll({{1, "web", Near("db", kHost), 1000},
             {2, "cache", Near("db", kHost), 1000},
             {3, "db", {}, 1000}});
  EXPECT_EQ(MachineOf(1), "large");
  EXPECT_EQ(MachineOf(2), "large");
  EXPECT_EQ(MachineOf(3), "large");
}

TEST_P(FollowersInBothOrders, NeedTheZoneOfTheirLeader) {
  AddPrivateMachines(/*cpu=*/4000, "a");
  for (int i = 0; i < 4; ++i) {
    AddMachine(StrCat("public-", i), /*cpu=*/1000, "public", "b");
  }
  SubmitAll(
      {{1, "web", Near("db", kZone, {kIsPublic}), 1000}, {2, "db", {}, 500}});
  EXPECT_NE(MachineOf(1), "");
  EXPECT_TRUE(MachineOf(2).starts_with("public")) << MachineOf(2);
}

TEST_P(FollowersInBothOrders, MakeAChain) {
  AddPrivateMachines(/*cpu=*/4000);
  AddMachine("public", /*cpu=*/4000, "public");
  SubmitAll({{1, "c", Near("b", kHost, {kIsPublic})},
             {2, "b", Near("a", kHost)},
             {3, "a"}});
  EXPECT_EQ(MachineOf(1), "public");
  EXPECT_EQ(MachineOf(2), "public");
  EXPECT_EQ(MachineOf(3), "public");
}

TEST_P(FollowersInBothOrders, MakeAChainOverMachinesOfAZone) {
  AddPrivateMachines(/*cpu=*/4000, "a");
  AddMachine("public", /*cpu=*/4000, "public", "b");
  SubmitAll({{1, "c", Near("b", kHost, {kIsPublic})},
             {2, "b", Near("a", kZone)},
             {3, "a", {}, 3000}});
  EXPECT_EQ(MachineOf(1), "public");
  EXPECT_EQ(MachineOf(2), "public");
  EXPECT_EQ(MachineOf(3), "public");
}

TEST_P(FollowersInBothOrders, AndTheirLeadersHaveRoomForEachPair) {
  AddPrivateMachines(/*cpu=*/4000);
  for (int i = 0; i < 3; ++i) {
    AddMachine(StrCat("public-", i), /*cpu=*/4000, "public");
  }
  // Each public machine has room for two pairs, or for many databases.
  std::vector<AppTask> tasks;
  for (uint64_t pair = 0; pair < 6; ++pair) {
    const std::string db = StrCat("db-", pair);
    tasks.push_back({2 * pair + 1, StrCat("web-", pair),
                     Near(db, kHost, {kIsPublic}), 1500});
    tasks.push_back({2 * pair + 2, db, {}, 500});
  }
  SubmitAll(tasks);
  EXPECT_EQ(waiting(), 0);
}

TEST_P(FollowersInBothOrders, ThatExcludeEachOtherMoveOneOfTheirLeaders) {
  AddPrivateMachines(/*cpu=*/4000);
  AddMachine("public-0", /*cpu=*/4000, "public");
  AddMachine("public-1", /*cpu=*/4000, "public");
  // Both leaders like the same machine best, which takes one of the followers.
  const PlacementRules leader = {
      .preferred = {{100, {{LabelIn(kHost, {"public-0"})}}}}};
  PlacementRules web = Near("db", kHost, {kIsPublic});
  web.anti_affinity = {{App("shop"), kHost}};
  SubmitAll({{1, "web", web},
             {2, "shop", Near("store", kHost, {kIsPublic})},
             {3, "db", leader},
             {4, "store", leader}});
  EXPECT_EQ(waiting(), 0);
  EXPECT_NE(MachineOf(1), MachineOf(2));
}

TEST_P(FollowersInBothOrders, OfALessUrgentTierAreCountedToo) {
  AddPrivateMachines(/*cpu=*/4000);
  AddMachine("public", /*cpu=*/4000, "public");
  SubmitAll({{1, "web", Near("db", kHost, {kIsPublic})},
             {.uid = 2, .app = "db", .priority = 9}});
  EXPECT_EQ(MachineOf(1), "public");
}

TEST_P(FollowersInBothOrders, OfAMoreUrgentTierAreCountedToo) {
  AddPrivateMachines(/*cpu=*/4000);
  AddMachine("public", /*cpu=*/4000, "public");
  SubmitAll({{.uid = 1,
              .app = "web",
              .rules = Near("db", kHost, {kIsPublic}),
              .priority = 9},
             {2, "db"}});
  EXPECT_EQ(MachineOf(1), "public");
}

TEST_P(FollowersInBothOrders, ThatFitNowhereKeepNobodyWaiting) {
  AddPrivateMachines(/*cpu=*/4000);
  AddMachine("public", /*cpu=*/1000, "public");
  SubmitAll(
      {{1, "web", Near("db", kHost, {kIsPublic}), 2000}, {2, "db", {}, 500}});
  EXPECT_EQ(MachineOf(1), "");
  EXPECT_NE(MachineOf(2), "");
}

TEST_F(FollowersTest, HaveRoomBesideEachOfManyLeaders) {
  AddPrivateMachines(/*cpu=*/1000);
  for (int i = 0; i < 10; ++i) {
    AddMachine(StrCat("public-", i), /*cpu=*/3000, "public");
  }
  // Each of the leaders has room for two of them on a public machine.
  for (uint64_t i = 0; i < 20; ++i) {
    Submit({100 + i, "web", Near("db", kHost, {kIsPublic}), 1000});
  }
  for (uint64_t i = 0; i < 10; ++i) Submit({200 + i, "db", {}, 1000});
  cluster_.Round();
  EXPECT_EQ(waiting(), 0);
}

TEST_F(FollowersTest, BindOnlyAsManyLeadersAsTheyNeed) {
  AddPrivateMachines(/*cpu=*/1000);
  AddMachine("public", /*cpu=*/4000, "public");
  Submit({1, "web", Near("db", kHost, {kIsPublic}), 1000});
  for (uint64_t i = 0; i < 50; ++i) Submit({100 + i, "db", {}, 1000});
  cluster_.Round();
  EXPECT_EQ(MachineOf(1), "public");
  EXPECT_EQ(waiting(), 0);
}

TEST_F(FollowersTest, GoBeforeOthersThatWouldTakeTheirRoom) {
  AddPrivateMachines(/*cpu=*/2000);
  AddMachine("public", /*cpu=*/3400, "public");
  Submit({1, "web", Near("db", kHost, {kIsPublic}), 500});
  Submit({2, "db", {}, 1400});
  // By size between the two.
  for (uint64_t i = 0; i < 4; ++i) {
    Submit({100 + i, "other", {.preferred = {{100, {{kIsPublic}}}}}, 1000});
  }
  cluster_.Round();
  EXPECT_EQ(MachineOf(1), "public");
  EXPECT_EQ(MachineOf(2), "public");
  EXPECT_EQ(waiting(), 0);
}

TEST_F(FollowersTest, WaitWhereTheirLeaderRunsAlready) {
  AddPrivateMachines(/*cpu=*/4000);
  AddMachine("public", /*cpu=*/4000, "public");
  Submit({2, "db"});
  cluster_.Round();
  cluster_.Deliver();
  const std::string former = MachineOf(2);
  Submit({1, "web", Near("db", kHost, {kIsPublic})});
  cluster_.Round();
  EXPECT_EQ(MachineOf(2), former);
  EXPECT_EQ(MachineOf(1), "");
  const Explanation explanation =
      Explain(cluster_.TaskOf(1), cluster_.scheduler(), /*now_ms=*/0);
  EXPECT_EQ(explanation.summary,
            "0/302 machines: 301 node(s) didn't match the selector net=public, "
            "1 node(s) didn't match pod affinity rules (app=db of namespace ns "
            "in the same kubernetes.io/hostname)");
}

TEST_F(FollowersTest, WaitWhereMovingTheirLeaderWouldStrandOthers) {
  AddPrivateMachines(/*cpu=*/4000);
  AddMachine("public", /*cpu=*/1000, "public");
  // The one machine of the web server has no room for the other follower, and
  // that one has waited for longer.
  cluster_.Apply(
      Submitted(3, {.cpu = 3000, .job = "batch", .rules = Near("db", kHost)},
                {}),
      /*now_ms=*/0);
  const int64_t hour_ms = 3'600'000;
  cluster_.Apply(Submitted(2, {.cpu = 100, .labels = {{"app", "db"}}}, {}),
                 hour_ms);
  cluster_.Apply(
      Submitted(1, {.cpu = 100, .rules = Near("db", kHost, {kIsPublic})}, {}),
      hour_ms);
  cluster_.Round(hour_ms);
  EXPECT_NE(MachineOf(3), "");
  EXPECT_EQ(MachineOf(3), MachineOf(2));
  EXPECT_EQ(MachineOf(1), "");
}

}  // namespace
}  // namespace sluice
