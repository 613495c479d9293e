// Tasks that keep others out of a whole zone are stopped, wherever in it they
// run.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "util/peer_builder.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

const PlacementRules kOneAZone = {.anti_affinity = {{App("web"), "zone"}}};

class DomainPreemptionTest : public testing::Test {
 protected:
  DomainPreemptionTest() {
    for (const std::string zone : {"a", "b"}) {
      Machine(zone + "-small", 500, zone);
      Machine(zone + "-large", 1000, zone);
    }
  }
  void Machine(const std::string& uuid, int64_t cpu, const std::string& zone) {
    cluster_.Apply(Added(uuid, {.cpu = cpu, .labels = {{"zone", zone}}}));
  }
  // A task that counts as "web".
  void Web(uint64_t uid, int64_t cpu, uint32_t priority,
           const PlacementRules& rules = kOneAZone, const Gang& gang = {}) {
    cluster_.Apply(Submitted(uid,
                             {.cpu = cpu,
                              .priority = priority,
                              .job = "job-" + std::to_string(priority),
                              .labels = {{"app", "web"}},
                              .rules = rules},
                             {.gang = gang}));
  }
  void Remove(uint64_t uid) { cluster_.Apply(Removed(uid)); }
  std::vector<std::string> Reply() {
    std::vector<std::string> texts = cluster_.Reply(++now_ms_);
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
    return texts;
  }
  int64_t NominatedCount() const {
    return std::ssize(cluster_.state().nominations().machines());
  }

  TestScheduler cluster_{{.preemption = {.mode = Preemption::kPriority}}};
  int64_t now_ms_ = 0;
};

PlacementRules On(const std::string& zone) {
  PlacementRules rules;
  rules.selectors = {LabelIn("zone", {zone})};
  return rules;
}

TEST_F(DomainPreemptionTest, StopsOneInEachZoneForSeveralInOneRound) {
  Web(1, 400, 0);
  Web(2, 400, 0);
  ASSERT_THAT(Reply(), SizeIs(2));
  Web(3, 900, 9);
  Web(4, 900, 9);
  const std::string first = cluster_.MachineOf(1);
  const std::string second = cluster_.MachineOf(2);
  EXPECT_THAT(Reply(), UnorderedElementsAre("PREEMPT 1 on " + first,
                                            "PREEMPT 2 on " + second));
  EXPECT_EQ(NominatedCount(), 2);
  EXPECT_THAT(Reply(), IsEmpty()) << "until they are gone";
  Remove(1);
  EXPECT_THAT(Reply(), SizeIs(1));
  Remove(2);
  EXPECT_THAT(Reply(), SizeIs(1));
  EXPECT_NE(cluster_.MachineOf(3), cluster_.MachineOf(4));
}

TEST_F(DomainPreemptionTest, StopsThemForAGangAsAWhole) {
  Web(1, 400, 0);
  Web(2, 400, 0);
  ASSERT_THAT(Reply(), SizeIs(2));
  Web(3, 900, 9, kOneAZone, {.minimum = 2});
  EXPECT_THAT(Reply(), IsEmpty());
  Web(4, 900, 9, kOneAZone, {.minimum = 2});
  EXPECT_THAT(Reply(), SizeIs(2));
  EXPECT_EQ(NominatedCount(), 2);
  Remove(1);
  EXPECT_THAT(Reply(), IsEmpty()) << "not before both zones are free";
  Remove(2);
  EXPECT_THAT(Reply(), SizeIs(2));
}

TEST_F(DomainPreemptionTest, StopsAllOfAZoneWhereTheyAreTheFewest) {
  for (const uint64_t uid : {1, 2, 3}) Web(uid, 300, 0, On("a"));
  for (const uint64_t uid : {4, 5}) Web(uid, 300, 0, On("b"));
  ASSERT_THAT(Reply(), SizeIs(5));
  Web(6, 200, 9);
  EXPECT_THAT(Reply(),
              UnorderedElementsAre("PREEMPT 4 on " + cluster_.MachineOf(4),
                                   "PREEMPT 5 on " + cluster_.MachineOf(5)));
  Remove(4);
  EXPECT_THAT(Reply(), IsEmpty());
  Remove(5);
  EXPECT_THAT(Reply(), SizeIs(1));
}

TEST_F(DomainPreemptionTest, StopsNobodyWhereOneOfThemHasToStay) {
  Web(1, 300, 0, On("a"));
  Web(2, 300, 9, On("a"));
  Web(3, 300, 9, On("b"));
  ASSERT_THAT(Reply(), SizeIs(3));
  Web(4, 200, 9);
  EXPECT_THAT(Reply(), IsEmpty());
}

