// Tasks that take the place of others (PlacementRules::replaces).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "util/peer_builder.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr uint64_t kFormer = 1;
constexpr uint64_t kNewcomer = 2;

PlacementRules InPlaceOf(uint64_t uid) {
  PlacementRules rules;
  rules.replaces = TaskUid{uid};
  return rules;
}

PlacementRules InsteadOf(uint64_t uid) {
  PlacementRules rules = InPlaceOf(uid);
  rules.replaces_anywhere = true;
  return rules;
}

// The former task runs on m and fills it.
class ReplaceTest : public testing::Test {
 protected:
  explicit ReplaceTest(const RoundOptions& options = {}) : cluster_(options) {}
  void SetUp() override {
    cluster_.Apply(Added("m", {.cpu = 1000}));
    cluster_.Apply(Submitted(kFormer, {.cpu = 1000}));
    cluster_.Round();
    cluster_.Deliver();
  }
  void TearDown() override {
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
  }
  // A round and its reply: "PLACE 1 on m".
  std::vector<std::string> Reply() { return cluster_.Reply(0); }
  void SubmitNewcomer(int64_t cpu, const PlacementRules& rules,
                      uint64_t uid = kNewcomer) {
    cluster_.Apply(Submitted(uid, {.cpu = cpu, .rules = rules}));
  }
  bool IsToldToLeave(uint64_t uid) const {
    return cluster_.TaskOf(uid).is_evicted;
  }
  TestScheduler cluster_;
};

TEST_F(ReplaceTest, StopsTheFormerAndPlacesTheNewcomerInOneReply) {
  cluster_.Apply(Added("free", {.cpu = 1000}));
  SubmitNewcomer(1000, InPlaceOf(kFormer));
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 1 on m", "PLACE 2 on m"));
  EXPECT_EQ(cluster_.scheduler().round_stats().placed, 1);
  EXPECT_THAT(Reply(), IsEmpty()) << "once";
}

TEST_F(ReplaceTest, LeavesNoRoomUntilTheFormerIsGone) {
  SubmitNewcomer(600, InPlaceOf(kFormer));
  Reply();
  SubmitNewcomer(400, {}, 3);
  EXPECT_THAT(Reply(), IsEmpty()) << "the former one still runs";
  cluster_.Apply(Failed(kFormer));
  EXPECT_THAT(Reply(), ElementsAre("PLACE 3 on m"));
  EXPECT_EQ(cluster_.state().FindMachine("m")->used[kCpu], 1000);
}

TEST_F(ReplaceTest, StopsNothingWhereTheNewcomerDoesNotFitEvenThen) {
  SubmitNewcomer(1001, InPlaceOf(kFormer));
  EXPECT_THAT(Reply(), IsEmpty());
  EXPECT_FALSE(IsToldToLeave(kFormer));
}

TEST_F(ReplaceTest, StopsNothingWhereTheRulesForbidThePlace) {
  cluster_.Apply(Added("ssd", {.cpu = 1000, .labels = {{"disk", "ssd"}}}));
  PlacementRules rules = InPlaceOf(kFormer);
  rules.selectors = {LabelIn("disk", {"ssd"})};
  SubmitNewcomer(1000, rules);
  EXPECT_THAT(Reply(), IsEmpty());
  EXPECT_FALSE(IsToldToLeave(kFormer));
  cluster_.Apply(Removed(kFormer));
  EXPECT_THAT(Reply(), ElementsAre("PLACE 2 on ssd")) << "as any other";
}

TEST_F(ReplaceTest, GoesElsewhereWhereItMayAndTheFormerIsStoppedThen) {
  SubmitNewcomer(1001, InsteadOf(kFormer));
  EXPECT_THAT(Reply(), IsEmpty());
  EXPECT_FALSE(IsToldToLeave(kFormer)) << "it has no place yet";
  cluster_.Apply(Added("large", {.cpu = 2000}));
  EXPECT_THAT(Reply(), ElementsAre("PLACE 2 on large", "PREEMPT 1 on m"));
  EXPECT_THAT(Reply(), IsEmpty());
}

TEST_F(ReplaceTest, TakesThePlaceWhereItMayGoElsewhere) {
  cluster_.Apply(Added("free", {.cpu = 1000}));
  SubmitNewcomer(1000, InsteadOf(kFormer));
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 1 on m", "PLACE 2 on m"));
}

