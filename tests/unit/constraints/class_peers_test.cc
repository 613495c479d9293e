// What classes make of the tasks that run.  The verdicts by Kubernetes' rules,
// row by row, are in tests/unit/round/pod_rules_test.cc.

#include "constraints/class_peers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "unit/constraints/peers_fixture.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

PlacementRules Prefers(int32_t weight, const PeerTerm& term) {
  return {.preferred_peers = {{weight, term}}};
}
SpreadConstraint ScheduleAnyway(SpreadConstraint constraint) {
  constraint.is_required = false;
  return constraint;
}

class ClassPeersTest : public PeersTest {
 protected:
  void SetUp() override { AddZones(); }
  ClassPeers PeersOf(const ClassKey& key) {
    return ClassPeers(state_, constraints_, key);
  }
  // Of a task with this "app".
  ClassPeers PeersOf(const std::string& app, const PlacementRules& rules) {
    return PeersOf(ClassOf(app, rules));
  }
  std::set<std::string> AllowedBy(const ClassPeers& peers) const {
    std::set<std::string> allowed;
    for (const auto& [id, machine] : state_.machines()) {
      if (peers.Allows(*machine)) allowed.insert(machine->uuid);
    }
    return allowed;
  }
};

// ---------------------------------------------------------------------------
// Verdicts

TEST_F(ClassPeersTest, AllowsWhatIsAllowedWithoutSomeOfAMachine) {
  const Task* web = state_.FindTask({RunOn("a1", "web")});
  const Task* shy =
      state_.FindTask({RunOn("a1", "shy", AwayFrom({{App("me"), "zone"}}))});
  const ClassPeers peers = PeersOf("me", AwayFrom({kWebInZone}));
  const Machine& a1 = MachineOf("a1");
  EXPECT_FALSE(peers.AllowsWithout(a1, {}));
  EXPECT_FALSE(peers.AllowsWithout(a1, std::vector{web}));
  EXPECT_FALSE(peers.AllowsWithout(a1, std::vector{shy}));
  EXPECT_TRUE(peers.AllowsWithout(a1, std::vector{web, shy}));
  EXPECT_TRUE(peers.AllowsWithout(MachineOf("b1"), {}));
  EXPECT_FALSE(PeersOf("me", Near({kDbInZone})).AllowsWithout(a1, {}));
}

TEST_F(ClassPeersTest, AllowsNothingWithoutTheLastOfItsCompany) {
  const Task* first = state_.FindTask({RunOn("a1", "web")});
  const Task* second = state_.FindTask({RunOn("a2", "web")});
  const Machine& a1 = MachineOf("a1");
  {
    const ClassPeers peers = PeersOf("me", Near({kWebInZone}));
    EXPECT_TRUE(peers.AllowsWithout(a1, std::vector{first}));
    EXPECT_TRUE(peers.AllowsWithout(a1, std::vector{second}));
    EXPECT_FALSE(peers.AllowsWithout(a1, std::vector{first, second}));
  }
  state_.Preempt(second->id);
  const ClassPeers peers = PeersOf("me", Near({kWebInZone}));
  EXPECT_TRUE(peers.Allows(a1));
  EXPECT_TRUE(peers.AllowsWithout(a1, {}));
  EXPECT_TRUE(peers.AllowsWithout(a1, std::vector{second}));
  EXPECT_FALSE(peers.AllowsWithout(a1, std::vector{first})) << "it leaves, too";
  EXPECT_FALSE(peers.AllowsWithout(a1, std::vector{first, second}));
  EXPECT_TRUE(PeersOf("db", Near({kDbInZone})).AllowsWithout(a1, {}))
      << "it is the first of its kind";
}

