// Tasks that no packing would stop anybody for come in at the end of a cycle of
// turns, each looked at alone.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "unit/round/preemption_fixture.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class LastResortTest : public PreemptionFixture {
 protected:
  static PlacementRules SpreadOver(const std::string& app) {
    return {.spread = {Spread(App(app), "zone")}};
  }
  // By a rule that no packing heeds beside another.
  void SubmitHopelessSpread(uint64_t uid, const std::string& app) {
    SubmitHopeless(uid, app, kLow, SpreadOver("web"));
  }
  std::vector<std::string> ReplyManyTimes() {
    std::vector<std::string> all;
    for (int i = 0; i < 8; ++i) {
      for (const std::string& one : ReplyInTheEnd()) all.push_back(one);
    }
    return all;
  }
};

// The zone of the only one of its kind is full, and the other one is free.
TEST_F(LastResortTest, StopsTheLastOfItsKindToBeTheFirst) {
  Machine("y", 2000, "y");
  Machine("z", 2000, "z");
  Run(1, "me", kLow, On("y"));
  Run(2, "full", kHigh, On("y"));
  Submit(3, "me", kHigh, Near("me"), {.cpu = 2000});
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 1 on y"));
  EXPECT_THAT(ReplyManyTimes(), IsEmpty()) << "until it is gone";
  EXPECT_EQ(cluster_.state().nominations().machines().size(), 1);
  EXPECT_THAT(ReplyWithout({1}), ElementsAre("PLACE 3 on z"));
}

TEST_F(LastResortTest, StopsAllOfItsKindToBeTheFirst) {
  Machine("y", 2000, "y");
  Machine("z", 2000, "z");
  Run(1, "me", kLow, On("y"));
  Run(2, "me", kLow, On("y", AwayFrom("other")));
  Submit(3, "me", kHigh, On("z", Near("me")), {.cpu = 2000});
  EXPECT_THAT(ReplyInTheEnd(),
              UnorderedElementsAre("PREEMPT 1 on y", "PREEMPT 2 on y"));
  EXPECT_THAT(ReplyWithout({1}), IsEmpty());
  EXPECT_THAT(ReplyWithout({2}), ElementsAre("PLACE 3 on z"));
}

// A controller that replaces whoever is stopped, before the task can come.
TEST_F(LastResortTest, GivesUpBeingTheFirstWhereOthersAreSoonerAgainAndAgain) {
  Machine("y", 3000, "y");
  Machine("z", 2000, "z");
  const auto submit_mate = [&](uint64_t uid) {
    cluster_.Apply(Submitted(uid,
                             {.cpu = 1000,
                              .priority = kLow,
                              .job = "job-me",
                              .labels = {{"app", "me"}},
                              .rules = On("y"),
                              .owner = {"ReplicaSet", "me"}},
                             PeerOptions()));
  };
  submit_mate(1);
  ASSERT_EQ(Reply().size(), 1);
  Run(100, "full", kHigh, On("y"));
  Submit(101, "me", kHigh, Near("me"), {.cpu = 2000});
  uint64_t last = 1;
  int stops = 0;
  for (int round = 0; round < 60; ++round) {
    now_ms_ += 61'000;
    for (const std::string& one : Reply()) {
      if (!one.starts_with("PREEMPT")) continue;
      ++stops;
      submit_mate(last + 1);
      ASSERT_EQ(Reply().size(), 1);
      cluster_.Apply(Removed(last++));
    }
  }
  EXPECT_EQ(stops, 3);
  EXPECT_EQ(cluster_.MachineOf(101), "");
}

TEST_F(LastResortTest, LeavesTheLastOneAloneOfWhomItIsNone) {
  Machine("y", 2000, "y");
  Machine("z", 2000, "z");
  Run(1, "company", kLow, On("y"));
  Submit(3, "me", kHigh, On("z", Near("company")));
  EXPECT_THAT(ReplyManyTimes(), IsEmpty());
}

TEST_F(LastResortTest, LeavesItsKindAloneIfOneHasToStay) {
  Machine("y", 2000, "y");
  Machine("z", 2000, "z");
  Run(1, "me", kLow, On("y"));
  Run(2, "me", kHigh, On("y"));
  Submit(3, "me", kHigh, On("z", Near("me")));
  EXPECT_THAT(ReplyManyTimes(), IsEmpty());
}

// One of those that its spread counts is on its machine, and one is not.
TEST_F(LastResortTest, StopsThoseOfASpreadOnItsMachineAndElsewhere) {
  Machine("a1", 1000, "a");
  Machine("a2", 1000, "a");
  Machine("b", 1000, "b");
  Run(1, "web", kLow, On("a1"));
  Run(2, "web", kLow, On("a2"));
  Run(3, "full", kHigh, On("b"));
  SubmitHopelessSpread(4, "web");
  Submit(5, "web", kHigh, SpreadOver("web"));
  EXPECT_THAT(ReplyManyTimes(),
              UnorderedElementsAre("PREEMPT 1 on a1", "PREEMPT 2 on a2"));
  EXPECT_THAT(ReplyWithout({1, 2}).size(), 1);
}

