// Tasks that a hard spread counts are stopped for more urgent ones that it
// spreads, several of these in one round.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "util/peer_builder.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::Each;
using testing::IsEmpty;
using testing::IsSubsetOf;
using testing::SizeIs;
using testing::StartsWith;
using testing::UnorderedElementsAre;

const PlacementRules kSpread = {.spread = {Spread(App("web"), "zone")}};

class SpreadPreemptionTest : public testing::Test {
 protected:
  void Machine(const std::string& uuid, int64_t cpu, const std::string& zone) {
    cluster_.Apply(
        Added(uuid, {.cpu = cpu, .labels = {{"host", uuid}, {"zone", zone}}}));
    zone_of_[uuid] = zone;
  }
  void Submit(uint64_t uid, const TaskOptions& options, const Gang& gang = {}) {
    cluster_.Apply(Submitted(uid, options, {.gang = gang}));
  }
  // A task that counts as "web", and runs there.
  void RunWeb(uint64_t uid, const std::string& uuid, TaskOptions options) {
    options.labels = {{"app", "web"}};
    Run(uid, uuid, options);
  }
  void Run(uint64_t uid, const std::string& uuid, TaskOptions options) {
    options.rules.selectors = {LabelIn("host", {uuid})};
    Submit(uid, options);
    Reply();
    ASSERT_EQ(cluster_.MachineOf(uid), uuid);
  }
  // A task that counts as "web", and is spread.
  void New(uint64_t uid, int64_t cpu, const Gang& gang = {}) {
    Submit(uid,
           {.cpu = cpu,
            .priority = 9,
            .job = "new",
            .labels = {{"app", "web"}},
            .rules = kSpread},
           gang);
  }
  void Remove(uint64_t uid) { cluster_.Apply(Removed(uid)); }
  std::vector<std::string> Reply() {
    std::vector<std::string> texts = cluster_.Reply(++now_ms_);
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
    return texts;
  }
  // Where room is kept for new tasks, and how many there are in each zone.
  std::map<std::string, int> NominatedByZone() const {
    std::map<std::string, int> zones;
    for (const auto& [task, machine] :
         cluster_.state().nominations().machines()) {
      ++zones[zone_of_.at(cluster_.state().FindMachine(machine)->uuid)];
    }
    return zones;
  }
  std::map<std::string, int> PlacedByZone(uint64_t first, uint64_t last) const {
    std::map<std::string, int> zones;
    for (uint64_t uid = first; uid <= last; ++uid) {
      const std::string machine = cluster_.MachineOf(uid);
      if (!machine.empty()) ++zones[zone_of_.at(machine)];
    }
    return zones;
  }

  TestScheduler cluster_{{.preemption = {.mode = Preemption::kPriority}}};
  std::map<std::string, std::string> zone_of_;
  int64_t now_ms_ = 0;
};

using Zones = std::map<std::string, int>;

// Three zones, each with two machines that are full of what counts.
class FullZones : public SpreadPreemptionTest {
 protected:
  FullZones() {
    uint64_t uid = 1;
    for (const std::string zone : {"a", "b", "c"}) {
      for (const std::string machine : {"1", "2"}) {
        Machine(zone + machine, 1000, zone);
        RunWeb(uid++, zone + machine, {.cpu = 1000});
      }
    }
  }
};

TEST_F(FullZones, StopsOneInEachZoneForSeveralInOneRound) {
  for (const uint64_t uid : {11, 12, 13}) New(uid, 1000);
  const std::vector<std::string> told = Reply();
  EXPECT_THAT(told, SizeIs(3));
  EXPECT_THAT(told, Each(StartsWith("PREEMPT")));
  EXPECT_EQ(cluster_.state().nominations().machines().size(), 3u);
  EXPECT_THAT(Reply(), IsEmpty()) << "until they are gone";
  for (uint64_t uid = 1; uid <= 6; ++uid) {
    if (cluster_.TaskOf(uid).is_evicted) Remove(uid);
  }
  EXPECT_THAT(Reply(), SizeIs(3));
}

TEST_F(FullZones, StopsThemForAGangAsAWhole) {
  for (const uint64_t uid : {11, 12}) New(uid, 1000, {.minimum = 3});
  EXPECT_THAT(Reply(), IsEmpty());
  New(13, 1000, {.minimum = 3});
  EXPECT_THAT(Reply(), SizeIs(3));
  EXPECT_EQ(cluster_.state().nominations().machines().size(), 3u);
  std::vector<uint64_t> victims;
  for (uint64_t uid = 1; uid <= 6; ++uid) {
    if (cluster_.TaskOf(uid).is_evicted) victims.push_back(uid);
  }
  ASSERT_THAT(victims, SizeIs(3));
  Remove(victims[0]);
  EXPECT_THAT(Reply(), IsEmpty()) << "not before all is free";
  Remove(victims[1]);
  Remove(victims[2]);
  EXPECT_THAT(Reply(), SizeIs(3));
}

