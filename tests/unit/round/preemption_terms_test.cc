// What holds preemption back: disruption budgets, tasks that displace nobody,
// and what a stop costs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/strings.h"
#include "util/peer_builder.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

using Limit = DisruptionBudget::Limit;

class PreemptionTermsTest : public testing::Test {
 protected:
  explicit PreemptionTermsTest(bool breaks_budgets = false)
      : cluster_({.preemption = {.mode = Preemption::kPriority,
                                 .breaks_budgets = breaks_budgets}}) {}
  void TearDown() override {
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
  }
  std::vector<std::string> Reply() { return cluster_.Reply(++now_ms_); }
  void Machine(std::string_view uuid, int64_t cpu) {
    cluster_.Apply(Added(uuid, {.cpu = cpu}));
  }
  // Machines of 1000m, `prefix`0 and so on, each full of one task of priority
  // 0: 1 and so on.
  void Fill(std::string_view prefix, int count, const TaskOptions& options) {
    for (int i = 0; i < count; ++i) {
      Machine(StrCat(prefix, i), 1000);
      cluster_.Apply(Submitted(++last_uid_, options));
      Reply();
    }
  }
  void Submit(uint64_t uid, TaskOptions options) {
    options.job = StrCat("urgent-", uid);
    cluster_.Apply(Submitted(uid, options));
  }
  void SubmitMeek(uint64_t uid, TaskOptions options) {
    options.rules.never_preempts = true;
    Submit(uid, options);
  }

  TestScheduler cluster_;
  uint64_t last_uid_ = 0;
  int64_t now_ms_ = 0;
};

class BreakingBudgetsTest : public PreemptionTermsTest {
 protected:
  BreakingBudgetsTest() : PreemptionTermsTest(/*breaks_budgets=*/true) {}
};

TaskOptions Low(const DisruptionBudget& budget) {
  return {.cpu = 1000, .budget = budget};
}

TEST_F(PreemptionTermsTest, StopsNoMoreThanABudgetAllows) {
  Fill("m", 4, Low({.limit = Limit::kMinAvailable, .amount = 2}));
  for (uint64_t uid = 11; uid <= 14; ++uid) {
    Submit(uid, {.cpu = 1000, .priority = 9});
  }
  EXPECT_THAT(Reply(), SizeIs(2));
  EXPECT_EQ(cluster_.scheduler().round_stats().nominated, 2);
  EXPECT_THAT(Reply(), IsEmpty());
  for (uint64_t uid = 1; uid <= 4; ++uid) {
    if (cluster_.TaskOf(uid).is_evicted) cluster_.Apply(Removed(uid));
  }
  EXPECT_THAT(Reply(), SizeIs(2)) << "both are placed, and nobody is stopped";
  EXPECT_EQ(cluster_.scheduler().round_stats().preempted, 0);
}

TEST_F(PreemptionTermsTest, StopsWhatNoBudgetProtects) {
  Fill("protected", 2, Low({.limit = Limit::kMaxUnavailable, .amount = 0}));
  Fill("free", 1, {.cpu = 1000, .job = "free"});
  Submit(11, {.cpu = 1000, .priority = 9});
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 3 on free0"));
}

TEST_F(PreemptionTermsTest, PrefersOneThatCostsMoreToOneThatIsForbidden) {
  Fill("protected", 1, Low({.limit = Limit::kMinAvailable, .amount = 1}));
  Fill("dear", 1,
       {.cpu = 1000, .job = "dear", .preemption_cost = kPreemptionCostMax});
  Submit(11, {.cpu = 1000, .priority = 9});
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 2 on dear0"));
}

