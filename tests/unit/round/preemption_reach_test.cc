// Whoever the rules would let in, once what is less urgent is gone, is let in,
// whatever else waits or runs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "unit/round/preemption_fixture.h"

namespace sluice {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::SizeIs;

class PreemptionReachTest : public PreemptionFixture {
 protected:
  // A less urgent task, which fills one of two machines.
  void RunOneOfTwo(const std::string& zone_of_b) {
    Machine("a", 1000, "z");
    Machine("b", 1000, zone_of_b);
    Submit(1, "low", 2);
    ASSERT_THAT(Reply(), SizeIs(1));
  }
};

TEST_F(PreemptionReachTest, StopsWhomALessUrgentTaskMustBeNear) {
  Machine("m", 1000, "z");
  PlacementRules rules;
  rules.affinity = {{App("low"), "host"}};
  Submit(1, "low", 2, rules);
  Submit(2, "low", 2, rules);
  ASSERT_THAT(Reply(), SizeIs(1));
  Submit(3, "high", 9);
  EXPECT_THAT(ReplyInTheEnd(),
              ElementsAre(AnyOf("PREEMPT 1 on m", "PREEMPT 2 on m")));
}

TEST_F(PreemptionReachTest, StopsForAGangThatKeepsAwayFromNobody) {
  RunOneOfTwo("z");
  for (const uint64_t uid : {2, 3}) {
    Submit(uid, "high", 9, AwayFrom("none", "zone"), {.gang = 2});
  }
  EXPECT_THAT(ReplyInTheEnd(),
              ElementsAre(AnyOf("PREEMPT 1 on a", "PREEMPT 1 on b")));
}

TEST_F(PreemptionReachTest, StopsForAGangThatALessUrgentTaskMustBeNear) {
  RunOneOfTwo("z");
  PlacementRules near;
  near.affinity = {{App("high"), "zone"}};
  Submit(4, "near", 1, near);
  for (const uint64_t uid : {2, 3}) Submit(uid, "high", 9, {}, {.gang = 2});
  EXPECT_THAT(ReplyInTheEnd(),
              ElementsAre(AnyOf("PREEMPT 1 on a", "PREEMPT 1 on b")));
}

TEST_F(PreemptionReachTest, StopsAGangThatKeepsATaskOutOfAZone) {
  Machine("a", 1000, "z");
  Machine("b", 500, "z");
  Submit(1, "low", 2, AwayFrom("high", "zone"), {.gang = 1});
  ASSERT_THAT(Reply(), SizeIs(1));
  Submit(2, "high", 9);
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 1 on a"));
}

// What the meek task was placed beside is not placed anew elsewhere.
TEST_F(PreemptionReachTest, LeavesTheCompanyOfATaskThatStopsNobody) {
  Machine("a", 2000, "z");
  Submit(1, "low", 2);
  ASSERT_THAT(Reply(), SizeIs(1));
  Machine("b", 3000, "z");
  PlacementRules meek;
  meek.affinity = {{App("company"), "host"}};
  meek.never_preempts = true;
  Submit(2, "meek", 7, meek);
  for (const uint64_t uid : {3, 4, 5}) Submit(uid, "company", 7);
  Reply();
  ASSERT_NE(cluster_.MachineOf(2), "");
  const auto is_beside = [this](uint64_t uid) {
    return cluster_.MachineOf(uid) == cluster_.MachineOf(2);
  };
  EXPECT_TRUE(is_beside(3) || is_beside(4) || is_beside(5));
}

TEST_F(PreemptionReachTest, StopsForAnotherTaskOfAGangThatHasStarted) {
  RunOneOfTwo("other");
  PlacementRules rules;
  rules.spread = {Spread(App("none"), "zone")};
  Submit(2, "high", 9, rules, {.gang = 1});
  ASSERT_THAT(Reply(), SizeIs(1)) << "beside the less urgent task";
  Submit(3, "high", 9, rules, {.gang = 1});
  EXPECT_THAT(ReplyInTheEnd(),
              ElementsAre(AnyOf("PREEMPT 1 on a", "PREEMPT 1 on b")));
}

TEST_F(PreemptionReachTest, StopsWhoKeepsATaskOffByHostAndByZone) {
  Machine("a", 1000, "z");
  PlacementRules rules = AwayFrom("high", "host");
  rules.anti_affinity.push_back({App("high"), "zone"});
  Submit(1, "low", 2, rules);
  ASSERT_THAT(Reply(), SizeIs(1));
  Machine("b", 500, "z");
  Submit(2, "high", 9);
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 1 on a"));
}

TEST_F(PreemptionReachTest, StopsOneOnTheMachineAndOneInTheZone) {
  Machine("a", 1000, "z");
  Machine("b", 1000, "z");
  Submit(1, "near", 2, AwayFrom("high", "host"));
  ASSERT_THAT(Reply(), SizeIs(1));
  Submit(2, "far", 2, AwayFrom("high", "zone"));
  ASSERT_THAT(Reply(), SizeIs(1));
  PlacementRules rules;
  rules.selectors = {LabelIn("host", {cluster_.MachineOf(1)})};
  Submit(3, "high", 9, rules);
  EXPECT_THAT(ReplyInTheEnd(), SizeIs(2));
}

TEST_F(PreemptionReachTest, StopsForASpreadOfOneWhomALessUrgentTaskAvoids) {
  Machine("a", 2000, "a");
  Machine("b", 1000, "b");
  PlacementRules spread;
  spread.spread = {Spread(App("web"), "zone")};
  Submit(1, "web", 2, spread);
  Submit(2, "web", 2, spread);
  Submit(3, "web", 2, spread);
  ASSERT_THAT(Reply(), SizeIs(3));
  PlacementRules on_b = spread;
  on_b.selectors = {LabelIn("host", {"b"})};
  Submit(4, "shy", 1, AwayFrom("web", "zone"));
  Submit(5, "web", 9, spread);
  EXPECT_THAT(ReplyInTheEnd(), SizeIs(1));
}

// Two classes that no packing heeds have their turns; in the turn of the one
// the other keeps its room, though something else waits that is more urgent.
TEST_F(PreemptionReachTest, KeepsRoomForWhomItWasKeptUntilItIsFree) {
  Machine("rocky", 2000, "y");
  PlacementRules there;
  there.selectors = {LabelIn("host", {"rocky"})};
  Submit(11, "rock", 10, there);
  ASSERT_THAT(Reply(), SizeIs(1));
  there.anti_affinity = {{App("rock"), "host"}};
  Submit(12, "hopeless", 10, there);
  Machine("m", 1000, "z");
  Machine("small", 500, "z");
  const auto in_z = [](PlacementRules rules) {
    rules.selectors = {LabelIn("zone", {"z"})};
    return rules;
  };
  Submit(1, "running", 2, in_z({}));
  ASSERT_THAT(Reply(), SizeIs(1));
  Submit(2, "low", 3, in_z(AwayFrom("high", "zone")));
  ASSERT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 1 on m"));
  Submit(3, "high", 9, in_z({}));
  const auto is_kept_for_high = [this] {
    return cluster_.state().nominations().Contains({3});
  };
  for (int i = 0; i < 4 && !is_kept_for_high(); ++i) Reply();
  ASSERT_TRUE(is_kept_for_high());
  for (int i = 0; i < 6; ++i) {
    now_ms_ += 60'000;
    Reply();
    EXPECT_TRUE(is_kept_for_high()) << i;
  }
  cluster_.Apply(Removed(1));
  EXPECT_THAT(Reply(), ElementsAre("PLACE 3 on m"));
}

TEST_F(PreemptionReachTest, TakesKeptRoomThatIsFreeBesideAMeekTaskWithoutAny) {
  cluster_.Apply(Added(
      "small", {.cpu = 500, .memory = 64000, .labels = {{"host", "small"}}}));
  cluster_.Apply(
      Added("m", {.cpu = 9000, .memory = 8000, .labels = {{"host", "m"}}}));
  const auto submit = [this](uint64_t uid, uint32_t priority,
                             const PlacementRules& rules) {
    cluster_.Apply(Submitted(uid, {.cpu = 1000,
                                   .memory = 4000,
                                   .priority = priority,
                                   .job = "job-" + std::to_string(priority),
                                   .rules = rules}));
  };
  submit(1, 1, {});
  submit(2, 1, {});
  PlacementRules nowhere;
  nowhere.selectors = {LabelIn("no", {"where"})};
  nowhere.never_preempts = true;
  cluster_.Apply(
      Submitted(3, {.cpu = 500, .priority = 6, .job = "k", .rules = nowhere}));
  ASSERT_THAT(Reply(), SizeIs(2));
  PlacementRules spread;
  spread.spread = {Spread(App("none"), "host")};
  submit(4, 9, spread);
  submit(5, 9, spread);
  ASSERT_THAT(Reply(), SizeIs(2));
  cluster_.Apply(Removed(1));
  submit(6, 1, {});
  std::vector<std::string> told = Reply();
  std::erase_if(
      told, [](const std::string& one) { return !one.starts_with("PLACE"); });
  EXPECT_THAT(told, SizeIs(1)) << "room was kept for one";
}

TEST_F(PreemptionReachTest, StopsOnAMachineThatIsInNoZone) {
  cluster_.Apply(Added("m", {.cpu = 2000}));
  Submit(1, "high", 9, AwayFrom("high", "zone"));
  ASSERT_THAT(Reply(), SizeIs(1));
  Submit(2, "low", 2);
  ASSERT_THAT(Reply(), SizeIs(1));
  Submit(3, "high", 9, AwayFrom("high", "zone"));
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 2 on m"));
}

// On b it would have room only without what it must be near.
TEST_F(PreemptionReachTest, DoesNotCountOnTheRoomOfItsOnlyCompany) {
  Machine("a", 1000, "z");
  Run(1, "low", kLow, AwayFrom("high"), {.cpu = 500});
  Run(2, "peer", kLow, {}, {.cpu = 500});
  Machine("b", 500, "");
  Run(3, "peer", kLow, {}, {.cpu = 500});
  Submit(4, "high", kHigh, Near("peer", "host"), {.cpu = 500});
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 1 on a"));
}

// The gang on b needs both of its tasks, and its budget spares one.
TEST_F(PreemptionReachTest, DoesNotCountOnAGangThatABudgetSparesInPart) {
  Machine("a", 500, "z");
  Run(1, "other", kLow, {}, {.cpu = 500});
  Machine("b", 1000, "");
  const DisruptionBudget one = {
      .limit = DisruptionBudget::Limit::kMaxUnavailable, .amount = 1};
  for (const uint64_t uid : {2, 3}) {
    cluster_.Apply(Submitted(
        uid, {.cpu = 500, .priority = kLow, .job = "gang", .budget = one},
        {.gang = {.minimum = 2}}));
  }
  ASSERT_THAT(Reply(), SizeIs(2));
  Submit(4, "high", kHigh, AwayFrom("other"), {.cpu = 500});
  EXPECT_THAT(ReplyInTheEnd(), ElementsAre("PREEMPT 1 on a"));
}

// The meek task would not fit there, and one that is less urgent would.
TEST_F(PreemptionReachTest, KeepsRoomThatIsOfNoUseToAMeekTask) {
  Machine("c", 500, "z");
  Run(1, "company", kHigh + 1, {}, {.cpu = 500});
  Machine("m", 2000, "z");
  for (const uint64_t uid : {2, 3}) Run(uid, "running", 1);
  Submit(4, "high", kHigh, Near("company"), {.cpu = 2000});
  ASSERT_THAT(ReplyInTheEnd(), SizeIs(2));
  PlacementRules meek;
  meek.never_preempts = true;
  Submit(5, "meek", kHigh + 1, meek, {.cpu = 2000});
  Submit(6, "low", kLow);
  cluster_.Apply(Removed(2));
  for (uint64_t uid = 10; uid < 16; ++uid) {
    SubmitHopeless(uid, "news", 1);
    EXPECT_THAT(Reply(), SizeIs(0)) << uid;
    EXPECT_TRUE(cluster_.state().nominations().Contains({4})) << uid;
  }
}

}  // namespace
}  // namespace sluice