TEST_F(ReplaceTest, RunsAloneOfTwoThatWait) {
  cluster_.Apply(
      Submitted(3, {.cpu = 600, .rules = {.selectors = {LabelExists("no")}}}));
  cluster_.Apply(Added("free", {.cpu = 2000}));
  SubmitNewcomer(600, InPlaceOf(3), 4);
  EXPECT_THAT(Reply(), ElementsAre("PLACE 4 on free"));
  cluster_.Apply(Updated(3, {.cpu = 600}));
  EXPECT_THAT(Reply(), IsEmpty()) << "4 runs in its place";
  cluster_.Apply(Completed(4));
  EXPECT_THAT(Reply(), ElementsAre("PLACE 3 on free"));
}

// Whichever comes first, and whatever takes the place of the newcomer.
TEST_F(ReplaceTest, RunsTheLastOfAChain) {
  cluster_.Apply(Added("free", {.cpu = 9000}));
  SubmitNewcomer(600, InPlaceOf(11), 10);
  SubmitNewcomer(600, InPlaceOf(12), 11);
  SubmitNewcomer(600, {}, 12);
  EXPECT_THAT(Reply(), ElementsAre("PLACE 10 on free"));
  cluster_.Apply(Removed(10));
  EXPECT_THAT(Reply(), ElementsAre("PLACE 11 on free"));
}

TEST_F(ReplaceTest, RunsTheNewestOfACircle) {
  cluster_.Apply(Added("free", {.cpu = 9000}));
  SubmitNewcomer(600, InPlaceOf(11), 10);
  SubmitNewcomer(600, InPlaceOf(12), 11);
  SubmitNewcomer(600, InPlaceOf(10), 12);
  EXPECT_THAT(Reply(), ElementsAre("PLACE 12 on free"));
  EXPECT_THAT(Reply(), IsEmpty());
  cluster_.Apply(Removed(12));
  EXPECT_THAT(Reply(), ElementsAre("PLACE 10 on free"));
}

TEST_F(ReplaceTest, StopsNothingWhereOthersForbidThePlace) {
  cluster_.Apply(Added("n", {.cpu = 1000, .labels = {{"zone", "a"}}}));
  cluster_.Apply(Updated("m", {.cpu = 1000, .labels = {{"zone", "a"}}}));
  cluster_.Apply(Added("o", {.cpu = 1000}));
  cluster_.Apply(Submitted(3,
                           {.cpu = 1000,
                            .labels = {{"app", "db"}},
                            .rules = {.selectors = {LabelExists("zone")}}},
                           PeerOptions()));
  EXPECT_THAT(Reply(), ElementsAre("PLACE 3 on n"));
  PlacementRules rules = InPlaceOf(kFormer);
  rules.anti_affinity = {{App("db"), "zone"}};
  cluster_.Apply(
      Submitted(kNewcomer, {.cpu = 1000, .rules = rules}, PeerOptions()));
  EXPECT_THAT(Reply(), IsEmpty());
  EXPECT_FALSE(IsToldToLeave(kFormer));
  rules.replaces_anywhere = true;
  cluster_.Apply(Submitted(4, {.cpu = 1000, .rules = rules}, PeerOptions()));
  EXPECT_THAT(Reply(), ElementsAre("PLACE 4 on o", "PREEMPT 1 on m"));
}

TEST_F(ReplaceTest, TakesItsPortsToo) {
  cluster_.Apply(Added("n", {.cpu = 1000}));
  cluster_.Apply(
      Submitted(3, {.cpu = 1, .rules = {.host_ports = {TcpPort(80)}}}));
  EXPECT_THAT(Reply(), ElementsAre("PLACE 3 on n"));
  PlacementRules rules = InPlaceOf(3);
  rules.host_ports = {TcpPort(80)};
  SubmitNewcomer(1, rules);
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 3 on n", "PLACE 2 on n"));
}

TEST_F(ReplaceTest, IsPlacedAsAnyTaskWhereThereIsNothingToReplace) {
  cluster_.Apply(Added("free", {.cpu = 1000}));
  cluster_.Apply(Submitted(3, {.cpu = 5000}));
  const struct {
    const char* what;
    uint64_t replaced;
  } rows[] = {{"unknown", 99}, {"waits", 3}, {"itself", 12}};
  uint64_t uid = 10;
  for (const auto& row : rows) {
    SubmitNewcomer(100, InPlaceOf(row.replaced), uid);
    EXPECT_THAT(Reply(), ElementsAre(StrCat("PLACE ", uid, " on free")))
        << row.what;
    ++uid;
  }
  cluster_.Apply(Completed(kFormer));
  SubmitNewcomer(1000, InPlaceOf(kFormer), uid);
  EXPECT_THAT(Reply(), ElementsAre(StrCat("PLACE ", uid, " on m")))
      << "it has ended";
}

