// Tasks that were told to move, and the room that their successors find.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/cluster_builder.h"
#include "util/peer_builder.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// Task 1, of 600 and priority 5, runs on `from`; both have 1,000.
class SuccessionTest : public testing::TestWithParam<Preemption> {
 protected:
  SuccessionTest() : cluster_({.preemption = {.mode = GetParam()}}) {
    cluster_.Apply(Added("from", {.cpu = 1000}));
    Submit(1, 600, 5);
    EXPECT_THAT(Reply(), ElementsAre("PLACE 1 on from"));
    cluster_.Apply(Added("to", {.cpu = 1000}));
  }
  void TearDown() override {
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
  }
  std::vector<std::string> Reply(int64_t later_ms = 1) {
    now_ms_ += later_ms;
    std::vector<std::string> texts = cluster_.Reply(now_ms_);
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
    return texts;
  }
  void Submit(uint64_t uid, int64_t cpu, uint32_t priority,
              const std::string& job = "job") {
    cluster_.Apply(
        Submitted(uid, {.cpu = cpu, .priority = priority, .job = job}),
        now_ms_);
  }
  void Migrate(uint64_t uid, std::string_view to) {
    cluster_.mutable_state().Migrate({uid},
                                     cluster_.state().FindMachine(to)->id);
  }

  TestScheduler cluster_;
  int64_t now_ms_ = 0;
};

INSTANTIATE_TEST_SUITE_P(, SuccessionTest,
                         testing::Values(Preemption::kOff,
                                         Preemption::kPriority),
                         [](const auto& one) {
                           return one.param == Preemption::kOff
                                      ? "WithoutPreemption"
                                      : "WithPreemption";
                         });

TEST_P(SuccessionTest, PlacesTheSuccessorOnTheMachineThatTheReplyNamed) {
  Migrate(1, "to");
  EXPECT_THAT(Reply(), ElementsAre("MIGRATE 1 on to"));
  EXPECT_THAT(Reply(), IsEmpty()) << "told once";
  Submit(2, 600, 5);
  EXPECT_THAT(Reply(), ElementsAre("PLACE 2 on to"));
  cluster_.Apply(Removed(1));
  EXPECT_THAT(cluster_.state().nominations().machines(), IsEmpty());
}

TEST_P(SuccessionTest, PlacesItThoughItsPredecessorHasGone) {
  Migrate(1, "to");
  Reply();
  cluster_.Apply(Removed(1));
  Reply();
  Submit(2, 600, 5);
  EXPECT_THAT(Reply(), ElementsAre("PLACE 2 on to")) << "and not on `from`";
}

TEST_P(SuccessionTest, GivesTheRoomToNobodyElse) {
  Migrate(1, "to");
  Reply();
  Submit(11, 400, 5, "another");
  Submit(12, 400, 5, "another");
  Submit(13, 400, 5, "another");
  EXPECT_THAT(Reply(), UnorderedElementsAre(testing::HasSubstr(" on from"),
                                            testing::HasSubstr(" on to")));
  EXPECT_EQ(cluster_.scheduler().round_stats().pending, 1);
  Submit(2, 600, 5);
  EXPECT_THAT(Reply(), ElementsAre("PLACE 2 on to"));
  EXPECT_EQ(cluster_.scheduler().round_stats().pending, 1);
}

TEST_P(SuccessionTest, GivesTheRoomToNobodyElseWhileOthersLeave) {
  Submit(3, 900, 5, "other");
  EXPECT_THAT(Reply(), ElementsAre("PLACE 3 on to"));
  cluster_.mutable_state().Preempt({3});
  Migrate(1, "to");
  Reply();
  // What leaves makes room for the successor first: 400 are left.
  Submit(4, 500, GetParam() == Preemption::kOff ? 4 : 9, "other");
  EXPECT_EQ(cluster_.state().FindMachine("to")->awaited[kCpu], 600);
  if (GetParam() == Preemption::kOff) {
    EXPECT_THAT(Reply(), IsEmpty());
  } else {
    // Too little of what 3 leaves is nobody's, and 1 leaves enough.
    Reply();
    const auto& machines = cluster_.state().nominations().machines();
    ASSERT_TRUE(machines.contains({4}));
    EXPECT_EQ(cluster_.state().FindMachine(machines.at({4}))->uuid, "from");
  }
  Submit(2, 600, 5);
  cluster_.Apply(Removed(3));
  EXPECT_THAT(Reply(), testing::Contains("PLACE 2 on to"));
}