TEST_F(PreemptionTermsTest, StopsOthersBeforeTheSuccessorOfAStoppedTask) {
  Fill("m", 2, {.cpu = 1000});
  Submit(11, {.cpu = 1000, .priority = 9});
  const std::vector<std::string> first = Reply();
  ASSERT_THAT(first, ElementsAre(AnyOf("PREEMPT 1 on m0", "PREEMPT 2 on m1")));
  const bool is_first_stopped = first[0] == "PREEMPT 1 on m0";
  const std::string place = is_first_stopped ? "m0" : "m1";
  cluster_.Apply(Removed(is_first_stopped ? 1 : 2));
  cluster_.Apply(Submitted(3, {.cpu = 1000}));
  ASSERT_THAT(Reply(), ElementsAre("PLACE 11 on " + place));
  cluster_.Apply(Completed(11));
  cluster_.Apply(Removed(11));
  ASSERT_THAT(Reply(), ElementsAre("PLACE 3 on " + place));
  Submit(12, {.cpu = 1000, .priority = 9});
  EXPECT_THAT(Reply(), ElementsAre(is_first_stopped ? "PREEMPT 2 on m1"
                                                    : "PREEMPT 1 on m0"))
      << "though 3 was placed after it";
}

TEST_F(PreemptionTermsTest, KeepsABudgetOverTasksOfSeveralSizes) {
  const DisruptionBudget one = {.limit = Limit::kMaxUnavailable, .amount = 1};
  for (uint64_t i = 1; i <= 3; ++i) {
    Machine(StrCat("m", i), 1000);
    cluster_.Apply(Submitted(
        i, {.cpu = 700 + 100 * static_cast<int64_t>(i), .budget = one}));
    Reply();
  }
  for (uint64_t uid = 11; uid <= 13; ++uid) {
    Submit(uid, {.cpu = 1000, .priority = 9});
  }
  EXPECT_THAT(Reply(), SizeIs(1));
  const RoundStats& stats = cluster_.scheduler().round_stats();
  EXPECT_EQ(stats.nominated, 1);
  EXPECT_EQ(stats.given_up, 0) << "the packing keeps to the budget";
  EXPECT_EQ(stats.held_back, 2);
  EXPECT_THAT(Reply(), IsEmpty());
}

TEST_F(PreemptionTermsTest, StartsNoGangThatABudgetLetsInHalf) {
  Fill("m", 3, Low({.limit = Limit::kMaxUnavailable, .amount = 2}));
  for (uint64_t uid = 11; uid <= 13; ++uid) {
    cluster_.Apply(Submitted(uid, {.cpu = 1000, .priority = 9, .job = "gang"},
                             {.gang = {.minimum = 3}}));
  }
  EXPECT_THAT(Reply(), IsEmpty());
  EXPECT_EQ(cluster_.scheduler().round_stats().nominated, 0);
}

TEST_F(BreakingBudgetsTest, BreaksThemWhereNothingElseHelps) {
  Fill("protected", 1, Low({.limit = Limit::kMinAvailable, .amount = 1}));
  Fill("free", 1, {.cpu = 1000, .job = "free"});
  Submit(11, {.cpu = 1000, .priority = 9});
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 2 on free0"));
  Submit(12, {.cpu = 1000, .priority = 9});
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 1 on protected0"));
}

TEST_F(BreakingBudgetsTest, RatherStopsWhatIsMoreUrgentAndUnprotected) {
  Fill("protected", 1, Low({.limit = Limit::kMinAvailable, .amount = 1}));
  Fill("free", 1, {.cpu = 1000, .priority = 2, .job = "free"});
  Submit(11, {.cpu = 1000, .priority = 9});
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 2 on free0"));
}

// Nothing of the levels of what was placed and of what runs waits: they are
// one.
TEST_F(BreakingBudgetsTest, KnowWhatRunsOnTheLevelOfWhatWasPlaced) {
  cluster_.Apply(Added("liked", {.cpu = 100, .labels = {{"disk", "ssd"}}}));
  Machine("m", 2000);
  for (uint64_t uid = 1; uid <= 2; ++uid) {
    cluster_.Apply(
        Submitted(uid, {.cpu = 900,
                        .priority = 400,
                        .budget = DisruptionBudget{
                            .limit = Limit::kMaxUnavailable, .amount = 1}}));
    Reply();
  }
  Submit(11, {.cpu = 5000, .priority = 1000});
  TaskOptions placed{.cpu = 200, .priority = 500};
  placed.rules.preferred = {
      {.weight = 1, .term = {.labels = {LabelIn("disk", {"ssd"})}}}};
  Submit(12, placed);
  EXPECT_THAT(Reply(), ElementsAre("PLACE 12 on m"));
}