// The rest of the gang was all there is in the other zone, so that one more has
// to leave this one.
TEST_F(LastResortTest, StopsOneMoreWhereAGangLeavesTheEmptiestZone) {
  Machine("a1", 1000, "a");
  Machine("a2", 500, "a");
  Machine("b", 500, "b");
  Submit(1, "web", kLow, On("a1"), {.cpu = 500, .gang = 2});
  Submit(2, "web", kLow, On("b"), {.cpu = 500, .gang = 2});
  ASSERT_EQ(Reply().size(), 2);
  cluster_.Apply(Submitted(3,
                           {.cpu = 500,
                            .priority = kLow,
                            .job = "other",
                            .labels = {{"app", "web"}},
                            .rules = On("a2")},
                           PeerOptions()));
  ASSERT_EQ(Reply().size(), 1);
  cluster_.Apply(Submitted(4,
                           {.cpu = 1000,
                            .priority = kHigh,
                            .job = "me",
                            .labels = {{"app", "web"}},
                            .rules = SpreadOver("web")},
                           PeerOptions()));
  EXPECT_THAT(ReplyManyTimes(),
              UnorderedElementsAre("PREEMPT 1 on a1", "PREEMPT 2 on b",
                                   "PREEMPT 3 on a2"));
  EXPECT_THAT(ReplyWithout({1, 2, 3}), ElementsAre("PLACE 4 on a1"));
}

// A gang in a zone of two machines, one of them with company.
class LastResortForGangsTest : public LastResortTest {
 protected:
  LastResortForGangsTest() {
    for (const std::string zone : {"y", "z"}) {
      Machine(zone + "1", 2000, zone);
      Machine(zone + "2", 2000, zone);
    }
  }
  void SubmitGang(const PlacementRules& rules, Size size = {1000, 2}) {
    for (const uint64_t uid : {11, 12}) {
      Submit(uid, "gang", kHigh, rules, size);
    }
  }
};

TEST_F(LastResortForGangsTest, StopsWhoKeepsItOutOfTheZoneOfItsCompany) {
  Run(1, "company", kHigh, On("y1"));
  Run(2, "shy", kLow, On("y1", AwayFrom("gang")), {.cpu = 500});
  SubmitGang(Near("company"));
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 2 on y1"));
  EXPECT_EQ(cluster_.state().nominations().machines().size(), 2);
  EXPECT_THAT(ReplyManyTimes(), IsEmpty()) << "until it is gone";
  EXPECT_THAT(ReplyWithout({2}).size(), 2);
  EXPECT_THAT(ReplyManyTimes(), IsEmpty());
}

// In the other zone one of them would be cheaper to let in.
TEST_F(LastResortForGangsTest, TakesTheZoneWithRoomForAllThatAreNearEachOther) {
  Run(1, "shy", kLow - 1, On("y1", AwayFrom("gang")), {.cpu = 500});
  Run(2, "full", kHigh, On("y2"), {.cpu = 500});
  Run(3, "shy", kLow, On("z1", AwayFrom("gang")), {.cpu = 500});
  SubmitGang(Near("gang"), {.cpu = 2000, .gang = 2});
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 3 on z1"));
  EXPECT_THAT(ReplyManyTimes(), IsEmpty()) << "until it is gone";
  EXPECT_THAT(ReplyWithout({3}),
              UnorderedElementsAre("PLACE 11 on z1", "PLACE 12 on z2"));
}

TEST_F(LastResortForGangsTest, StopsNobodyForTooFewOfIt) {
  Run(1, "company", kHigh, On("y1"));
  Run(2, "shy", kLow, On("y1", AwayFrom("gang")), {.cpu = 500});
  Run(3, "full", kHigh, On("y2"), {.cpu = 2000});
  SubmitGang(Near("company"));
  EXPECT_THAT(ReplyManyTimes(), IsEmpty());
}

// It keeps away from one of its own tasks, and not from the other.
TEST_F(LastResortForGangsTest, StopsThoseForAGangThatKeepsAwayFromSomeOfIt) {
  PlacementRules shy = AwayFrom("part");
  shy.anti_affinity.push_back({App("gang"), "zone"});
  Run(1, "low", kLow, On("y1", shy), {.cpu = 500});
  Run(2, "low", kLow, On("z1", shy), {.cpu = 500});
  for (const uint64_t uid : {11, 12}) {
    cluster_.Apply(Submitted(uid,
                             {.cpu = 1000,
                              .priority = kHigh,
                              .job = "gang",
                              .labels = {{"app", uid == 11 ? "gang" : "part"}},
                              .rules = AwayFrom("part")},
                             {.gang = {.minimum = 2}}));
  }
  const std::vector<std::string> told = ReplyManyTimes();
  EXPECT_THAT(told, UnorderedElementsAre("PREEMPT 1 on y1", "PREEMPT 2 on z1"));
  EXPECT_THAT(ReplyWithout({1, 2}).size(), 2);
}

}  // namespace
}  // namespace sluice
