#include "state/announcements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "unit/state/state_fixture.h"

namespace sluice {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

class AnnouncementsTest : public StateTest {
 protected:
  void SetUp() override {
    for (const char* uuid : {"m", "n"}) Announce(uuid);
    for (uint64_t uid = 1; uid <= 3; ++uid) Do(Pod(uid, StrCat("ns/", uid)));
    Run(1, "m");
  }
  static SubmitTask Pod(uint64_t uid, const std::string& name) {
    return Submitted(uid, {.cpu = 100, .name = name});
  }
  Ack Announce(const std::string& uuid) {
    AddMachine add = Added(uuid, {.cpu = 1000});
    add.may_begin_anew = true;
    return Do(add);
  }
};

TEST_F(AnnouncementsTest, MakeAllStaleThatIsNotMentionedAgain) {
  Do(BeginAnnouncement(), 77);
  EXPECT_EQ(state_.counters().announcement_ms, 77);
  EXPECT_EQ(state_.pending_count(), 0);
  EXPECT_THAT(state_.unscheduled(), IsEmpty());
  EXPECT_FALSE(MachineOf("m").IsUsable());
  EXPECT_TRUE(MachineOf("m").IsSound());
  EXPECT_EQ(Announce("m"), Ack::kAlreadyExists);
  EXPECT_TRUE(MachineOf("m").IsUsable());
  EXPECT_FALSE(MachineOf("n").IsUsable());
  Do(Pod(2, "ns/2"));
  EXPECT_TRUE(IsWaiting(2));
  EXPECT_FALSE(IsWaiting(3));
  EXPECT_TRUE(TaskOf(1).client.is_stale);
  EXPECT_EQ(UsedCpu("m"), 100) << "it may run";
}

TEST_F(AnnouncementsTest, MakeNothingStaleAsLongAsTheyAreOnlyExpected) {
  Do(BeginAnnouncement{.is_certain = false}, 77);
  Do(Added("new", {.cpu = 1000}));
  Do(Pod(4, "ns/4"));
  Do(Updated(2, {.cpu = 50, .name = "ns/2"}));
  EXPECT_EQ(state_.pending_count(), 3);
  EXPECT_EQ(Announce("m"), Ack::kAlreadyExists);
  EXPECT_TRUE(MachineOf("m").IsUsable());
  EXPECT_FALSE(MachineOf("n").IsUsable());
  EXPECT_TRUE(MachineOf("new").IsUsable());
  EXPECT_FALSE(TaskOf(4).client.is_stale);
  EXPECT_TRUE(TaskOf(3).client.is_stale);
}

TEST_F(AnnouncementsTest, BeginByATaskThatIsKnownByItsName) {
  Do(BeginAnnouncement{.is_certain = false});
  Do(Pod(9, "ns/3"));
  EXPECT_FALSE(TaskOf(9).client.is_stale);
  EXPECT_TRUE(TaskOf(2).client.is_stale);
}

TEST_F(AnnouncementsTest, MakeNothingStaleIfTheyAreExpectedInVain) {
  Do(BeginAnnouncement{.is_certain = false});
  Do(EndAnnouncement());
  Do(Pod(1, "ns/1"));
  EXPECT_TRUE(MachineOf("n").IsUsable());
  EXPECT_FALSE(TaskOf(2).client.is_stale);
  Announce("m");
  EXPECT_FALSE(MachineOf("n").IsUsable()) << "now a client says so itself";
  EXPECT_TRUE(TaskOf(2).client.is_stale);
}

// It has not come to everything yet.
TEST_F(AnnouncementsTest, GoOnWhileAnotherOneIsExpected) {
  Announce("m");
  Do(BeginAnnouncement{.is_certain = false});
  Announce("n");
  Do(Pod(2, "ns/2"));
  EXPECT_TRUE(MachineOf("m").IsUsable());
  EXPECT_TRUE(MachineOf("n").IsUsable());
  Do(EndAnnouncement());
  EXPECT_TRUE(state_.counters().former_stale_below.has_value())
      << "only the expectation is over";
  Do(EndAnnouncement());
  EXPECT_FALSE(state_.counters().former_stale_below.has_value());
  EXPECT_TRUE(TaskOf(3).client.is_stale);
}

TEST_F(AnnouncementsTest, BeginAgainIfWhatTheLastOneMentionedIsMentioned) {
  Announce("m");
  Do(BeginAnnouncement{.is_certain = false});
  Do(Pod(4, "ns/4"));
  Announce("m");
  EXPECT_TRUE(MachineOf("m").IsUsable());
  EXPECT_FALSE(TaskOf(4).client.is_stale);
  EXPECT_FALSE(MachineOf("n").IsUsable());
}

TEST_F(AnnouncementsTest, AreNotExpectedWhereNothingIsToBeAnnounced) {
  for (const char* uuid : {"m", "n"}) Do(Removed(uuid));
  for (uint64_t uid = 1; uid <= 3; ++uid) Do(Removed(uid));
  Do(BeginAnnouncement{.is_certain = false});
  EXPECT_FALSE(state_.counters().is_announcement_expected);
}

TEST_F(AnnouncementsTest, BeginWhereAMachineIsAnnouncedTwice) {
  Announce("m");
  EXPECT_TRUE(MachineOf("m").IsUsable());
  EXPECT_FALSE(MachineOf("n").IsUsable());
  Announce("n");
  EXPECT_TRUE(MachineOf("m").IsUsable());
  EXPECT_EQ(state_.counters().announcement, 1u);
  Announce("n");
  EXPECT_EQ(state_.counters().announcement, 2u);
}

TEST_F(AnnouncementsTest, DoNotBeginWhereAKnownMachineSaysNothing) {
  EXPECT_EQ(Do(Added("m", {.cpu = 1000})), Ack::kAlreadyExists);
  EXPECT_TRUE(MachineOf("n").IsUsable());
}

TEST_F(AnnouncementsTest, ForgetAtOnceThoseWhomAForgottenTaskDisplaced) {
  Do(Pod(1, "ns/another"));  // Displaces ns/1, which runs.
  Do(BeginAnnouncement());
  Announce("m");
  Do(ForgetStale());
  EXPECT_THAT(state_.tasks(), IsEmpty());
  EXPECT_EQ(UsedCpu("m"), 0);
}

TEST_F(AnnouncementsTest, OfHardlyAnyMachineWereNone) {
  for (int i = 0; i < 20; ++i) Announce(StrCat("x", i));
  Announce("m");
  EXPECT_FALSE(IsWaiting(2));
  Do(EndAnnouncement());
  EXPECT_TRUE(IsWaiting(2));
  EXPECT_TRUE(MachineOf("n").IsUsable());
  // What was mentioned in it is stale in the next as anything else.
  Do(BeginAnnouncement());
  EXPECT_FALSE(MachineOf("m").IsUsable());
}

TEST_F(AnnouncementsTest, LeaveStaleWhatTheyDidNotMention) {
  Announce("m");
  Do(EndAnnouncement());
  EXPECT_FALSE(MachineOf("n").IsUsable());
  EXPECT_FALSE(IsWaiting(2));
  Do(EndAnnouncement());
  EXPECT_FALSE(IsWaiting(2));
}

// Of the removals that its client owes for what it submitted before it began
// anew it knows nothing.
TEST_F(AnnouncementsTest, AskForOneRemovalOfEachTask) {
  Do(Pod(1, "ns/1"));
  EXPECT_EQ(TaskOf(1).client.expected_removals, 2);
  Do(BeginAnnouncement());
  Do(Pod(1, "ns/1"));
  EXPECT_EQ(TaskOf(1).client.expected_removals, 1);
  Do(Removed(1));
  EXPECT_EQ(UsedCpu("m"), 0);
  EXPECT_EQ(Do(Removed(1)), Ack::kNotFound);
}

TEST_F(AnnouncementsTest, GiveTheUidOfAStaleTaskToAnother) {
  Do(BeginAnnouncement());
  Do(Pod(1, "ns/9"));
  EXPECT_TRUE(IsWaiting(1));
  EXPECT_THAT(TaskOf(1).client.earlier_holders, IsEmpty());
  EXPECT_EQ(UsedCpu("m"), 100) << "ns/1 may run";
  Do(Removed(1));
  EXPECT_EQ(state_.FindHolder({1}), nullptr);
  EXPECT_EQ(UsedCpu("m"), 100);
  Do(Pod(5, "ns/1"));
  EXPECT_EQ(TaskOf(5).machine, MachineOf("m").id);
  EXPECT_FALSE(TaskOf(5).client.is_stale);
}

TEST_F(AnnouncementsTest, NothingIsToldToATaskThatIsStale) {
  Place(2, "m");
  Do(BeginAnnouncement());
  EXPECT_FALSE(state_.CanPreempt(TaskOf(1)));
  EXPECT_TRUE(TaskOf(2).client.is_stale);
}

// Two tasks have the uid, and the removal that was taken for that of the first
// was the second's.
class GuessedRemovalTest : public AnnouncementsTest {
 protected:
  void SetUp() override {
    AnnouncementsTest::SetUp();
    Do(Pod(1, "ns/late"));
    Run(1, "n");
    Do(Removed(1));
  }
};

TEST_F(GuessedRemovalTest, IsTakenBackWhereAClientBeginsAnew) {
  EXPECT_EQ(UsedCpu("m"), 0);
  Do(BeginAnnouncement());
  Announce("m");
  Do(Pod(7, "ns/1"));
  EXPECT_EQ(TaskOf(7).state, TaskState::kRunning);
  EXPECT_EQ(TaskOf(7).machine, MachineOf("m").id);
  EXPECT_EQ(UsedCpu("m"), 100);
  ASSERT_THAT(Outbox(), SizeIs(1));
  EXPECT_TRUE(Outbox()[0].is_repeat);
  EXPECT_TRUE(TaskOf(1).client.is_stale);
}

// Its life goes on while it still announces: a pod of that name is another.
TEST_F(GuessedRemovalTest, OfALifeIsKeptToItsEnd) {
  Do(BeginAnnouncement());
  for (const char* uuid : {"m", "n"}) Announce(uuid);
  Do(Pod(5, "ns/5"));
  Do(Pod(6, "ns/6"));
  Run(5, "m");
  Do(Pod(5, "ns/later"));
  Do(Removed(5));
  Do(EndAnnouncement());
  Do(BeginAnnouncement());
  Do(Pod(9, "ns/5"));
  EXPECT_EQ(TaskOf(9).machine, MachineOf("m").id);
}

TEST_F(GuessedRemovalTest, OfALifeIsNoneForAPodThatComesInIt) {
  Do(BeginAnnouncement());
  Announce("m");
  Do(Pod(5, "ns/5"));
  Run(5, "m");
  Do(Pod(5, "ns/later"));
  Do(Removed(5));
  Do(Pod(9, "ns/5"));
  EXPECT_TRUE(IsWaiting(9));
}

TEST_F(GuessedRemovalTest, HoldsForAPodThatIsNewUnderItsName) {
  Do(Pod(7, "ns/1"));
  EXPECT_TRUE(IsWaiting(7));
  Do(Removed(7));
  Do(BeginAnnouncement());
  Do(Pod(8, "ns/1"));
  EXPECT_TRUE(IsWaiting(8)) << "the guess was right";
}

TEST_F(GuessedRemovalTest, HoldsForWhatIsNotSubmitted) {
  Do(BeginAnnouncement());
  for (const char* uuid : {"m", "n"}) Announce(uuid);
  Do(EndAnnouncement());
  Do(BeginAnnouncement());
  Do(Pod(7, "ns/1"));
  EXPECT_TRUE(IsWaiting(7));
}

TEST_F(GuessedRemovalTest, IsNotTakenBackWhereTheMachineIsFullOrGone) {
  Do(Submitted(8, {.cpu = 950, .name = "ns/8"}));
  Run(8, "m");
  Do(BeginAnnouncement());
  Do(Pod(7, "ns/1"));
  EXPECT_TRUE(IsWaiting(7));
  EXPECT_EQ(UsedCpu("m"), 950);
}

TEST_F(GuessedRemovalTest, IsNothingThatCouldBeForgotten) {
  Do(BeginAnnouncement());
  Do(ForgetStale());
  Do(Pod(7, "ns/1"));
  EXPECT_TRUE(IsWaiting(7)) << "its machine is forgotten";
}

TEST_F(AnnouncementsTest, AreFollowedByForgetting) {
  Do(Pod(4, "ns/4"));
  Do(Completed(4));
  Do(BeginAnnouncement());
  Announce("n");
  Do(Pod(2, "ns/2"));
  Do(Pod(3, "ns/other"));  // Displaces ns/3, of which nobody will speak.
  Do(ForgetStale());
  EXPECT_THAT(state_.tasks(), SizeIs(2));
  EXPECT_TRUE(IsWaiting(2));
  EXPECT_TRUE(IsWaiting(3));
  EXPECT_EQ(UsedCpu("m"), 0);
  EXPECT_FALSE(MachineOf("m").is_present);
  EXPECT_TRUE(MachineOf("n").IsUsable());
}

}  // namespace
}  // namespace sluice
