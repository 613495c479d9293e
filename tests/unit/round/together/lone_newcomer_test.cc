#include "round/together/lone_newcomer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "unit/constraints/peers_fixture.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

class LoneNewcomerTest : public PeersTest {
 protected:
  LoneNewcomerTest() { AddZones(); }

  LoneNewcomer Newcomer(const std::string& app, const PlacementRules& rules) {
    return {state_, constraints_, ClassOf(app, rules)};
  }
  const Task* TaskOf(uint64_t uid) const { return state_.FindTask({uid}); }
  // All of these may leave; by uid who has to.
  std::optional<std::vector<uint64_t>> InTheWay(
      const LoneNewcomer& newcomer, std::string_view machine,
      const std::vector<uint64_t>& uids) const {
    std::vector<const Task*> leavers;
    for (const uint64_t uid : uids) leavers.push_back(TaskOf(uid));
    const auto found =
        newcomer.FindInTheWay(MachineOf(machine), leavers, gangs_);
    if (!found.has_value()) return std::nullopt;
    std::vector<uint64_t> in_the_way;
    for (const Task* task : *found) in_the_way.push_back(task->id.value);
    return in_the_way;
  }
  void RunInGang(uint64_t uid, std::string_view machine,
                 const std::string& app) {
    state_.Apply(Submitted(uid, {.job = "gang", .labels = {{"app", app}}},
                           {.gang = {.minimum = 2}}),
                 0);
    Place(uid, machine);
    state_.SyncPeers();
  }
  void LetGangLeave(const std::vector<uint64_t>& uids, int64_t minimum) {
    gangs_.clear();
    GangVictim gang = {.minimum = minimum};
    for (const uint64_t uid : uids) gang.tasks.push_back(TaskOf(uid));
    gangs_[*gang.tasks[0]->class_key.gang] = gang;
  }

  GangVictims gangs_;
};

TEST_F(LoneNewcomerTest, FindsAllWhomOneOfTheTwoKeepsAwayFrom) {
  const uint64_t web = RunOn("a1", "web");
  const uint64_t other = RunOn("a1", "other");
  const uint64_t shy = RunOn("a1", "shy", AwayFrom({{App("me"), "zone"}}));
  const LoneNewcomer me = Newcomer("me", AwayFrom({kWebInZone}));
  EXPECT_FALSE(me.MayBeOn(MachineOf("a1")));
  EXPECT_TRUE(me.MayBeOn(MachineOf("b1")));
  EXPECT_THAT(InTheWay(me, "a1", {web, other, shy}),
              Optional(ElementsAre(web, shy)));
  EXPECT_EQ(InTheWay(me, "a1", {other, shy}), std::nullopt);
  EXPECT_EQ(InTheWay(me, "a2", {}), std::nullopt)
      << "who is elsewhere in the zone stays";
}

TEST_F(LoneNewcomerTest, FindsNoMoreThanTheSpreadMinds) {
  const uint64_t first = RunOn("a1", "web");
  const uint64_t second = RunOn("a1", "web");
  RunOn("b1", "web");
  const LoneNewcomer me =
      Newcomer("web", SpreadOut(Spread(App("web"), "zone")));
  EXPECT_THAT(InTheWay(me, "b1", {}), Optional(IsEmpty()));
  EXPECT_THAT(InTheWay(me, "a1", {first, second}),
              Optional(ElementsAre(second)))
      << "the first is spared first";
}

TEST_F(LoneNewcomerTest, KnowsThatItsZoneMayBecomeTheEmptiest) {
  const uint64_t only = RunOn("a1", "web");
  for (int i = 0; i < 3; ++i) RunOn("b1", "web");
  const LoneNewcomer me =
      Newcomer("web", SpreadOut(Spread(App("web"), "zone")));
  const Task* leaver = TaskOf(only);
  EXPECT_TRUE(me.MayBeOnWithout(MachineOf("a1"), std::vector{leaver}));
  EXPECT_FALSE(me.MayBeOn(MachineOf("b1")));
}