// A new version of what keeps away from itself.
TEST_F(ReplaceTest, DoesNotMindTheFormer) {
  const PeerTerm itself = {App("db"), ""};
  const SpreadConstraint spread = {.term = itself};
  const PlacementRules rows[] = {{.anti_affinity = {itself}},
                                 {.spread = {spread}}};
  cluster_.Apply(Added("free", {.cpu = 1000}));
  uint64_t uid = 10;
  for (PlacementRules rules : rows) {
    rules.selectors = {LabelExists("db")};
    const std::string machine = StrCat("db", uid);
    cluster_.Apply(Added(machine, {.cpu = 1000, .labels = {{"db", machine}}}));
    const auto submit = [&] {
      cluster_.Apply(
          Submitted(uid, {.cpu = 10, .labels = {{"app", "db"}}, .rules = rules},
                    PeerOptions()));
    };
    submit();
    EXPECT_THAT(Reply(), ElementsAre(StrCat("PLACE ", uid, " on ", machine)));
    rules.replaces = TaskUid{uid++};
    submit();
    EXPECT_THAT(Reply(),
                ElementsAre(StrCat("PREEMPT ", uid - 1, " on ", machine),
                            StrCat("PLACE ", uid, " on ", machine)));
    ++uid;
  }
}

TEST_F(ReplaceTest, CannotBeNearTheFormerAlone) {
  cluster_.Apply(Added("n", {.cpu = 1000}));
  cluster_.Apply(
      Submitted(3, {.cpu = 10, .labels = {{"app", "db"}}}, PeerOptions()));
  EXPECT_THAT(Reply(), ElementsAre("PLACE 3 on n"));
  PlacementRules rules = InPlaceOf(3);
  rules.affinity = {{App("db"), ""}};
  cluster_.Apply(
      Submitted(kNewcomer, {.cpu = 990, .rules = rules}, PeerOptions()));
  EXPECT_THAT(Reply(), IsEmpty());
  EXPECT_FALSE(IsToldToLeave(3));
}

TEST_F(ReplaceTest, SendsBackTheFormerThatNobodyKnowsOf) {
  cluster_.Apply(Added("free", {.cpu = 1000}));
  cluster_.Apply(Submitted(3, {.cpu = 600}));
  cluster_.Round();
  SubmitNewcomer(600, InPlaceOf(3), 10);
  EXPECT_THAT(Reply(), ElementsAre("PLACE 10 on free"));
  EXPECT_EQ(cluster_.MachineOf(3), "");
  cluster_.Apply(Added("other", {.cpu = 1000}));
  EXPECT_THAT(Reply(), IsEmpty()) << "10 runs in its place";
  cluster_.Apply(Removed(10));
  EXPECT_THAT(Reply(), SizeIs(1));
  EXPECT_NE(cluster_.MachineOf(3), "");
}

TEST_F(ReplaceTest, LeavesAloneWhatCannotBeStopped) {
  cluster_.Apply(Added("free", {.cpu = 1000}));
  cluster_.Apply(Submitted(3, {.cpu = 100}));
  cluster_.Round();
  cluster_.replies().Take(kReplyBytesMax);  // On its way.
  SubmitNewcomer(100, InPlaceOf(3), 11);
  cluster_.Round();
  EXPECT_FALSE(IsToldToLeave(3));
  cluster_.replies().End(/*is_delivered=*/true);
  cluster_.Deliver();
  SubmitNewcomer(100, InPlaceOf(3), 12);
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 3 on free", "PLACE 11 on free"));
  SubmitNewcomer(100, InPlaceOf(3), 13);
  EXPECT_THAT(Reply(), IsEmpty()) << "it is told to leave already";
  cluster_.Apply(Removed(3));
  EXPECT_THAT(Reply(), ElementsAre("PLACE 12 on free", "PLACE 13 on free"));
}