TEST_F(PreemptionTermsTest, KeepsANominationBesideAMeekTaskThatFitsNowhere) {
  Fill("m", 1, {.cpu = 1000});
  Submit(12, {.cpu = 1000, .priority = 5});
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 1 on m0"));
  SubmitMeek(11, {.cpu = 5000, .priority = 9});
  EXPECT_THAT(Reply(), IsEmpty());
  EXPECT_EQ(cluster_.scheduler().round_stats().nominated, 1);
}

TEST_F(PreemptionTermsTest, KeepsAPartOfWhatAMachineRuns) {
  Machine("m", 2000);
  for (uint64_t uid = 1; uid <= 2; ++uid) {
    cluster_.Apply(
        Submitted(uid, {.cpu = 1000,
                        .budget = DisruptionBudget{
                            .limit = Limit::kMaxUnavailable, .amount = 1}}));
    Reply();
  }
  Submit(11, {.cpu = 1000, .priority = 9});
  Submit(12, {.cpu = 1000, .priority = 9});
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 2 on m"));
}

TEST_F(PreemptionTermsTest, KeepsABudgetOverTasksOfSeveralCosts) {
  Machine("m", 2000);
  for (uint64_t uid = 1; uid <= 2; ++uid) {
    cluster_.Apply(
        Submitted(uid, {.cpu = 1000,
                        .preemption_cost = static_cast<int32_t>(uid),
                        .budget = DisruptionBudget{
                            .limit = Limit::kMaxUnavailable, .amount = 1}}));
    Reply();
  }
  Submit(11, {.cpu = 1000, .priority = 9});
  Submit(12, {.cpu = 1000, .priority = 9});
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 1 on m")) << "the cheapest";
  EXPECT_EQ(cluster_.scheduler().round_stats().given_up, 0);
}

// One may be stopped, of whatever cost.  Two would be the cheapest for both;
// one that is dear makes room for both.
TEST_F(PreemptionTermsTest, StopsADearTaskWhereTwoCheapOnesAreTooMany) {
  const DisruptionBudget one{.limit = Limit::kMaxUnavailable, .amount = 1};
  const auto run = [&](uint64_t uid, int64_t cpu, int32_t cost) {
    Machine(StrCat("m", uid), cpu);
    cluster_.Apply(
        Submitted(uid, {.cpu = cpu, .preemption_cost = cost, .budget = one}));
    Reply();
  };
  run(1, 1000, 1);
  run(2, 1000, 2);
  run(3, 2000, 50);
  Submit(11, {.cpu = 1000, .priority = 9});
  Submit(12, {.cpu = 1000, .priority = 9});
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 3 on m3"));
  EXPECT_EQ(cluster_.scheduler().round_stats().preempted, 1);
  EXPECT_EQ(cluster_.scheduler().round_stats().nominated, 2);
}

// Of the two that are least urgent both would have to leave.
TEST_F(PreemptionTermsTest, StopsWhomABudgetLetsAndNotTheLeastUrgent) {
  const DisruptionBudget one{.limit = Limit::kMaxUnavailable, .amount = 1};
  Machine("m1", 1000);
  cluster_.Apply(Submitted(1, {.cpu = 500, .budget = one}));
  cluster_.Apply(
      Submitted(2, {.cpu = 500, .preemption_cost = 1, .budget = one}));
  Reply();
  Machine("m2", 1000);
  cluster_.Apply(Submitted(3, {.cpu = 1000, .priority = 2, .budget = one}));
  Reply();
  Submit(11, {.cpu = 1000, .priority = 9});
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 3 on m2"));
}