TEST_F(ClassPeersTest, AllowsWhatTheTermsOfBothSidesAllow) {
  RunOn("a1", "web");
  RunOn("b1", "shy", AwayFrom({{App("cat"), ""}}));
  const std::set<std::string> everywhere = {"a1", "a2", "b1", "x1"};
  const struct {
    const char* app;
    PlacementRules rules;
    std::set<std::string> allowed;
  } rows[] = {
      {"web", {}, everywhere},
      {"cat", {}, {"a1", "a2", "x1"}},
      {"me", Near({kWebInZone}), {"a1", "a2"}},
      {"cat", Near({{App("shy"), ""}}), {}},
      {"me", AwayFrom({kWebInZone}), {"b1", "x1"}},
      {"me", AwayFrom({kWebInZone, {App("shy"), ""}}), {"x1"}},
      {"web", SpreadOut(Spread(App("web"), "zone")), {"b1"}},
      {"web", SpreadOut(ScheduleAnyway(Spread(App("web"), "zone"))),
       everywhere},
      {"me", Prefers(-100, kWebInZone), everywhere},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(AllowedBy(PeersOf(row.app, row.rules)), row.allowed)
        << "row " << &row - rows;
  }
}

TEST_F(ClassPeersTest, MustWaitWhileNobodyIsThereAndItIsNotTheFirst) {
  RunOn("x1", "stray");  // In no zone.
  RunOn("a1", "cat");
  const struct {
    const char* app;
    PlacementRules rules;
    bool must_wait;
  } rows[] = {
      {"me", {}, false},
      {"me", Near({kDbInZone}), true},
      {"db", Near({kDbInZone}), false},
      {"me", Near({{App("cat"), "zone"}}), false},
      // One that meets all terms, but is in no domain of theirs.
      {"me", Near({{App("stray"), "zone"}}), true},
      {"stray", Near({{App("stray"), "zone"}}), false},
      {"stray", Near({{App("stray"), ""}, {App("stray"), "zone"}}), true},
      // Nobody is both, and it is not both either.
      {"cat", Near({{App("cat"), ""}, {App("db"), ""}}), true},
      {"me", AwayFrom({kDbInZone}), false},
  };
  for (const auto& row : rows) {
    const ClassPeers peers = PeersOf(row.app, row.rules);
    EXPECT_EQ(peers.MustWait(), row.must_wait) << "row " << &row - rows;
    if (row.must_wait) {
      EXPECT_THAT(AllowedBy(peers), IsEmpty());
    }
  }
}

TEST_F(ClassPeersTest, SaysWhereItMayGoBesideItsAffinity) {
  RunOn("a1", "cat");
  PlacementRules rules = Near({kDbInZone});
  rules.anti_affinity = {{App("cat"), ""}};
  const ClassPeers peers = PeersOf("me", rules);
  EXPECT_THAT(AllowedBy(peers), IsEmpty());
  EXPECT_TRUE(peers.AllowsBesideAffinity(*state_.FindMachine("a2")));
  EXPECT_FALSE(peers.AllowsBesideAffinity(*state_.FindMachine("a1")));
}

TEST_F(ClassPeersTest, NeedsALeaderWhereItFollowsItselfAndNobodyIsThere) {
  RunOn("a1", "cat");
  const struct {
    const char* app;
    PlacementRules rules;
    bool needs_leader;
  } rows[] = {
      {"web", {}, false},
      {"web", Near({kWebInZone}), true},
      {"cat", Near({{App("cat"), "zone"}}), false},
      {"me", Near({kWebInZone}), false},
      {"web", Prefers(1, kWebInZone), true},
      {"web", Prefers(-1, kWebInZone), false},
      {"cat", Prefers(1, {App("cat"), "zone"}), false},
      {"me", Prefers(1, kWebInZone), false},
      {"web", AwayFrom({kWebInZone}), false},
  };
  for (const auto& row : rows) {
    const ClassPeers peers = PeersOf(row.app, row.rules);
    EXPECT_EQ(peers.NeedsLeader(), row.needs_leader) << "row " << &row - rows;
    if (row.needs_leader) {
      EXPECT_EQ(peers.LeaderTopology()->key(), "zone");
    }
  }
}

TEST_F(ClassPeersTest, TheFirstGoesWhereAllOfItsDomainsAre) {
  EXPECT_EQ(AllowedBy(PeersOf("web", Near({kWebInZone}))),
            (std::set<std::string>{"a1", "a2", "b1"}));
}