TEST_F(LoneNewcomerTest, CountsTheRestOfAGangThatLeavesAsAWhole) {
  for (int i = 0; i < 2; ++i) RunOn("a2", "web");
  const std::vector<uint64_t> uids = {101, 102, 103, 104};
  for (const uint64_t uid : uids) {
    RunInGang(uid, uid <= 102 ? "a1" : "b1", "web");
  }
  const std::vector<uint64_t> here = {101, 102};
  const LoneNewcomer me = Newcomer("me", SpreadOut(Spread(App("web"), "zone")));
  EXPECT_THAT(InTheWay(me, "a1", here), Optional(ElementsAre(102)));
  LetGangLeave(uids, /*minimum=*/4);
  EXPECT_EQ(InTheWay(me, "a1", here), std::nullopt)
      << "then there is nobody in the other zone";
  EXPECT_THAT(InTheWay(me, "b1", {103, 104}), Optional(IsEmpty()));
  LetGangLeave(uids, /*minimum=*/3);
  EXPECT_THAT(InTheWay(me, "a1", here), Optional(ElementsAre(102)))
      << "the gang goes on with three";
}

TEST_F(LoneNewcomerTest, DoesNotCountTwiceWhoLeavesAlready) {
  const uint64_t leaving = RunOn("a1", "web");
  const uint64_t staying = RunOn("a1", "web");
  RunOn("a2", "web");
  state_.Preempt({leaving});
  const LoneNewcomer me =
      Newcomer("web", SpreadOut(Spread(App("web"), "zone")));
  EXPECT_THAT(InTheWay(me, "a1", {leaving, staying}), std::nullopt)
      << "b1 has none, and one on a2 stays";
  const LoneNewcomer away = Newcomer("me", AwayFrom({{App("web"), ""}}));
  EXPECT_THAT(InTheWay(away, "a1", {staying, leaving}),
              Optional(ElementsAre(staying, leaving)));
}

TEST_F(LoneNewcomerTest, DoesWithoutSomeOfThoseThatItsAffinityMeans) {
  const uint64_t db = RunOn("a1", "db");
  PlacementRules rules = Near({kDbInZone});
  rules.anti_affinity = {{App("db"), ""}};
  EXPECT_TRUE(Newcomer("me", rules).MayBeOn(MachineOf("a2")));
  EXPECT_TRUE(Newcomer("me", rules).Needs(TaskOf(db)->class_key));
  EXPECT_EQ(InTheWay(Newcomer("me", rules), "a1", {db}), std::nullopt)
      << "it is the only one";
  RunOn("a2", "db");
  EXPECT_EQ(InTheWay(Newcomer("me", rules), "a1", {}), std::nullopt);
  EXPECT_EQ(InTheWay(Newcomer("me", rules), "a1", {db}), std::vector({db}));
}

TEST_F(LoneNewcomerTest, SparesOneOfThoseThatItsAffinityMeans) {
  const uint64_t first = RunOn("a1", "web");
  const uint64_t second = RunOn("a1", "web");
  PlacementRules rules = Near({kWebInZone});
  rules.spread = {Spread(App("web"), "zone")};
  EXPECT_THAT(InTheWay(Newcomer("me", rules), "a1", {first, second}),
              Optional(ElementsAre(second)));
}

TEST_F(LoneNewcomerTest, KnowsWhoKeepsItOutByWhichTopology) {
  const uint64_t shy = RunOn("a1", "shy", AwayFrom({{App("me"), "zone"}}));
  const LoneNewcomer me = Newcomer("me", AwayFrom({{App("shy"), ""}}));
  const PeerTable& peers = state_.peers();
  const ClassKey& running = TaskOf(shy)->class_key;
  const auto& zone = peers.TermsOf(*running.rules).anti_affinity[0]->topology;
  EXPECT_TRUE(me.IsKeptOutBy(running, *zone));
  const auto& host = peers.TermsOf(*me.key().rules).anti_affinity[0]->topology;
  EXPECT_TRUE(me.IsKeptOutBy(running, *host));
  RunOn("b1", "far", AwayFrom({{App("far"), "rack"}}));
  const ClassKey far = ClassOf("far", AwayFrom({{App("far"), "rack"}}));
  const auto& rack = peers.TermsOf(*far.rules).anti_affinity[0]->topology;
  EXPECT_FALSE(me.IsKeptOutBy(running, *rack));
}

TEST_F(LoneNewcomerTest, MayBeOnMachinesThatWereOpened) {
  RunOn("a1", "web");
  LoneNewcomer me = Newcomer("me", AwayFrom({kWebInZone}));
  me.Open(IdOf("a1"));
  EXPECT_TRUE(me.MayBeOn(MachineOf("a1")));
  EXPECT_FALSE(me.MayBeOn(MachineOf("a2")));
}

}  // namespace
}  // namespace sluice
