#include "constraints/topology_spread.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "unit/constraints/peers_fixture.h"

namespace sluice {
namespace {

using testing::ElementsAre;

SpreadConstraint OverZones(int32_t max_skew = 1, int32_t min_domains = 1) {
  SpreadConstraint constraint = Spread(App("web"), "zone", max_skew);
  constraint.min_domains = min_domains;
  return constraint;
}

// Adds zones z0, z1, ... of a machine each, m0, m1, ..., where so many "web"
// tasks run.
void AddZonesWith(const std::vector<int64_t>& counts, PeerWorld* world) {
  for (size_t zone = 0; zone < counts.size(); ++zone) {
    const std::string uuid = StrCat("m", zone);
    world->AddMachine(uuid, {{"zone", StrCat("z", zone)}});
    for (int64_t i = 0; i < counts[zone]; ++i) world->RunOn(uuid, "web");
  }
}

class TopologySpreadTest : public PeersTest {
 protected:
  TopologySpread SpreadOf(const ClassKey& key, size_t index = 0) {
    return TopologySpread(state_, constraints_, key, index);
  }
  // Of a task with this "app" and the constraint.
  TopologySpread SpreadOf(const std::string& app,
                          const SpreadConstraint& constraint) {
    return SpreadOf(ClassOf(app, {.spread = {constraint}}));
  }
};

// ---------------------------------------------------------------------------
// Counts

TEST_F(TopologySpreadTest, CountsTheTasksMeantInEachDomain) {
  AddZones();
  RunOn("a1", "web");
  RunOn("a2", "web");
  RunOn("a2", "db");
  RunOn("x1", "web");
  const TopologySpread spread = SpreadOf("web", OverZones());
  EXPECT_EQ(spread.domain_count(), 2);
  EXPECT_EQ(spread.CountAt(IdOf("a1")), 2);
  EXPECT_EQ(spread.CountAt(IdOf("b1")), 0);
  EXPECT_EQ(spread.CountAt(IdOf("x1")), 0);
  EXPECT_EQ(spread.minimum(), 0);
  EXPECT_EQ(spread.ExcessAt(IdOf("a1")), 2);
  EXPECT_EQ(spread.ExcessAt(IdOf("b1")), 0);
  EXPECT_EQ(spread.ExcessAt(IdOf("x1")), 3);
  EXPECT_TRUE(spread.is_self());
  EXPECT_FALSE(SpreadOf("db", OverZones()).is_self());
}

TEST_F(TopologySpreadTest, DoesNotCountLeavers) {
  AddZones();
  RunOn("a1", "web");
  state_.Preempt({RunOn("a1", "web")});
  EXPECT_EQ(SpreadOf("web", OverZones()).CountAt(IdOf("a1")), 1);
}

TEST_F(TopologySpreadTest, CountsWhomRoomIsKeptForButNotForTheEmptiest) {
  AddZonesWith({1, 0, 2}, this);
  const uint64_t first = Submit("web");
  const uint64_t second = Submit("web");
  state_.Nominate({first}, IdOf("m0"));
  state_.Nominate({second}, IdOf("m1"));
  TopologySpread spread = SpreadOf("web", OverZones());
  EXPECT_THAT(spread.counts(), ElementsAre(2, 1, 2));
  EXPECT_EQ(spread.minimum(), 0) << "none runs in z1 yet";
  EXPECT_FALSE(spread.Allows(IdOf("m1"))) << "the second goes there";
  EXPECT_EQ(spread.LevelFor(3), 2) << "as 1, 0 and 2 rise";
  EXPECT_THAT(spread.RoomUpTo(2), ElementsAre(0, 1, 0));
  spread.Note(KeyOf(first), IdOf("m1"));
  EXPECT_THAT(spread.counts(), ElementsAre(2, 2, 2));
  EXPECT_EQ(spread.minimum(), 1);
  EXPECT_FALSE(spread.Allows(IdOf("m0"))) << "3 and 1";
}

TEST_F(TopologySpreadTest, DoesNotCountOnMachinesThatAreOfNoUse) {
  AddZonesWith({1, 1, 1}, this);
  state_.Apply(Removed("m0"), 0);
  state_.Apply(Added("m3", {.labels = {{"zone", "z3"}},
                            .quarantine_reason = "cpu is not a number"}),
               0);
  const TopologySpread spread = SpreadOf("web", OverZones());
  EXPECT_EQ(spread.domain_count(), 2);
  EXPECT_EQ(spread.minimum(), 1);
  EXPECT_EQ(spread.CountAt(IdOf("m0")), 0);
}

TEST_F(TopologySpreadTest, CountsWhereAllRequiredKeysAre) {
  AddMachine("both", {{"rack", "1"}, {"zone", "a"}});
  AddMachine("zone", {{"zone", "b"}});
  PlacementRules rules = {.spread = {Spread(App("web"), "rack"), OverZones()}};
  EXPECT_EQ(SpreadOf(ClassOf("web", rules), 1).domain_count(), 1);
  rules.spread[0].is_required = false;
  const ClassKey& key = ClassOf("web", rules);
  const auto over_zones = std::ranges::find(key.rules->spread, OverZones());
  EXPECT_EQ(
      SpreadOf(key, static_cast<size_t>(over_zones - key.rules->spread.begin()))
          .domain_count(),
      2);
}

TEST_F(TopologySpreadTest, CountsWhereTheClassMayRunIfToldSo) {
  AddMachine("m0", {{"disk", "ssd"}, {"zone", "z0"}});
  AddMachine("m1", {{"disk", "hdd"}, {"zone", "z1"}});
  AddMachine("m2", {{"disk", "ssd"}, {"zone", "z2"}}, {NoSchedule("gpu")});
  const struct {
    bool honors_node_affinity;
    bool honors_taints;
    int64_t domains;
  } rows[] = {
      {false, false, 3}, {true, false, 2}, {false, true, 2}, {true, true, 1}};
  for (const auto& row : rows) {
    SpreadConstraint constraint = OverZones();
    constraint.honors_node_affinity = row.honors_node_affinity;
    constraint.honors_taints = row.honors_taints;
    const ClassKey& key = ClassOf(
        "web",
        {.selectors = {LabelIn("disk", {"ssd"})}, .spread = {constraint}});
    EXPECT_EQ(SpreadOf(key).domain_count(), row.domains)
        << "row " << &row - rows;
  }
}

// ---------------------------------------------------------------------------
// Verdicts

TEST_F(TopologySpreadTest, AllowsUpToTheSkew) {
  AddZonesWith({3, 2, 1}, this);
  const struct {
    const char* app;
    SpreadConstraint constraint;
    std::vector<bool> allowed;
  } rows[] = {
      {"web", OverZones(1), {false, false, true}},
      {"web", OverZones(2), {false, true, true}},
      {"web", OverZones(3), {true, true, true}},
      // One that is not meant adds nothing.
      {"db", OverZones(1), {false, true, true}},
      // The emptiest of too few counts as empty.
      {"web", OverZones(2, 3), {false, true, true}},
      {"web", OverZones(2, 4), {false, false, true}},
      {"web", OverZones(1, 4), {false, false, false}},
  };
  for (const auto& row : rows) {
    const TopologySpread spread = SpreadOf(row.app, row.constraint);
    std::vector<bool> allowed;
    for (const char* uuid : {"m0", "m1", "m2"}) {
      allowed.push_back(spread.Allows(IdOf(uuid)));
    }
    EXPECT_EQ(allowed, row.allowed) << "row " << &row - rows;
  }
}

TEST_F(TopologySpreadTest, AllowsWhatItDoesOnceSomeHaveLeft) {
  AddZonesWith({3, 2, 1}, this);
  const struct {
    SpreadConstraint constraint;
    std::vector<int64_t> fewest;  // Who must leave, by machine.
  } rows[] = {
      {OverZones(1), {2, 1, 0}},
      {OverZones(2), {1, 0, 0}},
      {OverZones(1, 4), {3, 2, 1}},
  };
  for (const auto& row : rows) {
    const TopologySpread spread = SpreadOf("web", row.constraint);
    for (size_t m = 0; m < row.fewest.size(); ++m) {
      SCOPED_TRACE(StrCat("row ", &row - rows, ", machine ", m));
      const Machine& machine = MachineOf(StrCat("m", m));
      TopologySpread after = spread;
      std::vector<const Task*> leavers;
      for (const TaskId id : machine.tasks) {
        EXPECT_EQ(spread.AllowsWithout(machine.id, leavers),
                  std::ssize(leavers) >= row.fewest[m]);
        EXPECT_EQ(spread.AllowsWithout(machine.id, leavers),
                  after.Allows(machine.id));
        leavers.push_back(state_.FindTask(id));
        after.Note(leavers.back()->class_key, machine.id, -1);
      }
      EXPECT_TRUE(spread.AllowsWithout(machine.id, leavers));
      EXPECT_TRUE(after.Allows(machine.id));
    }
  }
}

TEST_F(TopologySpreadTest, HoldsWhereNoDomainHasMoreThanTheSkewAbove) {
  AddZonesWith({2, 1, 2}, this);
  EXPECT_TRUE(SpreadOf("web", OverZones()).Holds());
  EXPECT_FALSE(SpreadOf("web", OverZones(1, 4)).Holds())
      << "too few domains count as one that is empty";
  RunOn("m0", "web");
  EXPECT_FALSE(SpreadOf("web", OverZones()).Holds());
  EXPECT_TRUE(SpreadOf("web", OverZones(2)).Holds());
  EXPECT_TRUE(SpreadOf("web", Spread(App("web"), "rack")).Holds())
      << "where nothing counts";
}

TEST_F(TopologySpreadTest, AllowsNothingWithoutTheKey) {
  AddZones();
  EXPECT_FALSE(SpreadOf("web", OverZones(9)).Allows(IdOf("x1")));
}

TEST_F(TopologySpreadTest, NotesWhatIsMeantWhereItCounts) {
  AddZonesWith({0, 0}, this);
  AddMachine("tainted", {{"zone", "z1"}}, {NoSchedule("gpu")});
  SpreadConstraint constraint = OverZones();
  constraint.honors_taints = true;
  const ClassKey& key = ClassOf("web", {.spread = {constraint}});
  const ClassKey& other = ClassOf("db", {});
  TopologySpread spread = SpreadOf(key);
  spread.Note(other, IdOf("m0"));
  spread.Note(key, IdOf("tainted"));
  EXPECT_EQ(spread.CountAt(IdOf("m0")), 0);
  EXPECT_EQ(spread.CountAt(IdOf("m1")), 0);
  spread.Note(key, IdOf("m0"));
  EXPECT_EQ(spread.CountAt(IdOf("m0")), 1);
  EXPECT_EQ(spread.minimum(), 0);
  EXPECT_FALSE(spread.Allows(IdOf("m0")));
  spread.Note(key, IdOf("m1"));
  EXPECT_EQ(spread.minimum(), 1);
  EXPECT_TRUE(spread.Allows(IdOf("m0")));
}

// ---------------------------------------------------------------------------
// Levels

TopologySpread SpreadOverZonesWith(const std::vector<int64_t>& counts,
                                   const SpreadConstraint& constraint,
                                   PeerWorld* world) {
  AddZonesWith(counts, world);
  return TopologySpread(world->state(), world->constraints(),
                        world->ClassOf("web", {.spread = {constraint}}), 0);
}

TEST(TopologySpreadLevel, RisesLikeWater) {
  const struct {
    std::vector<int64_t> counts;
    int64_t tasks;
    int64_t level;
  } rows[] = {{{0, 0}, 4, 2},    {{0, 0}, 5, 2},     {{0, 3}, 2, 2},
              {{0, 3}, 3, 3},    {{0, 3}, 4, 3},     {{0, 3}, 5, 4},
              {{4, 1, 1}, 0, 1}, {{4, 1, 1}, 1, 1},  {{4, 1, 1}, 2, 2},
              {{2}, 3, 5},       {{0, 5, 5}, 20, 10}};
  for (const auto& row : rows) {
    PeerWorld world;
    EXPECT_EQ(SpreadOverZonesWith(row.counts, OverZones(), &world)
                  .LevelFor(row.tasks),
              row.level)
        << "row " << &row - rows;
  }
}

TEST(TopologySpreadLevel, IsTheEmptiestOfTooFewDomains) {
  PeerWorld world;
  const TopologySpread spread =
      SpreadOverZonesWith({3, 2}, OverZones(4, 3), &world);
  EXPECT_EQ(spread.LevelFor(100), 0);
  EXPECT_THAT(spread.RoomUpTo(spread.LevelFor(100) + 4), ElementsAre(1, 2));
}

TEST(TopologySpreadLevel, HasNoRoomWhereThereIsNoDomain) {
  PeerWorld world;
  const TopologySpread spread =
      SpreadOverZonesWith({0, 2, 9}, OverZones(), &world);
  EXPECT_THAT(spread.RoomUpTo(5), ElementsAre(5, 3, 0));
  PeerWorld other;
  other.AddMachine("tainted", {{"zone", "z"}}, {NoSchedule("gpu")});
  SpreadConstraint honoring = OverZones();
  honoring.honors_taints = true;
  const TopologySpread without = SpreadOverZonesWith({0}, honoring, &other);
  EXPECT_THAT(without.RoomUpTo(5), ElementsAre(0, 5));
}

// Tasks one after the other into the emptiest domain.
TEST(TopologySpreadLevel, IsThatOfTasksPlacedOneByOne) {
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    Rng rng(seed);
    std::vector<int64_t> counts(1 + rng.Below(5));
    for (int64_t& count : counts) count = rng.Between(0, 6);
    PeerWorld world;
    const TopologySpread spread =
        SpreadOverZonesWith(counts, OverZones(), &world);
    for (int64_t tasks = 0; tasks <= 20; ++tasks) {
      ASSERT_EQ(spread.LevelFor(tasks), std::ranges::min(counts))
          << "seed " << seed << ", " << tasks << " tasks";
      ++*std::ranges::min_element(counts);
    }
  }
}

}  // namespace
}  // namespace sluice