TEST_F(ClassPeersTest, FollowsTheFirstOnceThatIsNoted) {
  const uint64_t leader = Submit("web", Near({kWebInZone}));
  ClassPeers peers = PeersOf(KeyOf(leader));
  EXPECT_TRUE(peers.Allows(MachineOf("b1")));
  EXPECT_TRUE(peers.HeedsPlacements());
  Place(leader, "a1");
  peers.Note(KeyOf(leader), IdOf("a1"));
  EXPECT_FALSE(peers.HeedsPlacements());
  EXPECT_EQ(AllowedBy(peers), (std::set<std::string>{"a1", "a2"}));
}

TEST_F(ClassPeersTest, KeepsAwayFromWhatWasPlacedMeanwhile) {
  const uint64_t first = Submit("web", AwayFrom({kWebInZone}));
  const ClassKey key = KeyOf(first);
  const ClassPeers peers = PeersOf(key);
  EXPECT_FALSE(peers.HeedsPlacements());
  Place(first, "a1");
  EXPECT_EQ(AllowedBy(peers), (std::set<std::string>{"b1", "x1"}));
}

TEST_F(ClassPeersTest, CountsForItsSpreadWhatIsNoted) {
  const uint64_t first = Submit("web", SpreadOut(Spread(App("web"), "zone")));
  const ClassKey key = KeyOf(first);
  const ClassKey other = ClassOf("db", {});
  ClassPeers peers = PeersOf(key);
  EXPECT_TRUE(peers.HeedsPlacements());
  peers.Note(other, IdOf("a1"));
  EXPECT_TRUE(peers.Allows(MachineOf("a2")));
  peers.Note(key, IdOf("a1"));
  EXPECT_EQ(AllowedBy(peers), (std::set<std::string>{"b1"}));
  peers.Note(key, IdOf("b1"));
  EXPECT_EQ(AllowedBy(peers), (std::set<std::string>{"a1", "a2", "b1"}));
  peers.Note(key, IdOf("a1"), -1);
  EXPECT_EQ(AllowedBy(peers), (std::set<std::string>{"a1", "a2"}));
}

// ---------------------------------------------------------------------------
// Standings

TEST_F(ClassPeersTest, StandsByTheWeightThatItsOwnTermsMiss) {
  RunOn("a1", "web");
  RunOn("a2", "web");
  RunOn("b1", "db");
  PlacementRules rules = Prefers(10, kWebInZone);
  rules.preferred_peers.push_back({-5, kDbInZone});
  const ClassPeers peers = PeersOf("me", rules);
  const auto standing = [&](std::string_view uuid) {
    return peers.StandingOn(MachineOf(uuid));
  };
  // Worth 20 in zone a, -5 in zone b and nothing in none.
  EXPECT_EQ(standing("a1"), (PeerStanding{0, 25, 0}));
  EXPECT_EQ(standing("a2"), (PeerStanding{0, 25, 0}));
  EXPECT_EQ(standing("b1"), (PeerStanding{25, 25, 0}));
  EXPECT_EQ(standing("x1"), (PeerStanding{20, 25, 0}));
}

TEST_F(ClassPeersTest, StandsByWhatItIsWorthToOthers) {
  RunOn("a1", "fan", Prefers(7, {App("me"), ""}));
  RunOn("b1", "foe", Prefers(-2, {App("me"), "zone"}));
  const uint64_t first = Submit("me", Near({{App("me"), "zone"}}));
  Place(first, "b1");
  const ClassPeers peers = PeersOf("me", {});
  const auto missed = [&](std::string_view uuid) {
    return peers.StandingOn(MachineOf(uuid)).missed_weight;
  };
  // At best 7 and 1, for the required affinity of the one in zone b; at worst
  // -2 + 1 there.
  EXPECT_EQ(missed("a2") - missed("a1"), 7);
  EXPECT_EQ(missed("b1") - missed("a2"), 1);
  EXPECT_EQ(missed("x1"), missed("a2"));
  EXPECT_EQ(PeersOf("stranger", {}).StandingOn(MachineOf("x1")),
            PeerStanding());
}

