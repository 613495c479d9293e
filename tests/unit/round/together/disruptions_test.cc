#include "round/together/disruptions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/strings.h"
#include "unit/state/state_fixture.h"
#include "util/peer_builder.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Limit = DisruptionBudget::Limit;

DisruptionBudget AtLeast(int64_t amount, bool is_percent = false) {
  return {.limit = Limit::kMinAvailable,
          .amount = amount,
          .is_percent = is_percent};
}
DisruptionBudget AtMost(int64_t amount, bool is_percent = false) {
  return {.limit = Limit::kMaxUnavailable,
          .amount = amount,
          .is_percent = is_percent};
}

class DisruptionsTest : public StateTest {
 protected:
  DisruptionsTest() { Do(Added("m", {.cpu = 10000})); }

  // Tasks of a job with this budget: so many wait, so many run.
  void AddTasks(const DisruptionBudget& budget, int waiting, int running) {
    for (int i = 0; i < waiting + running; ++i) {
      Do(Submitted(++last_uid_, {.cpu = 100, .budget = budget}));
      if (i < running) Place(last_uid_, "m");
    }
    DeliverAll();
  }
  // Of the only budget.
  int64_t Allowed() {
    const Disruptions disruptions(state_);
    EXPECT_EQ(disruptions.standings().size(), 1u);
    return disruptions.standings()[0].allowed;
  }

  uint64_t last_uid_ = 0;
};

TEST_F(DisruptionsTest, AllowWhatIsAvailableBeyondWhatIsNeeded) {
  struct Case {
    DisruptionBudget budget;
    int waiting;
    int running;
    int64_t allowed;
  };
  const std::vector<Case> cases = {
      {AtLeast(2), 0, 5, 3},
      {AtLeast(5), 0, 5, 0},
      {AtLeast(6), 0, 5, 0},
      {AtLeast(0), 0, 5, 5},
      {AtLeast(50, true), 0, 5, 2},  // 2.5 of five are 3.
      {AtLeast(50, true), 2, 5, 1},  // 3.5 of seven are 4.
      {AtLeast(100, true), 0, 5, 0},
      {AtMost(2), 0, 5, 2},
      {AtMost(2), 1, 5, 1},
      {AtMost(2), 3, 5, 0},
      {AtMost(9), 0, 5, 5},
      {AtMost(30, true), 0, 5, 2},  // 1.5 of five are 2.
      {AtMost(0, true), 0, 5, 0},
  };
  for (size_t i = 0; i < cases.size(); ++i) {
    AddTasks(cases[i].budget, cases[i].waiting, cases[i].running);
    EXPECT_EQ(Allowed(), cases[i].allowed) << "case " << i;
    while (last_uid_ > 0) Do(Removed(last_uid_--));
  }
}

TEST_F(DisruptionsTest, CountNeitherWhatLeavesNorWhatNobodyKnowsOf) {
  AddTasks(AtLeast(1), 0, 3);
  EXPECT_EQ(Allowed(), 2);
  state_.Preempt({1});
  EXPECT_EQ(Allowed(), 1);
  Do(Submitted(9, {.cpu = 100, .budget = AtLeast(1)}));
  Place(9, "m");
  EXPECT_EQ(Allowed(), 1);
  DeliverAll();
  EXPECT_EQ(Allowed(), 2);
}

TEST_F(DisruptionsTest, CountNothingOnAMachineThatHasGone) {
  AddTasks(AtLeast(1), 0, 3);
  Do(Removed("m"));
  EXPECT_EQ(Allowed(), 0);
}

TEST_F(DisruptionsTest, GoByWhatTheClientExpects) {
  DisruptionBudget budget = AtMost(1);
  budget.expected = 4;
  AddTasks(budget, 0, 3);
  EXPECT_EQ(Allowed(), 0) << "one is missed that is not submitted yet";
  AddTasks(budget, 0, 1);
  EXPECT_EQ(Allowed(), 1);
}

TEST_F(DisruptionsTest, AllowNoMoreThanTheClient) {
  DisruptionBudget budget = AtLeast(1);
  budget.allowed = 2;
  AddTasks(budget, 0, 9);
  EXPECT_EQ(Allowed(), 2);
  state_.Preempt({1});
  EXPECT_EQ(Allowed(), 1) << "it may not count that one yet";
}

TEST_F(DisruptionsTest, AreOfTheNewestSubmission) {
  AddTasks(AtLeast(1), 0, 2);
  AddTasks(AtLeast(2), 0, 1);
  EXPECT_EQ(Allowed(), 1);
}

TEST_F(DisruptionsTest, MeanTasksByTheirLabels) {
  DisruptionBudget budget = AtLeast(1);
  budget.tasks = App("web");
  Do(Submitted(1, {.job = "a", .labels = {{"app", "web"}}, .budget = budget},
               PeerOptions()));
  Do(Submitted(2, {.job = "b", .labels = {{"app", "web"}}}, PeerOptions()));
  Do(Submitted(3, {.job = "a", .labels = {{"app", "db"}}, .budget = budget},
               PeerOptions()));
  Disruptions disruptions(state_);
  ASSERT_EQ(disruptions.standings().size(), 1u);
  EXPECT_EQ(disruptions.standings()[0].name, "a");
  EXPECT_EQ(disruptions.standings()[0].expected, 2);
  EXPECT_THAT(disruptions.BudgetsOf(*state_.FindTask({2})), ElementsAre(0));
  EXPECT_THAT(disruptions.BudgetsOf(*state_.FindTask({3})), IsEmpty());
}