TEST_F(DomainPreemptionTest, MakesRoomOnTheMachineAsWell) {
  Web(1, 400, 0, On("a"));
  Web(2, 400, 20, On("b"));
  ASSERT_THAT(Reply(), SizeIs(2));
  cluster_.Apply(Submitted(3, {.cpu = 1000, .priority = 1}));
  cluster_.Apply(Submitted(4, {.cpu = 1000, .priority = 1}));
  Reply();
  Web(5, 900, 9);
  const std::string first = cluster_.MachineOf(1);
  const std::vector<std::string> told = Reply();
  EXPECT_THAT(told, testing::Contains("PREEMPT 1 on " + first));
  EXPECT_THAT(told, SizeIs(first == "a-large" ? 1 : 2));
  EXPECT_EQ(NominatedCount(), 1);
}

// It keeps away from the others, and they say nothing.
TEST_F(DomainPreemptionTest, StopsAllInAZoneForOneThatKeepsAwayFromThem) {
  for (const uint64_t uid : {1, 2}) Web(uid, 400, 0, On("a"));
  for (const uint64_t uid : {3, 4, 5}) Web(uid, 300, 0, On("b"));
  ASSERT_THAT(Reply(), SizeIs(5));
  cluster_.Apply(Submitted(6, {.cpu = 100, .priority = 9, .rules = kOneAZone},
                           PeerOptions()));
  EXPECT_THAT(Reply(),
              UnorderedElementsAre("PREEMPT 1 on " + cluster_.MachineOf(1),
                                   "PREEMPT 2 on " + cluster_.MachineOf(2)));
  Remove(1);
  EXPECT_THAT(Reply(), IsEmpty());
  Remove(2);
  EXPECT_THAT(Reply(), SizeIs(1));
}

// They keep away from it, and it says nothing.
TEST_F(DomainPreemptionTest, StopsAllInAZoneThatKeepAwayFromOne) {
  PlacementRules shy = On("a");
  shy.anti_affinity = {{App("db"), "zone"}};
  for (const uint64_t uid : {1, 2}) Web(uid, 400, 0, shy);
  shy.selectors = On("b").selectors;
  for (const uint64_t uid : {3, 4, 5}) Web(uid, 300, 0, shy);
  ASSERT_THAT(Reply(), SizeIs(5));
  cluster_.Apply(
      Submitted(6, {.cpu = 100, .priority = 9, .labels = {{"app", "db"}}},
                PeerOptions()));
  EXPECT_THAT(Reply(),
              UnorderedElementsAre("PREEMPT 1 on " + cluster_.MachineOf(1),
                                   "PREEMPT 2 on " + cluster_.MachineOf(2)));
  Remove(1);
  Remove(2);
  EXPECT_THAT(Reply(), SizeIs(1));
}

// Not all whom its rule means have that rule, and it means itself.
TEST_F(DomainPreemptionTest, StopsItsOwnKindForOneThatTakesPartAlone) {
  PlacementRules in_a = On("a");
  in_a.anti_affinity = kOneAZone.anti_affinity;
  Web(1, 400, 0, in_a);
  Web(2, 300, 20, On("b"));
  ASSERT_THAT(Reply(), SizeIs(2));
  Web(3, 5000, 0, {});
  Web(4, 900, 9);
  EXPECT_THAT(Reply(),
              UnorderedElementsAre("PREEMPT 1 on " + cluster_.MachineOf(1)));
  Remove(1);
  EXPECT_THAT(Reply(), UnorderedElementsAre("PLACE 4 on a-large"));
}

TEST_F(DomainPreemptionTest, KeepsNoRoomForWhomNobodyKnowsToLeave) {
  Machine("c-only", 500, "c");
  PlacementRules in_a = On("a");
  in_a.anti_affinity = kOneAZone.anti_affinity;
  Web(1, 400, 0, in_a);
  Web(2, 100, 20, On("b"));
  ASSERT_THAT(Reply(), SizeIs(2));
  const std::string machine = cluster_.MachineOf(1);
  Web(3, 450, 9);
  Web(4, 900, 9);
  Reply();
  const int64_t kept = NominatedCount();
  ASSERT_EQ(kept, 1);
  cluster_.Apply(Removed(machine));
  Reply();
  EXPECT_EQ(NominatedCount(), 0) << "its client may never say that it is gone";
}

}  // namespace
}  // namespace sluice