TEST_F(ClassPeersTest, StandsByTheCrowdInItsDomain) {
  RunOn("a1", "web");
  RunOn("a2", "web");
  const ClassPeers peers =
      PeersOf("web", SpreadOut(ScheduleAnyway(Spread(App("web"), "zone"))));
  const int64_t each = 1420;  // 1024 * ln(2 + 2).
  EXPECT_EQ(peers.StandingOn(MachineOf("a1")).crowding, 2 * each);
  EXPECT_EQ(peers.StandingOn(MachineOf("b1")).crowding, 0);
  EXPECT_EQ(peers.StandingOn(MachineOf("x1")).crowding, 3 * each)
      << "worse than the fullest zone";
  const ClassPeers bound =
      PeersOf("web", SpreadOut(Spread(App("web"), "zone")));
  EXPECT_EQ(bound.StandingOn(MachineOf("a1")).crowding, 0);
}

// ---------------------------------------------------------------------------
// Limits

class LimitsTest : public ClassPeersTest {
 protected:
  // By the domains of a1 and b1.
  std::vector<int64_t> InZones(const Topology& zones,
                               const std::vector<int64_t>& by_domain) const {
    std::vector<int64_t> result;
    for (const char* uuid : {"a1", "b1"}) {
      result.push_back(
          by_domain.at(static_cast<size_t>(zones.DomainOf(IdOf(uuid)))));
    }
    return result;
  }
  // The only one there is, which is about zones.
  ClassPeers::Limits::OfTopology OnlyLimit(const ClassPeers& peers,
                                           int64_t count) {
    const ClassPeers::Limits limits = peers.LimitsFor(count);
    EXPECT_EQ(limits.topologies.size(), 1u);
    EXPECT_EQ(limits.topologies.at(0).topology->key(), "zone");
    return limits.topologies.at(0);
  }
};

TEST_F(LimitsTest, AreOneADomainForWhatKeepsAwayFromItself) {
  const auto limit = OnlyLimit(PeersOf("web", AwayFrom({kWebInZone})), 9);
  EXPECT_THAT(InZones(*limit.topology, limit.room.value()), ElementsAre(1, 1));
  EXPECT_THAT(limit.first, IsEmpty());
  EXPECT_EQ(limit.step, PeerStanding());
}

TEST_F(LimitsTest, AreNoneForWhatIsOnlyAboutOthers) {
  RunOn("a1", "web");
  for (const PlacementRules& rules :
       {AwayFrom({kWebInZone}), Near({kWebInZone}), Prefers(-9, kWebInZone),
        SpreadOut(Spread(App("web"), "zone"))}) {
    EXPECT_THAT(PeersOf("me", rules).LimitsFor(9).topologies, IsEmpty());
  }
  EXPECT_THAT(PeersOf("web", Prefers(9, kWebInZone)).LimitsFor(9).topologies,
              IsEmpty());
}

TEST_F(LimitsTest, OfASpreadAreItsLevelAndTheSkewAboveIt) {
  RunOn("a1", "web");
  const auto limit =
      OnlyLimit(PeersOf("web", SpreadOut(Spread(App("web"), "zone", 2))), 5);
  // With 5 more there are 3 in each zone.
  EXPECT_THAT(InZones(*limit.topology, limit.first), ElementsAre(2, 3));
  EXPECT_THAT(InZones(*limit.topology, limit.room.value()), ElementsAre(4, 5));
}

TEST_F(LimitsTest, OfOneTopologyAreTheNarrowest) {
  RunOn("a1", "web");
  PlacementRules rules = SpreadOut(Spread(App("web"), "zone"));
  rules.anti_affinity = {kWebInZone};
  const auto limit = OnlyLimit(PeersOf("web", rules), 1);
  EXPECT_THAT(InZones(*limit.topology, limit.room.value()), ElementsAre(1, 1));
  rules.spread.push_back(Spread(TasksWith({}), "zone", 7));
  const auto both = OnlyLimit(PeersOf("web", rules), 1);
  EXPECT_THAT(InZones(*both.topology, both.room.value()), ElementsAre(1, 1));
}