TEST_F(DisruptionsTest, AreTakenTogetherOrNotAtAll) {
  const FeedId feed = state_.OpenFeed("shop");
  DisruptionBudget all = AtLeast(1);
  all.tasks = {.labels = std::vector<LabelRequirement>(), .namespaces = {""}};
  state_.Apply(feed, SnapshotBegan(), 0);
  state_.Apply(feed, BudgetStated{"all", all}, 0);
  AddTasks(AtLeast(1), 0, 2);  // Tasks 1 and 2: one may be stopped.
  Do(Submitted(7, {.cpu = 100, .job = "other"}));
  Place(7, "m");
  DeliverAll();
  Disruptions disruptions(state_);
  ASSERT_EQ(disruptions.standings().size(), 2u);
  EXPECT_EQ(disruptions.standings()[1].name, "all");
  EXPECT_EQ(disruptions.Allowed(disruptions.BudgetsOf(*state_.FindTask({1}))),
            1);
  EXPECT_EQ(disruptions.Allowed(disruptions.BudgetsOf(*state_.FindTask({7}))),
            2);
  std::vector<int64_t> left = disruptions.Allowances();
  EXPECT_THAT(left, ElementsAre(1, 2));
  EXPECT_FALSE(disruptions.Take(std::vector<TaskId>{{1}, {2}}, &left));
  EXPECT_TRUE(disruptions.Take(std::vector<TaskId>{{1}, {7}}, &left));
  EXPECT_FALSE(disruptions.Take(std::vector<TaskId>{{2}}, &left));
}

TEST_F(DisruptionsTest, OfFeedsAllowNothingWhereSeveralMeanATask) {
  const FeedId feed = state_.OpenFeed("shop");
  DisruptionBudget all = AtLeast(0);
  all.tasks = {.labels = std::vector<LabelRequirement>(), .namespaces = {""}};
  state_.Apply(feed, SnapshotBegan(), 0);
  state_.Apply(feed, BudgetStated{"a", all}, 0);
  Do(Submitted(1, {.cpu = 100}));
  Place(1, "m");
  DeliverAll();
  const auto allowed = [this] {
    Disruptions disruptions(state_);
    return disruptions.Allowed(disruptions.BudgetsOf(*state_.FindTask({1})));
  };
  EXPECT_EQ(allowed(), 1);
  state_.Apply(feed, BudgetStated{"b", all}, 0);
  EXPECT_EQ(allowed(), 0);
}

TEST_F(DisruptionsTest, KnowWhatAFeedCountsAsStopped) {
  const FeedId feed = state_.OpenFeed("shop");
  DisruptionBudget all = AtLeast(0);
  all.tasks = {.labels = std::vector<LabelRequirement>(), .namespaces = {""}};
  all.allowed = 2;
  state_.Apply(feed, SnapshotBegan(), 0);
  state_.Apply(feed, BudgetStated{"all", all}, 0);
  for (uint64_t uid = 1; uid <= 4; ++uid) {
    const std::string id = StrCat("t", uid);
    TaskStated stated{.id = id,
                      .job_uuid = "job",
                      .job_name = "job",
                      .gang = {},
                      .spec = TaskSpecOf(0, {.cpu = 100}),
                      .machine_uuid = "m"};
    state_.Apply(feed, stated, 0);
    if (uid > 1) continue;
    stated.is_terminating = true;
    state_.Apply(feed, stated, 0);
  }
  state_.Apply(feed, SnapshotEnded(), 0);
  EXPECT_EQ(Allowed(), 2) << "its client counts that one itself";
  state_.Preempt(state_.feeds().at(feed).tasks.at("t2"));
  EXPECT_EQ(Allowed(), 1);
}

TEST_F(DisruptionsTest, OfAFeedGoWithItsNextSnapshot) {
  const FeedId feed = state_.OpenFeed("shop");
  state_.Apply(feed, SnapshotBegan(), 0);
  state_.Apply(feed, BudgetStated{"a", AtLeast(1)}, 0);
  state_.Apply(feed, BudgetStated{"b", AtLeast(1)}, 0);
  state_.Apply(feed, SnapshotEnded(), 0);
  EXPECT_EQ(state_.Apply(feed, BudgetGone{"b"}, 0), FeedOutcome::kApplied);
  EXPECT_EQ(state_.Apply(feed, BudgetGone{"b"}, 0),
            FeedOutcome::kUnknownBudget);
  EXPECT_EQ(Disruptions(state_).standings().size(), 1u);
  state_.Apply(feed, SnapshotBegan(), 0);
  EXPECT_EQ(Disruptions(state_).standings().size(), 1u);
  state_.Apply(feed, SnapshotEnded(), 0);
  EXPECT_THAT(Disruptions(state_).standings(), IsEmpty());
}

}  // namespace
}  // namespace sluice
