// A task that has to be near others, and that is kept out of their zone, comes
// in as those leave that keep it out, wherever in the zone they run.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "unit/round/preemption_fixture.h"

namespace sluice {
namespace {

using testing::AnyOf;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;
using testing::UnorderedElementsAre;

// Two zones of two machines: "y-1" is one of zone "y".
class CompanyPreemptionTest : public PreemptionFixture {
 protected:
  CompanyPreemptionTest() {
    for (const std::string zone : {"y", "z"}) {
      for (const std::string number : {"1", "2"}) {
        Machine(zone + "-" + number, 2000, zone);
      }
    }
  }
  // Company that nobody may stop.
  void RunCompany(uint64_t uid, const std::string& host,
                  const PlacementRules& rules = {}) {
    Run(uid, "company", kHigh, On(host, rules), {.cpu = 1000});
  }
  // The machine of the company is as full as the task wants it.
  void SubmitNear(uint64_t uid, PlacementRules rules = {}, Size size = {2000}) {
    rules.affinity = {{App("company"), "zone"}};
    Submit(uid, "me", kHigh, rules, size);
  }
  std::vector<std::string> ReplyManyTimes() {
    std::vector<std::string> all;
    for (int i = 0; i < 8; ++i) {
      for (const std::string& one : ReplyInTheEnd()) all.push_back(one);
    }
    return all;
  }
};

TEST_F(CompanyPreemptionTest, StopsWhoKeepsItOutOnAnotherMachine) {
  RunCompany(1, "y-1");
  Run(2, "shy", kLow, On("y-1", AwayFrom("me")), {.cpu = 500});
  SubmitNear(3);
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 2 on y-1"));
  EXPECT_EQ(cluster_.state().nominations().machines().size(), 1);
  EXPECT_THAT(ReplyManyTimes(), IsEmpty()) << "until it is gone";
  EXPECT_THAT(ReplyWithout({2}), ElementsAre("PLACE 3 on y-2"));
  EXPECT_THAT(ReplyManyTimes(), IsEmpty());
}

// Where the whole cluster is one domain.
TEST_F(CompanyPreemptionTest, StopsWhoKeepsItOutOfTheCluster) {
  RunCompany(1, "y-1");
  PlacementRules shy;
  shy.anti_affinity = {{App("me"), "*"}};
  Run(2, "shy", kLow, On("z-2", shy), {.cpu = 500});
  SubmitNear(3);
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 2 on z-2"));
  EXPECT_THAT(ReplyWithout({2}), ElementsAre("PLACE 3 on y-2"));
  EXPECT_THAT(ReplyManyTimes(), IsEmpty());
}

TEST_F(CompanyPreemptionTest, StopsWhomItAvoidsOnAnotherMachine) {
  RunCompany(1, "y-1");
  Run(2, "low", kLow, On("y-1"), {.cpu = 500});
  SubmitNear(3, AwayFrom("low"));
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 2 on y-1"));
  EXPECT_THAT(ReplyWithout({2}), ElementsAre("PLACE 3 on y-2"));
  EXPECT_THAT(ReplyManyTimes(), IsEmpty());
}

TEST_F(CompanyPreemptionTest, StopsThoseOnAllMachinesOfTheZone) {
  RunCompany(1, "y-1");
  Run(2, "shy", kLow, On("y-1", AwayFrom("me")), {.cpu = 500});
  Run(3, "low", kLow, On("y-2"), {.cpu = 500});
  Run(4, "other", kLow, On("y-2"), {.cpu = 500});
  SubmitNear(5, AwayFrom("low"), {.cpu = 1500});
  EXPECT_THAT(ReplyInTheEnd(),
              UnorderedElementsAre("PREEMPT 2 on y-1", "PREEMPT 3 on y-2"));
  EXPECT_THAT(ReplyWithout({2}), IsEmpty());
  EXPECT_THAT(ReplyWithout({3}), ElementsAre("PLACE 5 on y-2"));
}

// It would have room there once they are gone, but no company.
TEST_F(CompanyPreemptionTest, LeavesThoseAloneInAZoneWithoutItsCompany) {
  RunCompany(1, "y-1");
  Run(2, "shy", kHigh, On("y-1", AwayFrom("me")), {.cpu = 500});
  Run(3, "shy", kLow, On("z-1", AwayFrom("me")), {.cpu = 500});
  SubmitNear(4);
  EXPECT_THAT(ReplyManyTimes(), IsEmpty());
}

TEST_F(CompanyPreemptionTest, LeavesThoseAloneThatAreNoLessUrgent) {
  RunCompany(1, "y-1");
  Run(2, "shy", kHigh, On("y-1", AwayFrom("me")), {.cpu = 500});
  Run(3, "shy", kLow, On("y-2", AwayFrom("me")), {.cpu = 500});
  SubmitNear(4);
  EXPECT_THAT(ReplyManyTimes(), IsEmpty());
}

TEST_F(CompanyPreemptionTest, LeavesThoseAloneThatABudgetProtects) {
  RunCompany(1, "y-1");
  const DisruptionBudget one = {
      .limit = DisruptionBudget::Limit::kMaxUnavailable, .amount = 1};
  for (const uint64_t uid : {2, 3}) {
    cluster_.Apply(Submitted(uid,
                             {.cpu = 500,
                              .priority = kLow,
                              .job = "shy",
                              .labels = {{"app", "shy"}},
                              .rules = On("y-1", AwayFrom("me")),
                              .budget = one},
                             PeerOptions()));
  }
  ASSERT_THAT(Reply(), SizeIs(2));
  SubmitNear(4);
  EXPECT_THAT(ReplyManyTimes(), IsEmpty()) << "both would have to go";
}

TEST_F(CompanyPreemptionTest, StopsOneThatABudgetLetsGo) {
  RunCompany(1, "y-1");
  const DisruptionBudget one = {
      .limit = DisruptionBudget::Limit::kMaxUnavailable, .amount = 1};
  for (const uint64_t uid : {2, 3}) {
    cluster_.Apply(
        Submitted(uid,
                  {.cpu = 500,
                   .priority = kLow,
                   .job = "shy",
                   .labels = {{"app", "shy"}},
                   .rules = On(uid == 2 ? "y-1" : "z-1", AwayFrom("me")),
                   .budget = one},
                  PeerOptions()));
  }
  ASSERT_THAT(Reply(), SizeIs(2));
  SubmitNear(4);
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 2 on y-1"));
}

// One of those that it has to be near is in its way, too.
TEST_F(CompanyPreemptionTest, StopsCompanyWhereOtherCompanyStays) {
  RunCompany(1, "y-1");
  Run(2, "company", kLow, On("y-1", AwayFrom("me")), {.cpu = 500});
  SubmitNear(3);
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 2 on y-1"));
  EXPECT_THAT(ReplyWithout({2}), ElementsAre("PLACE 3 on y-2"));
}

// Of the two the more urgent would stay, but for that it keeps it out.
TEST_F(CompanyPreemptionTest, KeepsTheCompanyThatLetsItIn) {
  Run(1, "company", kLow - 1, On("y-1"), {.cpu = 1000});
  Run(2, "company", kLow, On("y-1", AwayFrom("me")), {.cpu = 500});
  SubmitNear(3);
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 2 on y-1"));
  EXPECT_THAT(ReplyWithout({2}), ElementsAre("PLACE 3 on y-2"));
}

TEST_F(CompanyPreemptionTest, LeavesTheOnlyCompanyAlone) {
  Run(1, "company", kLow, On("y-1", AwayFrom("me")), {.cpu = 500});
  SubmitNear(2);
  EXPECT_THAT(ReplyManyTimes(), IsEmpty());
}

TEST_F(CompanyPreemptionTest, LeavesCompanyAloneThatAllKeepsItOut) {
  for (const uint64_t uid : {1, 2}) {
    Run(uid, "company", kLow, On("y-1", AwayFrom("me")), {.cpu = 500});
  }
  SubmitNear(3);
  EXPECT_THAT(ReplyManyTimes(), IsEmpty());
}

// It counts as company until it is gone, and the task could come only later.
TEST_F(CompanyPreemptionTest, StopsNobodyForCompanyThatLeaves) {
  Run(1, "company", kLow, On("y-1"), {.cpu = 2000});
  Submit(2, "large", kHigh, On("y-1"), {.cpu = 2000});
  ASSERT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 1 on y-1"));
  Run(3, "shy", kLow, On("y-2", AwayFrom("me")), {.cpu = 500});
  SubmitNear(4, {}, {.cpu = 1000});
  EXPECT_THAT(ReplyManyTimes(), IsEmpty());
}

TEST_F(CompanyPreemptionTest, StopsAGangAsAWhole) {
  RunCompany(1, "y-1");
  for (const uint64_t uid : {2, 3}) {
    Submit(uid, "gang", kLow, On(uid == 2 ? "y-1" : "z-1", AwayFrom("me")),
           {.cpu = 500, .gang = 2});
  }
  ASSERT_THAT(Reply(), SizeIs(2));
  SubmitNear(4);
  EXPECT_THAT(ReplyInTheEnd(),
              UnorderedElementsAre("PREEMPT 2 on y-1", "PREEMPT 3 on z-1"));
  EXPECT_THAT(ReplyWithout({2, 3}), Contains("PLACE 4 on y-2"));
}

TEST_F(CompanyPreemptionTest, StopsAGangDownToItsMinimum) {
  RunCompany(1, "y-1");
  for (const uint64_t uid : {2, 3, 4}) {
    Submit(uid, "gang", kLow, On(uid == 2 ? "y-1" : "z-1", AwayFrom("me")),
           {.cpu = 500, .gang = 2});
  }
  ASSERT_THAT(Reply(), SizeIs(3));
  SubmitNear(5);
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 2 on y-1"));
}

TEST_F(CompanyPreemptionTest, LeavesAGangAloneOfWhichOneMayNotGo) {
  RunCompany(1, "y-1");
  for (const uint64_t uid : {2, 3}) {
    Submit(uid, "gang", uid == 2 ? kLow : kHigh,
           On(uid == 2 ? "y-1" : "z-1", AwayFrom("me")),
           {.cpu = 500, .gang = 2});
  }
  ASSERT_THAT(Reply(), SizeIs(2));
  SubmitNear(4);
  EXPECT_THAT(ReplyManyTimes(), IsEmpty());
}

TEST_F(CompanyPreemptionTest, TakesTheZoneOfTheFewest) {
  RunCompany(1, "y-1");
  RunCompany(2, "z-1");
  for (const uint64_t uid : {3, 4}) {
    Run(uid, "shy", kLow, On("y-1", AwayFrom("me")), {.cpu = 300});
  }
  Run(5, "shy", kLow, On("z-1", AwayFrom("me")), {.cpu = 300});
  SubmitNear(6);
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 5 on z-1"));
  EXPECT_THAT(ReplyWithout({5}), ElementsAre("PLACE 6 on z-2"));
}

TEST_F(CompanyPreemptionTest, TakesTheZoneOfTheLeastUrgent) {
  RunCompany(1, "y-1");
  RunCompany(2, "z-1");
  Run(3, "shy", kLow + 1, On("z-1", AwayFrom("me")), {.cpu = 300});
  for (const uint64_t uid : {4, 5}) {
    Run(uid, "shy", kLow, On("y-1", AwayFrom("me")), {.cpu = 300});
  }
  SubmitNear(6);
  EXPECT_THAT(ReplyInTheEnd(),
              UnorderedElementsAre("PREEMPT 4 on y-1", "PREEMPT 5 on y-1"));
}

TEST_F(CompanyPreemptionTest, MakesRoomOnItsMachineAsWell) {
  RunCompany(1, "y-1");
  Run(2, "shy", kLow, On("y-1", AwayFrom("me")), {.cpu = 500});
  Run(3, "low", kLow, On("y-2"), {.cpu = 500});
  SubmitNear(4);
  EXPECT_THAT(ReplyInTheEnd(),
              UnorderedElementsAre("PREEMPT 2 on y-1", "PREEMPT 3 on y-2"));
  EXPECT_THAT(ReplyWithout({3}), IsEmpty()) << "there is room, but no way in";
  EXPECT_THAT(ReplyWithout({2}), ElementsAre("PLACE 4 on y-2"));
}

TEST_F(CompanyPreemptionTest, StopsNobodyElsewhereForWhomThereIsNoRoom) {
  RunCompany(1, "y-1");
  Run(2, "shy", kLow, On("y-1", AwayFrom("me")), {.cpu = 500});
  Run(3, "full", kHigh, On("y-2"), {.cpu = 1000});
  SubmitNear(4);
  EXPECT_THAT(ReplyManyTimes(), IsEmpty());
}

TEST_F(CompanyPreemptionTest, StopsNobodyWhereItHasAnotherZone) {
  RunCompany(1, "y-1");
  Run(2, "shy", kLow, On("y-1", AwayFrom("me")), {.cpu = 500});
  RunCompany(3, "z-1");
  SubmitNear(4);
  EXPECT_THAT(ReplyManyTimes(), ElementsAre("PLACE 4 on z-2"));
}

// All whom the rule means have it, so that a packing has a row for each zone.
TEST_F(CompanyPreemptionTest, StopsOneOfItsKindWhereAZoneTakesOne) {
  RunCompany(1, "y-1");
  Run(2, "me", kLow, On("y-1", AwayFrom("me")), {.cpu = 500});
  SubmitNear(3, AwayFrom("me"));
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 2 on y-1"));
  EXPECT_THAT(ReplyWithout({2}), ElementsAre("PLACE 3 on y-2"));
}

// Its company is on the machine, which a packing heeds in any round.
TEST_F(CompanyPreemptionTest, StopsThoseForOneThatShareItsCompanysMachine) {
  RunCompany(1, "y-1");
  Run(2, "shy", kLow, On("y-2", AwayFrom("me")), {.cpu = 500});
  Submit(3, "me", kHigh, Near("company", "host"));
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 2 on y-2"));
  EXPECT_THAT(ReplyWithout({2}), ElementsAre("PLACE 3 on y-1"));
  EXPECT_THAT(ReplyManyTimes(), IsEmpty());
}

TEST_F(CompanyPreemptionTest, StopsThoseForSeveralOneByOne) {
  RunCompany(1, "y-1");
  RunCompany(2, "z-1");
  PlacementRules shy = AwayFrom("me");
  for (const uint64_t uid : {3, 4}) {
    Run(uid, "shy", kLow, On(uid == 3 ? "y-1" : "z-1", shy), {.cpu = 500});
  }
  for (const uint64_t uid : {5, 6}) SubmitNear(uid);
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 4 on z-1"));
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 3 on y-1"));
  EXPECT_THAT(ReplyWithout({4}), ElementsAre("PLACE 5 on z-2"));
  EXPECT_THAT(ReplyWithout({3}), ElementsAre("PLACE 6 on y-2"));
}

TEST_F(CompanyPreemptionTest, KeepsItsRoomFromASuccessorOfWhoLeaves) {
  RunCompany(1, "y-1");
  Run(2, "shy", kLow, On("y-1", AwayFrom("me")), {.cpu = 500});
  SubmitNear(3);
  ASSERT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 2 on y-1"));
  Submit(4, "shy", kLow, On("y-1", AwayFrom("me")), {.cpu = 500});
  EXPECT_THAT(ReplyWithout({2}), ElementsAre("PLACE 3 on y-2"));
  EXPECT_THAT(ReplyManyTimes(), Not(Contains(StartsWith("PLACE 4"))));
}

TEST_F(CompanyPreemptionTest, KeepsNoRoomOnceItsCompanyIsGone) {
  RunCompany(1, "y-1");
  Run(2, "shy", kLow, On("y-1", AwayFrom("me")), {.cpu = 500});
  SubmitNear(3);
  ASSERT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 2 on y-1"));
  EXPECT_THAT(ReplyWithout({1, 2}), IsEmpty());
  EXPECT_THAT(cluster_.state().nominations().machines(), IsEmpty());
}

}  // namespace
}  // namespace sluice