// The more urgent one can only be where the class that comes last is.
TEST_F(PreemptionTermsTest, KeepsToWhatWasBetterThanANewPacking) {
  const DisruptionBudget one{.limit = Limit::kMaxUnavailable, .amount = 1};
  cluster_.Apply(Added("m1", {.cpu = 1000, .labels = {{"disk", "ssd"}}}));
  cluster_.Apply(Submitted(1, {.cpu = 1000, .budget = one}));
  Reply();
  Machine("m2", 1000);
  cluster_.Apply(
      Submitted(2, {.cpu = 1000, .preemption_cost = 1, .budget = one}));
  Reply();
  TaskOptions urgent{.cpu = 1000, .priority = 9};
  urgent.rules.required = {{.labels = {LabelIn("disk", {"ssd"})}}};
  Submit(11, urgent);
  Submit(12, {.cpu = 1000, .priority = 8});
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 1 on m1"));
  EXPECT_EQ(cluster_.scheduler().round_stats().preempted, 1);
  EXPECT_EQ(cluster_.scheduler().round_stats().nominated, 1);
}

TEST_F(PreemptionTermsTest, StopsWhatCostsTheLeastInAll) {
  Machine("two", 1000);
  cluster_.Apply(Submitted(1, {.cpu = 500}));
  cluster_.Apply(Submitted(2, {.cpu = 500}));
  Reply();
  Machine("one", 1000);
  cluster_.Apply(Submitted(3, {.cpu = 1000, .preemption_cost = 101}));
  Reply();
  Submit(11, {.cpu = 1000, .priority = 9});
  EXPECT_THAT(Reply(),
              UnorderedElementsAre("PREEMPT 1 on two", "PREEMPT 2 on two"));
}

// Nine machines, each with a task in the way.
TEST_F(PreemptionTermsTest, EmptiesTheCheapestMachinesForAGang) {
  const std::vector<int32_t> costs = {700, 100, 900, 0,  500,
                                      300, 800, 200, 600};
  for (const int32_t cost : costs) {
    Machine(StrCat("m", cost), 1000);
    cluster_.Apply(
        Submitted(++last_uid_, {.cpu = 600, .preemption_cost = cost}));
    Reply();
  }
  for (uint64_t uid = 11; uid <= 16; ++uid) {
    cluster_.Apply(Submitted(uid, {.cpu = 1000, .priority = 9, .job = "gang"},
                             {.gang = {.minimum = 6}}));
  }
  EXPECT_THAT(Reply(),
              UnorderedElementsAre("PREEMPT 4 on m0", "PREEMPT 2 on m100",
                                   "PREEMPT 8 on m200", "PREEMPT 6 on m300",
                                   "PREEMPT 5 on m500", "PREEMPT 9 on m600"));
  for (const uint64_t uid : {2, 4, 5, 6, 8, 9}) cluster_.Apply(Removed(uid));
  EXPECT_THAT(Reply(), SizeIs(6)) << "the gang starts";
}

TEST_F(PreemptionTermsTest, StopsNobodyForAMeekTask) {
  Fill("m", 1, {.cpu = 1000});
  SubmitMeek(11, {.cpu = 1000, .priority = 9});
  EXPECT_THAT(Reply(), IsEmpty());
  EXPECT_EQ(cluster_.scheduler().round_stats().nominated, 0);
}

TEST_F(PreemptionTermsTest, StopsForOthersBesideAMeekTask) {
  Fill("m", 2, {.cpu = 1000});
  for (uint64_t uid = 11; uid <= 15; ++uid) {
    SubmitMeek(uid, {.cpu = 1000, .priority = 9});
  }
  Submit(21, {.cpu = 1000, .priority = 5});
  EXPECT_THAT(Reply(), AllOf(SizeIs(1), Each(HasSubstr("PREEMPT"))));
  EXPECT_EQ(cluster_.scheduler().round_stats().nominated, 1);
}