TEST_F(ReplaceTest, GivesOnePlaceToOneOfSeveral) {
  cluster_.Apply(Added("free", {.cpu = 1000}));
  SubmitNewcomer(1000, InPlaceOf(kFormer), 2);
  SubmitNewcomer(1000, InPlaceOf(kFormer), 3);
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 1 on m", "PLACE 2 on m"));
  cluster_.Apply(Removed(kFormer));
  EXPECT_THAT(Reply(), ElementsAre("PLACE 3 on free"));
}

TEST_F(ReplaceTest, IsUndoneWhereTheMachineDepartsBeforeItIsTold) {
  SubmitNewcomer(1000, InPlaceOf(kFormer));
  cluster_.Round();
  ASSERT_TRUE(IsToldToLeave(kFormer));
  cluster_.Apply(Removed("m"));
  EXPECT_FALSE(IsToldToLeave(kFormer));
  EXPECT_EQ(cluster_.MachineOf(kFormer), "m");
  EXPECT_EQ(cluster_.MachineOf(kNewcomer), "");
  EXPECT_THAT(Reply(), IsEmpty());
}

// One of a gang does not go ahead of the others.
TEST_F(ReplaceTest, WaitsForItsGang) {
  cluster_.Apply(Submitted(
      kNewcomer, {.cpu = 1000, .job = "gang", .rules = InPlaceOf(kFormer)},
      {.gang = {.minimum = 2}}));
  EXPECT_THAT(Reply(), IsEmpty());
  EXPECT_FALSE(IsToldToLeave(kFormer));
}

TEST_F(ReplaceTest, GoesWhereItsGangGoesAndTheFormerIsStoppedThen) {
  cluster_.Apply(Added("free", {.cpu = 2000}));
  for (const uint64_t uid : {2, 3}) {
    cluster_.Apply(Submitted(
        uid, {.cpu = 1000, .job = "gang", .rules = InPlaceOf(kFormer)},
        {.gang = {.minimum = 2}}));
  }
  EXPECT_THAT(Reply(), ElementsAre("PLACE 2 on free", "PLACE 3 on free",
                                   "PREEMPT 1 on m"));
}

// What has taken a place is not taken back for another: its former leaves.
TEST_F(ReplaceTest, KeepsThePlaceThatItTook) {
  cluster_.Apply(Added("n", {.cpu = 2200}));
  cluster_.Apply(
      Submitted(3, {.cpu = 500, .rules = {.selectors = {LabelExists("no")}}}));
  cluster_.Apply(Submitted(4, {.cpu = 500}));
  ASSERT_THAT(Reply(), ElementsAre("PLACE 4 on n"));
  SubmitNewcomer(1300, InPlaceOf(4), 5);
  cluster_.Apply(Submitted(6, {.cpu = 1000, .priority = 5}));
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 4 on n", "PLACE 5 on n"));
}

// Room that is kept for the former does not have it placed first.
TEST_F(ReplaceTest, IsPlacedRatherThanAFormerThatRoomIsKeptFor) {
  cluster_.Apply(Submitted(3, {.cpu = 1000}));
  cluster_.eligibility();
  cluster_.mutable_state().Nominate({3}, cluster_.state().FindMachine("m")->id);
  SubmitNewcomer(1000, InPlaceOf(3), 4);
  cluster_.Apply(Completed(kFormer));
  EXPECT_THAT(Reply(), ElementsAre("PLACE 4 on m"));
}

class ReplaceAndRunAgainTest : public ReplaceTest {
 protected:
  ReplaceAndRunAgainTest() : ReplaceTest({.requeues = {.evicted = true}}) {}
};

// It keeps its age, and would otherwise come back beside the newcomer.
TEST_F(ReplaceAndRunAgainTest, LeavesTheFormerWaiting) {
  SubmitNewcomer(1000, InPlaceOf(kFormer));
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 1 on m", "PLACE 2 on m"));
  cluster_.Deliver();
  cluster_.Apply(Failed(kFormer));
  cluster_.Apply(Added("free", {.cpu = 1000}));
  EXPECT_THAT(Reply(), IsEmpty());
  EXPECT_EQ(cluster_.TaskOf(kFormer).state, TaskState::kPending);
  cluster_.Apply(Completed(kNewcomer));
  EXPECT_THAT(Reply(), SizeIs(1));
  EXPECT_NE(cluster_.MachineOf(kFormer), "");
}

}  // namespace
}  // namespace sluice