TEST_P(SuccessionTest, WaitsForTheRoomRatherThanGoingBack) {
  if (GetParam() != Preemption::kOff) return;  // There all is packed together.
  Submit(3, 900, 5, "other");
  EXPECT_THAT(Reply(), ElementsAre("PLACE 3 on to"));
  cluster_.mutable_state().Preempt({3});
  Migrate(1, "to");
  Reply();
  cluster_.Apply(Removed(1));
  Submit(2, 600, 5);
  EXPECT_THAT(Reply(), IsEmpty()) << "`from` is free";
  cluster_.Apply(Removed(3));
  EXPECT_THAT(Reply(), ElementsAre("PLACE 2 on to"));
}

TEST_P(SuccessionTest, GoesElsewhereWhenItHasWaitedForLong) {
  Submit(3, 900, 5, "other");
  EXPECT_THAT(Reply(), ElementsAre("PLACE 3 on to"));
  cluster_.mutable_state().Preempt({3});
  Migrate(1, "to");
  Reply();
  cluster_.Apply(Removed(1));
  Submit(2, 600, 5);
  EXPECT_THAT(Reply(kSuccessorWaitMs), ElementsAre("PLACE 2 on from"));
}

TEST_P(SuccessionTest, GoesElsewhereWhereTheClockWasSetBack) {
  now_ms_ = 10 * kSuccessorWaitMs;
  Submit(3, 900, 5, "other");
  EXPECT_THAT(Reply(), ElementsAre("PLACE 3 on to"));
  cluster_.mutable_state().Preempt({3});
  Migrate(1, "to");
  Reply();
  cluster_.Apply(Removed(1));
  Submit(2, 600, 5);
  EXPECT_THAT(Reply(-kSuccessorWaitMs), ElementsAre("PLACE 2 on from"));
}

TEST_P(SuccessionTest, GivesTheRoomUpWhenNoSuccessorComes) {
  Migrate(1, "to");
  Reply();
  cluster_.Apply(Removed(1));
  Submit(11, 1000, 5, "another");
  Submit(12, 1000, 5, "another");
  EXPECT_THAT(Reply(), ElementsAre(testing::HasSubstr(" on from")));
  EXPECT_THAT(Reply(kSuccessorWaitMs - 1), IsEmpty());
  EXPECT_THAT(Reply(), ElementsAre(testing::HasSubstr(" on to")));
}

TEST_P(SuccessionTest, NamesTheTasksOwnMachineWhereTheRoomWasGivenUp) {
  Migrate(1, "to");
  cluster_.Apply(Removed("to"));
  EXPECT_THAT(Reply(), ElementsAre("MIGRATE 1 on from"));
}

TEST_P(SuccessionTest, LeavesASuccessorThatComesInARoundToTheNext) {
  Migrate(1, "to");
  Reply();
  Submit(3, 300, 9, "another");
  Submit(4, 900, 9, "another");
  cluster_.scheduler().StartRound(++now_ms_);
  std::optional<RoundWork> work = cluster_.scheduler().NextStep();
  ASSERT_TRUE(work.has_value());
  Submit(2, 600, 5);
  cluster_.scheduler().FinishStep(cluster_.Solve(*work));
  cluster_.FinishRound();
  EXPECT_TRUE(cluster_.state().nominations().IsSuccessor({2}));
  EXPECT_EQ(FindContradiction(cluster_.state()), "");
  cluster_.Deliver();
  EXPECT_THAT(Reply(), ElementsAre("PLACE 2 on to"));
}

// ---------------------------------------------------------------------------
// More than amounts