// Their clients end them zone by zone, and zones fill together.
TEST_F(FullZones, PlacesAllInTheEndWhoeverLeavesFirst) {
  for (uint64_t uid = 11; uid <= 16; ++uid) New(uid, 1000);
  EXPECT_THAT(Reply(), SizeIs(6));
  for (uint64_t uid = 1; uid <= 6; ++uid) {
    Remove(uid);
    if (uid % 2 == 0) Reply();
  }
  Reply();
  Reply();
  EXPECT_EQ(PlacedByZone(11, 16), (Zones{{"a", 2}, {"b", 2}, {"c", 2}}));
}

// In zone a there is room, and what counts there may leave from elsewhere.
TEST_F(SpreadPreemptionTest, StopsTheCheapestOnOtherMachinesOfTheZone) {
  Machine("a1", 1000, "a");
  Machine("a2", 1000, "a");
  Machine("a3", 2000, "a");
  Machine("b1", 1000, "b");
  RunWeb(1, "a1", {.cpu = 1000, .preemption_cost = 500});
  RunWeb(2, "a2", {.cpu = 1000});
  RunWeb(3, "b1", {.cpu = 1000, .priority = 20});
  New(11, 900);
  EXPECT_THAT(Reply(), UnorderedElementsAre("PREEMPT 2 on a2"));
  EXPECT_EQ(NominatedByZone(), (Zones{{"a", 1}}));
  // Who was told to leave counts no more.
  EXPECT_THAT(Reply(), UnorderedElementsAre("PLACE 11 on a3"));
  New(12, 900);
  EXPECT_THAT(Reply(), UnorderedElementsAre("PREEMPT 1 on a1"));
  EXPECT_THAT(Reply(), UnorderedElementsAre("PLACE 12 on a3"));
}

TEST_F(SpreadPreemptionTest, StopsAsManyAsTheSpreadMinds) {
  Machine("a1", 1000, "a");
  Machine("a2", 3000, "a");
  Machine("b1", 1000, "b");
  RunWeb(1, "a1", {.cpu = 500});
  RunWeb(2, "a1", {.cpu = 500});
  RunWeb(3, "b1", {.cpu = 500, .priority = 20});
  RunWeb(4, "b1", {.cpu = 500, .priority = 20});
  // Three in a, as there are two in b.
  for (const uint64_t uid : {11, 12}) New(uid, 1000);
  Reply();
  Reply();
  EXPECT_EQ(PlacedByZone(11, 12), (Zones{{"a", 2}}));
  EXPECT_NE(cluster_.TaskOf(1).is_evicted, cluster_.TaskOf(2).is_evicted);
}

// What is not counted is cheaper where it runs, but the spread minds.
TEST_F(SpreadPreemptionTest, KeepsTheSpreadWhereOthersAreCheaper) {
  for (const std::string zone : {"a", "b"}) Machine(zone, 2000, zone);
  for (const uint64_t uid : {1, 2}) Run(uid, "a", {.cpu = 1000});
  for (const uint64_t uid : {3, 4}) {
    RunWeb(uid, "b", {.cpu = 1000, .preemption_cost = 700});
  }
  for (const uint64_t uid : {11, 12}) New(uid, 1000);
  EXPECT_THAT(Reply(),
              UnorderedElementsAre("PREEMPT 1 on a", "PREEMPT 2 on a"));
}

TEST_F(SpreadPreemptionTest, StopsNobodyWhoIsAsUrgent) {
  Machine("a1", 1000, "a");
  Machine("a2", 1000, "a");
  Machine("b1", 1000, "b");
  RunWeb(1, "a1", {.cpu = 1000, .priority = 9});
  Run(2, "b1", {.cpu = 1000, .priority = 20});
  // One could be placed beside nothing in b alone.
  New(11, 500);
  EXPECT_THAT(Reply(), IsEmpty());
}

// Whoever displaces one in the emptiest zone takes no heed of others' spread.
TEST_F(SpreadPreemptionTest, LetsOthersDisplaceInTheEmptiestZone) {
  for (const std::string zone : {"a", "b"}) Machine(zone, 2000, zone);
  for (const uint64_t uid : {1, 2}) {
    RunWeb(uid, "a", {.cpu = 1000, .preemption_cost = 900});
  }
  for (const uint64_t uid : {3, 4}) RunWeb(uid, "b", {.cpu = 1000});
  Submit(10, {.cpu = 2000, .priority = 30});
  New(11, 1000);
  const std::vector<std::string> told = Reply();
  EXPECT_THAT(std::vector<std::string>({"PREEMPT 3 on b", "PREEMPT 4 on b"}),
              IsSubsetOf(told));
}

}  // namespace
}  // namespace sluice