TEST_F(LimitsTest, SayWhatTheNextTaskWouldMind) {
  RunOn("a1", "web");
  PlacementRules rules = Prefers(-5, kWebInZone);
  rules.spread = {ScheduleAnyway(Spread(App("web"), "zone"))};
  const auto limit = OnlyLimit(PeersOf("web", rules), 9);
  EXPECT_FALSE(limit.room.has_value());
  // The one that comes minds by 5, and so does the one that is there.
  EXPECT_EQ(limit.step, (PeerStanding{10, 5, 1420}));
}

// ---------------------------------------------------------------------------
// What tells machines apart

TEST_F(ClassPeersTest, NamesTheTopologiesThatMatter) {
  RunOn("a1", "shy", AwayFrom({{App("web"), ""}}));
  PlacementRules rules = Near({kWebInZone});
  rules.preferred_peers = {{1, {App("web"), "row"}}};
  std::set<std::string> keys;
  for (const Topology* topology : PeersOf("web", rules).Topologies()) {
    keys.insert(topology->key());
  }
  EXPECT_EQ(keys, (std::set<std::string>{"", "row", "zone"}));
}

TEST_F(ClassPeersTest, VisitsTheMachinesWhereSomethingIsToBeSeen) {
  RunOn("a1", "web");
  RunOn("b1", "web");
  RunOn("b1", "web");
  const auto visited = [&](const PlacementRules& rules) {
    std::vector<std::string> seen;
    PeersOf("me", rules)
        .VisitMachines([&](MachineId id, size_t, int64_t number) {
          seen.push_back(StrCat(state_.FindMachine(id)->uuid, " ", number));
        });
    return seen;
  };
  EXPECT_THAT(visited(AwayFrom({{App("web"), ""}})),
              ElementsAre("a1 1", "b1 1"))
      << "one is as bad as two";
  EXPECT_THAT(visited(Prefers(-1, {App("web"), ""})),
              ElementsAre("a1 1", "b1 2"));
  EXPECT_THAT(visited(AwayFrom({kWebInZone})), IsEmpty())
      << "zones tell them apart";
}

TEST_F(ClassPeersTest, CountsForASpreadWhoIsToComeOfAnotherClass) {
  const PlacementRules rules = SpreadOut(Spread(App("web"), "zone"));
  const uint64_t other = Submit("web");
  state_.Nominate({other}, IdOf("a1"));
  const uint64_t uid = Submit("web", rules);
  EXPECT_EQ(AllowedBy(PeersOf(KeyOf(uid))), std::set<std::string>{"b1"});
  state_.EndNomination({other});
  EXPECT_EQ(AllowedBy(PeersOf(KeyOf(uid))),
            (std::set<std::string>{"a1", "a2", "b1"}));
}

// Room is kept for a task on a1, and none is for it as it is asked about.
TEST_F(ClassPeersTest, LeavesOutTheRoomThatIsKeptForTheTaskItself) {
  const struct {
    PlacementRules rules;
    std::set<std::string> beside;  // What is kept.
    std::set<std::string> without;
  } rows[] = {
      {AwayFrom({kWebInZone}), {"b1", "x1"}, {"a1", "a2", "b1", "x1"}},
      // For a spread none of its class counts that is to come.
      {SpreadOut(Spread(App("web"), "zone")),
       {"a1", "a2", "b1"},
       {"a1", "a2", "b1"}},
  };
  for (const auto& [rules, beside, without] : rows) {
    const uint64_t uid = Submit("web", rules);
    state_.Nominate({uid}, IdOf("a1"));
    EXPECT_EQ(AllowedBy(PeersOf(KeyOf(uid))), beside);
    EXPECT_EQ(AllowedBy(ClassPeers(state_, constraints_, KeyOf(uid),
                                   state_.FindTask({uid}))),
              without);
    state_.EndNomination({uid});
  }
}

}  // namespace
}  // namespace sluice