TEST_F(PreemptionTermsTest, PlacesTheMoreUrgentMeekTaskWhereThereIsRoom) {
  Fill("m", 1, {.cpu = 1000});
  Machine("empty", 1000);
  SubmitMeek(11, {.cpu = 1000, .priority = 9});
  Submit(12, {.cpu = 1000, .priority = 5});
  EXPECT_THAT(Reply(),
              UnorderedElementsAre("PLACE 11 on empty", "PREEMPT 1 on m0"));
}

TEST_F(PreemptionTermsTest, GivesAMeekTaskRoomThatIsKeptForALessUrgentOne) {
  Fill("m", 1, {.cpu = 1000});
  Submit(12, {.cpu = 1000, .priority = 5});
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 1 on m0"));
  SubmitMeek(11, {.cpu = 1000, .priority = 9});
  EXPECT_THAT(Reply(), IsEmpty());
  cluster_.Apply(Removed(1));
  EXPECT_THAT(Reply(), ElementsAre("PLACE 11 on m0"));
}

TEST_F(PreemptionTermsTest, StopsWhoKeepsTheNewcomerAway) {
  Machine("m", 1000);
  PlacementRules apart;
  apart.anti_affinity = {{TasksOfJob("job"), ""}};
  cluster_.Apply(Submitted(1, {.cpu = 100}));
  cluster_.Apply(Submitted(2, {.cpu = 100, .job = "bystander"}));
  Reply();
  Submit(11, {.cpu = 100, .priority = 9, .rules = apart});
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 1 on m"));
  EXPECT_THAT(Reply(), IsEmpty()) << "there is room, but not without 1";
  cluster_.Apply(Removed(1));
  EXPECT_THAT(Reply(), ElementsAre("PLACE 11 on m"));
}

TEST_F(PreemptionTermsTest, StopsWhoKeepsAwayFromTheNewcomer) {
  Machine("m", 1000);
  PlacementRules apart;
  apart.anti_affinity = {{TasksOfJob("urgent-*"), ""}};
  cluster_.Apply(Submitted(1, {.cpu = 100, .rules = apart}));
  Reply();
  Submit(11, {.cpu = 100, .priority = 9});
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 1 on m"));
  cluster_.Apply(Removed(1));
  EXPECT_THAT(Reply(), ElementsAre("PLACE 11 on m"));
}

TEST_F(PreemptionTermsTest, StopsNobodyWhereOneThatStaysKeepsTheNewcomerAway) {
  Machine("m", 1000);
  PlacementRules apart;
  apart.anti_affinity = {{TasksOfJob("job"), ""}};
  cluster_.Apply(Submitted(1, {.cpu = 100}));
  cluster_.Apply(Submitted(2, {.cpu = 900, .priority = 9}));
  Reply();
  Submit(11, {.cpu = 100, .priority = 9, .rules = apart});
  EXPECT_THAT(Reply(), IsEmpty());
}

TEST_F(PreemptionTermsTest, SparesTheCompanyOfTheNewcomer) {
  Machine("m", 1000);
  PlacementRules near;
  near.affinity = {{TasksOfJob("company"), ""}};
  cluster_.Apply(Submitted(1, {.cpu = 500, .job = "company"}));
  cluster_.Apply(Submitted(2, {.cpu = 500, .priority = 5, .job = "dear"}));
  Reply();
  Submit(11, {.cpu = 400, .priority = 9, .rules = near});
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 2 on m"))
      << "though 1 is less urgent";
}

TEST_F(PreemptionTermsTest, StopsCompanyOfWhichEnoughIsLeft) {
  Machine("m", 1000);
  PlacementRules near;
  near.affinity = {{TasksOfJob("company"), ""}};
  cluster_.Apply(Submitted(1, {.cpu = 500, .job = "company"}));
  Reply();
  cluster_.Apply(Submitted(2, {.cpu = 500, .job = "company"}));
  Reply();
  Submit(11, {.cpu = 400, .priority = 9, .rules = near});
  EXPECT_THAT(Reply(), ElementsAre("PREEMPT 2 on m"));
  cluster_.Apply(Removed(2));
  EXPECT_THAT(Reply(), ElementsAre("PLACE 11 on m"));
}

}  // namespace
}  // namespace sluice