TEST_P(SuccessionTest, KeepsThePortsOfTheSuccessor) {
  const PlacementRules listens = {.host_ports = {TcpPort(80)}};
  cluster_.Apply(Submitted(21, {.cpu = 100, .job = "web", .rules = listens}));
  EXPECT_THAT(Reply(), ElementsAre("PLACE 21 on to"));
  Migrate(21, "from");
  Reply();
  cluster_.Apply(Submitted(22, {.cpu = 100, .job = "other", .rules = listens}));
  EXPECT_THAT(Reply(), IsEmpty()) << "21 has the one, its successor the other";
  cluster_.Apply(Removed(21));
  EXPECT_THAT(Reply(), ElementsAre("PLACE 22 on to"));
  cluster_.Apply(Submitted(23, {.cpu = 100, .job = "web", .rules = listens}));
  EXPECT_THAT(Reply(), ElementsAre("PLACE 23 on from"));
}

TEST_P(SuccessionTest, KeepsAwayWhoeverKeepsAwayFromTheSuccessor) {
  const PlacementRules apart = {.anti_affinity = {{App("web"), ""}}};
  const auto submit = [&](uint64_t uid, const std::string& job) {
    cluster_.Apply(Submitted(
        uid,
        {.cpu = 100, .job = job, .labels = {{"app", "web"}}, .rules = apart},
        PeerOptions()));
  };
  submit(21, "web");
  EXPECT_THAT(Reply(), ElementsAre("PLACE 21 on to"));
  Migrate(21, "from");
  Reply();
  submit(22, "other");
  EXPECT_THAT(Reply(), IsEmpty());
  cluster_.Apply(Removed(21));
  EXPECT_THAT(Reply(), ElementsAre("PLACE 22 on to"));
  submit(23, "web");
  EXPECT_THAT(Reply(), ElementsAre("PLACE 23 on from"));
}

// It does not keep itself away from its own zone.
TEST_P(SuccessionTest, GoesElsewhereInTheZoneWhereItHasRoomKept) {
  const PlacementRules apart = {.anti_affinity = {{App("web"), "zone"}}};
  const auto submit = [&](uint64_t uid) {
    cluster_.Apply(Submitted(uid,
                             {.cpu = 600,
                              .job = "web",
                              .labels = {{"app", "web"}},
                              .rules = apart},
                             PeerOptions()),
                   now_ms_);
  };
  cluster_.Apply(
      Updated("to", MachineOptions{.cpu = 1000, .labels = {{"zone", "a"}}}));
  submit(21);
  EXPECT_THAT(Reply(), ElementsAre("PLACE 21 on to"));
  cluster_.Apply(Added("b1", {.cpu = 1000, .labels = {{"zone", "b"}}}));
  Submit(22, 900, 5, "other");
  EXPECT_THAT(Reply(), ElementsAre("PLACE 22 on b1"));
  cluster_.mutable_state().Preempt({22});
  Migrate(21, "b1");
  Reply();
  cluster_.Apply(Removed(21));
  cluster_.Apply(Removed("to"));
  cluster_.Apply(Removed("from"));
  submit(23);
  EXPECT_THAT(Reply(), IsEmpty()) << "22 has not left b1 yet";
  cluster_.Apply(Added("b2", {.cpu = 1000, .labels = {{"zone", "b"}}}));
  EXPECT_THAT(Reply(kSuccessorWaitMs), ElementsAre("PLACE 23 on b2"));
}

// The successor may not come: whoever needs its company waits until it runs.
TEST_P(SuccessionTest, GivesNobodyTheCompanyOfASuccessorToCome) {
  cluster_.Apply(
      Submitted(21, {.cpu = 100, .job = "web", .labels = {{"app", "web"}}},
                PeerOptions()));
  EXPECT_THAT(Reply(), ElementsAre("PLACE 21 on to"));
  Migrate(21, "from");
  Reply();
  cluster_.Apply(Removed(21));
  cluster_.Apply(Submitted(
      22,
      {.cpu = 100, .job = "other", .rules = {.affinity = {{App("web"), ""}}}},
      PeerOptions()));
  EXPECT_THAT(Reply(), IsEmpty());
  cluster_.Apply(
      Submitted(23, {.cpu = 100, .job = "web", .labels = {{"app", "web"}}},
                PeerOptions()));
  EXPECT_THAT(Reply(), ElementsAre("PLACE 23 on from", "PLACE 22 on from"));
}

}  // namespace
}  // namespace sluice
