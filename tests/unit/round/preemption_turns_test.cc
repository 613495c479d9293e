// A class or a gang whose rules a packing does not heed has its turn, in which
// what is less urgent makes way for it, too.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "unit/round/preemption_fixture.h"

namespace sluice {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;
using testing::UnorderedElementsAre;

using PreemptionTurnsTest = PreemptionFixture;

TEST_F(PreemptionTurnsTest, AGangStopsWhoseZoneItAvoids) {
  Machine("a", 1500);
  Machine("b", 1000);
  Run(1, "low", kLow, {}, {.cpu = 500});
  for (const uint64_t uid : {2, 3}) {
    Submit(uid, "gang", kHigh, AwayFrom("low"), {.gang = 2});
  }
  const std::string where = cluster_.MachineOf(1);
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 1 on " + where));
  EXPECT_THAT(ReplyWithout({1}),
              UnorderedElementsAre(testing::StartsWith("PLACE 2"),
                                   testing::StartsWith("PLACE 3")));
}

TEST_F(PreemptionTurnsTest, AGangStopsWhoAvoidsItsZone) {
  Machine("a", 1500);
  Machine("b", 1000);
  Run(1, "low", kLow, AwayFrom("gang"), {.cpu = 500});
  for (const uint64_t uid : {2, 3}) Submit(uid, "gang", kHigh, {}, {.gang = 2});
  const std::string where = cluster_.MachineOf(1);
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 1 on " + where));
}

// The zone of one that is in the way, rather than that of two.
TEST_F(PreemptionTurnsTest, AGangStopsAsFewAsCanBeOfThoseThatAvoidItsZones) {
  for (const std::string zone : {"y", "z"}) {
    Machine("a" + zone, 2000, zone);
    Machine("b" + zone, 1000, zone);
  }
  const auto on = [](const std::string& host) {
    PlacementRules rules = AwayFrom("gang");
    rules.selectors = {LabelIn("host", {host})};
    return rules;
  };
  Run(1, "low", kLow, on("ay"), {.cpu = 100});
  Run(2, "low", kLow, on("by"), {.cpu = 100});
  Run(3, "low", kLow, on("az"), {.cpu = 100});
  for (const uint64_t uid : {4, 5, 6})
    Submit(uid, "gang", kHigh, {}, {.cpu = 900, .gang = 3});
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 3 on az"));
}

TEST_F(PreemptionTurnsTest, AGangOfOneStopsWhoseZoneItAvoids) {
  Machine("a", 1000);
  Run(1, "low", kLow, {}, {.cpu = 500});
  Submit(2, "gang", kHigh, AwayFrom("low"), {.gang = 1});
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 1 on a"));
}

TEST_F(PreemptionTurnsTest, AGangStopsOthersWhateverHopelessTaskItAvoids) {
  Machine("a", 1000);
  Machine("b", 1000);
  Run(1, "low", kLow);
  Run(2, "low", kLow);
  SubmitHopeless(3, "hopeless", kLow);
  for (const uint64_t uid : {4, 5}) {
    Submit(uid, "gang", kHigh, AwayFrom("hopeless"), {.gang = 2});
  }
  EXPECT_THAT(ReplyInTheEnd(),
              UnorderedElementsAre(testing::StartsWith("PREEMPT 1"),
                                   testing::StartsWith("PREEMPT 2")));
}

TEST_F(PreemptionTurnsTest, AGangStopsOthersWhateverHopelessTaskAvoidsIt) {
  Machine("a", 1000);
  Machine("b", 1000);
  Run(1, "low", kLow);
  Run(2, "low", kLow);
  SubmitHopeless(3, "hopeless", kHigh, AwayFrom("gang"));
  for (const uint64_t uid : {4, 5}) Submit(uid, "gang", kHigh, {}, {.gang = 2});
  EXPECT_THAT(ReplyInTheEnd(),
              UnorderedElementsAre(testing::StartsWith("PREEMPT 1"),
                                   testing::StartsWith("PREEMPT 2")));
}

// Such a spread says where they may go, and no more.
TEST_F(PreemptionTurnsTest, AGangStopsOthersWhateverItsSpreadCounts) {
  Machine("a", 2000, "y");
  Machine("b", 2000, "z");
  Run(1, "counted", kHigh, {.selectors = {LabelIn("host", {"a"})}},
      {.cpu = 100});
  Run(2, "counted", kHigh, {.selectors = {LabelIn("host", {"a"})}},
      {.cpu = 100});
  Run(3, "low", kLow, {.selectors = {LabelIn("host", {"a"})}}, {.cpu = 500});
  Run(4, "low", kLow, {.selectors = {LabelIn("host", {"b"})}}, {.cpu = 500});
  PlacementRules rules;
  rules.spread = {Spread(App("counted"), "zone")};
  for (const uint64_t uid : {5, 6})
    Submit(uid, "gang", kHigh, rules, {.gang = 2});
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 4 on b"));
}

TEST_F(PreemptionTurnsTest, ATaskStopsOneOfTwoThatItHasToBeNear) {
  Machine("a", 500);
  Machine("b", 1000);
  Run(1, "low", kLow);
  Run(2, "low", kLow, {}, {.cpu = 500});
  Submit(3, "high", kHigh, Near("low"));
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 1 on b"));
  EXPECT_THAT(ReplyWithout({1}), ElementsAre("PLACE 3 on b"));
}

TEST_F(PreemptionTurnsTest, ATaskDoesNotStopTheOnlyOneThatItHasToBeNear) {
  Machine("b", 1000);
  Run(1, "low", kLow);
  Submit(3, "high", kHigh, Near("low"));
  EXPECT_THAT(ReplyInTheEnd(), IsEmpty());
}

TEST_F(PreemptionTurnsTest, ATaskThatNeedsOthersDoesNotProtectThemForGood) {
  Machine("a", 1000);
  Machine("b", 500);
  Run(1, "low", kLow);
  for (const uint32_t priority : {kHigh - 1, kHigh, kHigh + 1}) {
    SubmitHopeless(10 + priority, "near", priority, Near("low"));
  }
  Submit(2, "high", kHigh);
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 1 on a"));
}

// A machine for both, the task and company that waits, would be better still,
// but nobody is stopped for company that is yet to come.
TEST_F(PreemptionTurnsTest, ATaskGoesToTheCompanyThatThereIs) {
  Machine("a", 3000);
  Machine("b", 4000);
  const auto on = [](const std::string& host) {
    return PlacementRules{.selectors = {LabelIn("host", {host})}};
  };
  Run(1, "low", kLow, on("a"), {.cpu = 2000});
  Run(2, "company", kLow, on("a"));
  Run(3, "low", kLow, on("b"), {.cpu = 2000});
  Run(4, "low", kLow, on("b"), {.cpu = 2000});
  Submit(5, "company", kLow);
  PlacementRules near;
  near.affinity = {{App("company"), "host"}};
  Submit(6, "high", kHigh, near);
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 1 on a"));
}

TEST_F(PreemptionTurnsTest, ATaskStopsWhomItAvoidsInTheZoneOfItsCompany) {
  Machine("a", 1500);
  Run(1, "company", kHigh, {}, {.cpu = 500});
  Run(2, "low", kLow, {}, {.cpu = 500});
  PlacementRules rules = AwayFrom("low");
  rules.affinity = {{App("company"), "host"}};
  Submit(3, "high", kHigh, rules, {.cpu = 500});
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 2 on a"));
}

TEST_F(PreemptionTurnsTest, ATaskStopsAWholeGangThatAvoidsIt) {
  Machine("a", 1000);
  Machine("b", 500);
  for (const uint64_t uid : {1, 2}) {
    PlacementRules rules = AwayFrom("high");
    rules.selectors = {LabelIn("host", {"a"})};
    Submit(uid, "gang", kLow, rules, {.cpu = 500, .gang = 2});
  }
  ASSERT_FALSE(Reply().empty());
  PlacementRules first = Near("high");
  first.selectors = {LabelIn("host", {"a"})};
  Submit(3, "high", kHigh, first, {.cpu = 500});
  EXPECT_THAT(ReplyInTheEnd(),
              UnorderedElementsAre("PREEMPT 1 on a", "PREEMPT 2 on a"));
}

// With the others it could rise only where it is not to be yet.
TEST_F(PreemptionTurnsTest, ATaskStopsForTwoSpreadsThatHinderEachOther) {
  const auto add = [this](const char* host, const char* zone,
                          const char* rack) {
    cluster_.Apply(Added(
        host, {.cpu = 1000,
               .labels = {{"host", host}, {"rack", rack}, {"zone", zone}}}));
  };
  PlacementRules rules;
  rules.spread = {Spread(App("web"), "zone"), Spread(App("web"), "rack")};
  add("a", "y", "p");
  Run(1, "web", kLow, rules);
  add("b", "z", "p");
  add("c", "y", "q");
  for (const uint64_t uid : {2, 3}) Submit(uid, "web", kHigh, rules);
  const std::vector<std::string> told = ReplyInTheEnd();
  EXPECT_THAT(told, Contains("PREEMPT 1 on a"));
  // One of the two may come at once.
  EXPECT_EQ(told.size() + ReplyWithout({1}).size(), 3);
}

TEST_F(PreemptionTurnsTest, ATaskStopsAWholeGangThatItsSpreadCounts) {
  for (const std::string host : {"a", "b", "c"}) Machine(host, 1000, "y");
  Machine("d", 500, "z");
  Submit(1, "gang", kLow, On("a"), {.gang = 2});
  Submit(2, "gang", kLow, On("b"), {.gang = 2});
  ASSERT_THAT(Reply(), SizeIs(2));
  PlacementRules rules;
  rules.spread = {Spread(App("gang"), "zone")};
  Submit(3, "high", kHigh, rules);
  EXPECT_THAT(ReplyInTheEnd(),
              UnorderedElementsAre("PREEMPT 1 on a", "PREEMPT 2 on b"));
}

// There would be room elsewhere, too, but the budget never gives it.
TEST_F(PreemptionTurnsTest, ATaskStopsWhomItAvoidsWhereABudgetLetsIt) {
  Machine("a", 2000, "y");
  const DisruptionBudget one = {
      .limit = DisruptionBudget::Limit::kMaxUnavailable, .amount = 1};
  for (const uint64_t uid : {1, 2}) {
    cluster_.Apply(
        Submitted(uid, {.cpu = 1000, .priority = kLow, .budget = one}));
  }
  ASSERT_THAT(Reply(), SizeIs(2));
  Machine("b", 1000, "z");
  Run(3, "low", kLow);
  Machine("c", 2000, "z");
  Submit(4, "high", kHigh, AwayFrom("low"), {.cpu = 2000});
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 3 on b"));
}

TEST_F(PreemptionTurnsTest, OneOfTwoThatAreSpreadGetsTheRoomThatThereIs) {
  Machine("a", 1500);
  Run(1, "low", kLow);
  PlacementRules rules;
  rules.spread = {Spread(App("high"), "zone")};
  for (const uint64_t uid : {2, 3}) {
    Submit(uid, "high", kHigh, rules, {.cpu = 500});
  }
  EXPECT_THAT(ReplyInTheEnd(),
              UnorderedElementsAre("PREEMPT 1 on a", StartsWith("PLACE")));
}

TEST_F(PreemptionTurnsTest, ThoseThatAreSpreadDoNotLoseTheirRoomToEachOther) {
  Machine("a", 2000);
  for (const uint64_t uid : {1, 2}) Run(uid, "low", kLow);
  PlacementRules rules;
  rules.spread = {Spread(App("high"), "zone")};
  for (const uint64_t uid : {3, 4, 5, 6}) {
    Submit(uid, "high", kHigh, rules, {.cpu = 500});
  }
  ASSERT_THAT(ReplyInTheEnd(), SizeIs(2));
  Submit(7, "low", kLow);
  const std::vector<std::string> told = ReplyWithout({1});
  EXPECT_THAT(told, SizeIs(2));
  EXPECT_THAT(told, Not(Contains(StartsWith("PLACE 7"))));
}

// The other one is placed at once instead, as soon as the stopped one counts no
// more.
TEST_F(PreemptionTurnsTest, NoRoomIsKeptForOneThatItsSpreadHasNoPlaceFor) {
  Machine("a", 3000, "y");
  Machine("full", 100, "z");
  Run(1, "high", kLow);
  PlacementRules rules;
  rules.spread = {Spread(App("high"), "zone")};
  for (const uint64_t uid : {2, 3}) {
    Submit(uid, "high", kHigh, rules, {.cpu = 500});
  }
  EXPECT_THAT(ReplyInTheEnd(),
              UnorderedElementsAre("PREEMPT 1 on a", StartsWith("PLACE")));
  EXPECT_THAT(cluster_.state().nominations().machines(), IsEmpty());
}

TEST_F(PreemptionTurnsTest, ATaskStopsOneOfThoseItMustBeNearForItsSpread) {
  Machine("a", 1500, "y");
  for (const uint64_t uid : {1, 2}) Run(uid, "low", kLow, {}, {.cpu = 500});
  Machine("b", 100, "z");
  PlacementRules rules = Near("low");
  rules.spread = {Spread(App("low"), "zone")};
  Submit(3, "high", kHigh, rules, {.cpu = 500});
  EXPECT_THAT(ReplyInTheEnd(), SizeIs(1));
}

TEST_F(PreemptionTurnsTest, ATaskStopsWhomItAvoidsWhereItsSpreadCountsThem) {
  Machine("a", 1000, "y");
  for (const uint64_t uid : {1, 2}) Run(uid, "low", kLow, {}, {.cpu = 500});
  Machine("b", 500, "z");
  PlacementRules rules = AwayFrom("low", "host");
  rules.spread = {Spread(App("low"), "zone")};
  Submit(3, "high", kHigh, rules);
  EXPECT_THAT(ReplyInTheEnd(),
              UnorderedElementsAre("PREEMPT 1 on a", "PREEMPT 2 on a"));
}

TEST_F(PreemptionTurnsTest, TheOthersOfAClassKeepTheirRoomInItsTurn) {
  Machine("a", 4000, "");
  Machine("b", 6000, "");
  for (const uint64_t uid : {1, 2}) Run(uid, "low", kLow, {}, {.cpu = 3000});
  for (const uint64_t uid : {3, 4}) {
    Submit(uid, "high", kHigh, {}, {.cpu = 4000});
  }
  ASSERT_THAT(ReplyInTheEnd(), SizeIs(2));
  Submit(6, "late", kLow, {}, {.cpu = 3000});
  PlacementRules meek;
  meek.never_preempts = true;
  meek.spread = {Spread(App("high"), "zone")};
  Submit(5, "meek", kHigh, meek, {.cpu = 500});
  EXPECT_THAT(Reply(), IsEmpty());
}

// The one has room at once, but not its company, which needs one of two to go.
TEST_F(PreemptionTurnsTest, NobodyIsStoppedForWhoFollowsCompanyThatIsToCome) {
  Machine("a", 1500);
  for (const uint64_t uid : {1, 2}) Run(uid, "low", kLow, {}, {.cpu = 500});
  Submit(3, "company", kHigh - 1);
  Submit(4, "high", kHigh, Near("company", "host"), {.cpu = 500});
  std::vector<std::string> told;
  for (int i = 0; i < 4; ++i) {
    for (const std::string& one : ReplyInTheEnd()) told.push_back(one);
  }
  EXPECT_THAT(told, ElementsAre("PREEMPT 2 on a"));
}

// In another's turn the gang's room is free to what is more urgent alone.
TEST_F(PreemptionTurnsTest, AGangKeepsItsRoomFromWhatIsLessUrgent) {
  for (const std::string uuid : {"a", "b"}) Machine(uuid, 4000, "");
  Submit(1, "lonely", 5, Near("nobody", "host"), {.cpu = 500});
  for (const uint64_t uid : {2, 3, 4}) Submit(uid, "low", 3, {}, {.cpu = 4000});
  Reply();
  PlacementRules rules;
  rules.spread = {Spread(App("gang"), "host")};
  for (const uint64_t uid : {5, 6, 7, 8})
    Submit(uid, "gang", 4, rules, {.cpu = 500, .gang = 4});
  cluster_.Apply(Submitted(
      9,
      {.cpu = 500, .priority = 5, .job = "half", .labels = {{"app", "gang"}}},
      {.gang = {.minimum = 2}}));
  EXPECT_THAT(ReplyInTheEnd(), SizeIs(2));
  cluster_.Apply(Removed(3));
  for (int i = 0; i < 4; ++i) EXPECT_THAT(Reply(), IsEmpty());
}

TEST_F(PreemptionTurnsTest, RoomThatYieldsIsNotForWhatIsLessUrgent) {
  Machine("a", 12000);
  PlacementRules meek;
  meek.never_preempts = true;
  Run(1, "low", kLow, {}, {.cpu = 500});
  Run(2, "meek", kLow - 1, meek, {.cpu = 500});
  Run(3, "high", kHigh, {}, {.cpu = 6000});
  Submit(4, "high", kHigh, {}, {.cpu = 6000});
  EXPECT_THAT(ReplyInTheEnd(),
              UnorderedElementsAre("PREEMPT 1 on a", "PREEMPT 2 on a"));
  // There is room for it where one has left, and so there is for the next of
  // those.
  Machine("b", 1000);
  Submit(6, "meek", kLow - 1, meek, {.cpu = 500});
  meek.anti_affinity = {{App("high"), "host"}};
  Submit(5, "urgent", kHigh + 1, meek, {.cpu = 800});
  EXPECT_THAT(ReplyWithout({2}), ElementsAre("PLACE 5 on b"));
  EXPECT_THAT(ReplyWithout({1}), ElementsAre("PLACE 4 on a"));
}

// In the successor's turn the packing takes the one that leaves for one that
// stays, and its class has no place but there.
TEST_F(PreemptionTurnsTest, RoomIsKeptFromSuccessorsOfWhomItsTaskKeepsAway) {
  Machine("a", 2000, "y");
  Machine("small", 100, "y");
  Machine("b", 2000, "z");
  Run(1, "low", kLow, On("a", AwayFrom("high")), {.cpu = 500});
  PlacementRules rules;
  rules.spread = {Spread(App("high"), "zone")};
  Run(2, "high", kHigh, rules, {.cpu = 500});
  Submit(3, "high", kHigh, rules, {.cpu = 500});
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 1 on a"));
  Submit(4, "low", kLow, AwayFrom("high"), {.cpu = 500});
  for (const uint64_t uid : {5, 6, 7}) {
    SubmitHopeless(uid, "hopeless", kLow);
    EXPECT_THAT(Reply(), IsEmpty());
  }
  EXPECT_THAT(ReplyWithout({1}), ElementsAre("PLACE 3 on a"));
}

// What it could have elsewhere is of no use to the rest of it alone.
TEST_F(PreemptionTurnsTest, AGangKeepsAllItsRoomInTheTurnOfASuccessor) {
  Machine("a", 1000, "y");
  Machine("small", 100, "y");
  Machine("b", 500, "z");
  Run(1, "low", kLow, On("a", AwayFrom("gang")), {.cpu = 500});
  for (const uint64_t uid : {2, 3, 4}) {
    Submit(uid, "gang", kHigh, {}, {.cpu = 500, .gang = 3});
  }
  ASSERT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 1 on a"));
  Submit(5, "low", kLow, AwayFrom("gang"), {.cpu = 500});
  for (const uint64_t uid : {6, 7, 8}) {
    SubmitHopeless(uid, "hopeless", kLow);
    EXPECT_THAT(Reply(), IsEmpty());
  }
  EXPECT_THAT(ReplyWithout({1}), SizeIs(3));
}

// The second one on a host comes only once each other host has one, which is
// not before those are gone who are to leave there.
TEST_F(PreemptionTurnsTest, WhoWaitsForADomainToRiseKeepsItsRoom) {
  Machine("a", 1000, "");
  Machine("b", 500, "");
  Machine("c", 500, "");
  Run(1, "low", kLow, On("a"));
  Run(2, "low", kLow, On("b"), {.cpu = 500});
  Run(3, "low", kLow, On("c"), {.cpu = 500});
  PlacementRules rules;
  rules.spread = {Spread(App("high"), "host")};
  for (const uint64_t uid : {4, 5, 6, 7}) {
    Submit(uid, "high", kHigh, rules, {.cpu = 500});
  }
  ASSERT_THAT(ReplyInTheEnd(), SizeIs(3));
  Submit(8, "late", kLow, {}, {.cpu = 500});
  const std::vector<std::string> told = ReplyWithout({1, 2});
  EXPECT_THAT(told, SizeIs(2));
  EXPECT_THAT(told, Not(Contains(StartsWith("PLACE 8"))));
  EXPECT_THAT(ReplyWithout({3}), SizeIs(2));
}

// Of what the round placed before it knew of stops, the company is the last to
// be seen to.
TEST_F(PreemptionTurnsTest, CompanyThatHasRoomDoesNotWaitForWhoIsStopped) {
  Machine("a", 2000);
  Run(1, "low", kLow, {}, {.cpu = 500});
  for (const uint64_t uid : {2, 3}) {
    Submit(uid, "near", kHigh, Near("company", "host"), {.cpu = 500});
  }
  Submit(4, "company", kHigh);
  EXPECT_THAT(ReplyInTheEnd(),
              UnorderedElementsAre("PLACE 4 on a", "PLACE 2 on a"));
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 1 on a"));
  EXPECT_THAT(ReplyWithout({1}), ElementsAre("PLACE 3 on a"));
}

}  // namespace
}  // namespace sluice
