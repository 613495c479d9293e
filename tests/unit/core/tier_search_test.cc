#include "core/tier_search.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "util/peer_builder.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

constexpr uint64_t kAll = std::numeric_limits<uint64_t>::max();
constexpr int64_t kNowMs = 3'600'000;

class TierSearchTest : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
  }
  void Submit(uint64_t uid, const TaskOptions& options,
              int64_t submitted_ms = kNowMs, uint64_t gang_minimum = 0) {
    cluster_.Apply(Submitted(uid, options, {.gang = {.minimum = gang_minimum}}),
                   submitted_ms);
  }
  void Place(uint64_t uid, std::string_view uuid) {
    cluster_.mutable_state().Place(
        {uid}, cluster_.state().FindMachine(uuid)->id, kNowMs);
  }
  TierSearchOutcome Search() {
    cluster_.mutable_state().SyncPeers();
    cluster_.eligibility().Refresh(&cluster_.mutable_state());
    const Gangs gangs(&cluster_.mutable_state(), &cluster_.eligibility(), kAll,
                      kNowMs);
    return SearchTier(0, delta_begin_, kAll, gangs, cluster_.policies(),
                      cluster_.constraints(), &cluster_.eligibility(), kNowMs,
                      &cluster_.mutable_state(), &budget_);
  }
  std::string On(uint64_t uid) { return cluster_.MachineOf(uid); }
  TestScheduler cluster_;
  uint64_t delta_begin_ = 0;
  int64_t budget_ = 1'000'000;
};

TEST_F(TierSearchTest, MovesWhatIsInTheWay) {
  cluster_.Apply(Added("large", {.cpu = 300}));
  cluster_.Apply(Added("small", {.cpu = 100}));
  Submit(1, {.cpu = 100});
  Place(1, "large");
  Submit(2, {.cpu = 300});
  const TierSearchOutcome outcome = Search();
  EXPECT_EQ(outcome.placed, std::vector<TaskId>{{2}});
  EXPECT_EQ(outcome.given_up, 0);
  EXPECT_EQ(On(1), "small");
  EXPECT_EQ(On(2), "large");
}

TEST_F(TierSearchTest, GivesUpWhatIsCheaperToLeaveWaiting) {
  cluster_.Apply(Added("m", {.cpu = 300}));
  Submit(1, {.cpu = 300});
  Place(1, "m");
  Submit(2, {.cpu = 150});
  Submit(3, {.cpu = 150});
  const TierSearchOutcome outcome = Search();
  EXPECT_EQ(outcome.placed.size(), 2u);
  EXPECT_EQ(outcome.given_up, 1);
}

TEST_F(TierSearchTest, LeavesAllAsItIsWhereNothingIsGained) {
  cluster_.Apply(Added("a", {.cpu = 100}));
  cluster_.Apply(Added("b", {.cpu = 100}));
  Submit(1, {.cpu = 100});
  Submit(2, {.cpu = 100});
  Place(2, "a");
  Place(1, "b");
  Submit(3, {.cpu = 100});
  EXPECT_TRUE(Search().placed.empty());
  EXPECT_EQ(On(2), "a");
  EXPECT_EQ(On(1), "b");
  EXPECT_EQ(cluster_.state().outbox().begin()->second.task.value, 2u);
}

TEST_F(TierSearchTest, WeighsGangsAsAWhole) {
  cluster_.Apply(Added("m", {.cpu = 300}));
  Submit(1, {.cpu = 100});
  Submit(2, {.cpu = 100});
  Place(1, "m");
  Place(2, "m");
  for (uint64_t uid = 11; uid <= 13; ++uid) {
    Submit(uid, {.cpu = 100, .job = "gang"}, kNowMs, Gang::kAllTasks);
  }
  EXPECT_EQ(Search().placed.size(), 3u);
  EXPECT_EQ(On(1), "");
}

TEST_F(TierSearchTest, DoesNotStartAPartOfAGang) {
  cluster_.Apply(Added("m", {.cpu = 300}));
  Submit(1, {.cpu = 200});
  Place(1, "m");
  for (uint64_t uid = 11; uid <= 14; ++uid) {
    Submit(uid, {.cpu = 100, .job = "gang"}, kNowMs, Gang::kAllTasks);
  }
  EXPECT_TRUE(Search().placed.empty());
  EXPECT_EQ(On(1), "m");
}

class TierSearchAgeTest : public TierSearchTest,
                          public testing::WithParamInterface<bool> {};

// Whatever the price.
TEST_P(TierSearchAgeTest, KeepsAGangForAYoungerOne) {
  const bool is_older = GetParam();
  cluster_.Apply(Added("m", {.cpu = 300}));
  const int64_t submitted_ms = is_older ? kNowMs - 1 : kNowMs;
  Submit(1, {.cpu = 150, .job = "first"}, submitted_ms, Gang::kAllTasks);
  Submit(2, {.cpu = 150, .job = "first"}, submitted_ms, Gang::kAllTasks);
  Place(1, "m");
  Place(2, "m");
  for (uint64_t uid = 11; uid <= 13; ++uid) {
    Submit(uid, {.cpu = 100, .job = "second"}, kNowMs, Gang::kAllTasks);
  }
  EXPECT_EQ(Search().placed.size(), is_older ? 0u : 3u);
}

INSTANTIATE_TEST_SUITE_P(All, TierSearchAgeTest, testing::Bool());

TEST_F(TierSearchTest, KeepsWhatWasHealed) {
  cluster_.Apply(Added("m", {.cpu = 300}));
  cluster_.Apply(Added("n", {.cpu = 100}));
  Submit(1, {.cpu = 100, .job = "gang"}, kNowMs, 2);
  Submit(2, {.cpu = 300, .job = "gang"}, kNowMs, 2);
  Place(1, "n");
  cluster_.Deliver();
  Place(2, "m");
  for (uint64_t uid = 11; uid <= 13; ++uid) Submit(uid, {.cpu = 100});
  EXPECT_TRUE(Search().placed.empty());
  EXPECT_EQ(On(2), "m");
}

// Another task of it may wait.
TEST_F(TierSearchTest, KeepsWhatWasHealedWhereMoreOfItWaits) {
  cluster_.Apply(Added("m", {.cpu = 300}));
  cluster_.Apply(Added("n", {.cpu = 100}));
  cluster_.Apply(Added("o", {.cpu = 100}));
  Submit(1, {.cpu = 100, .job = "gang"}, kNowMs, 2);
  Submit(2, {.cpu = 100, .job = "gang"}, kNowMs, 2);
  Submit(3, {.cpu = 300, .job = "gang"}, kNowMs, 2);
  Place(1, "n");
  cluster_.Deliver();
  Place(2, "m");
  EXPECT_EQ(Search().placed, std::vector<TaskId>{{3}});
  EXPECT_EQ(On(2), "o");
}

// Tasks of the gang may run on different machines: the most count.
TEST_F(TierSearchTest, StartsAGangForEveryMachineOnAllOfThem) {
  for (const char* uuid : {"a", "b", "c"}) {
    cluster_.Apply(Added(uuid, {.cpu = 200, .labels = {{"host", uuid}}}));
  }
  const auto submit = [&](uint64_t uid,
                          std::vector<LabelRequirement> selectors) {
    PlacementRules rules = {.anti_affinity = {{App("gang"), ""}}};
    rules.selectors = std::move(selectors);
    cluster_.Apply(Submitted(uid,
                             {.cpu = 100,
                              .job = "gang",
                              .labels = {{"app", "gang"}},
                              .rules = rules},
                             {.gang = {.minimum = Gang::kEveryMachine}}),
                   kNowMs);
  };
  for (uint64_t uid = 11; uid <= 13; ++uid) submit(uid, {});
  submit(14, {LabelIn("host", {"a"})});
  Submit(1, {.cpu = 200});
  Place(1, "a");
  EXPECT_EQ(Search().placed.size(), 3u);
  EXPECT_EQ(On(1), "");
}

// They may depend on each other, and their order is what clients are told.
TEST_F(TierSearchTest, LeavesAloneWhatCameWithTasksOfOtherPriorities) {
  cluster_.Apply(Added("large", {.cpu = 300}));
  cluster_.Apply(Added("small", {.cpu = 100}));
  Submit(1, {.cpu = 100});
  Submit(3, {.cpu = 1, .priority = 7});
  Place(1, "large");
  Place(3, "large");
  Submit(2, {.cpu = 299});
  EXPECT_TRUE(Search().placed.empty());
  EXPECT_EQ(cluster_.state().outbox().begin()->second.task.value, 1u);
}

TEST_F(TierSearchTest, TouchesNothingWhereWhatWaitsFitsNowhere) {
  cluster_.Apply(Added("m", {.cpu = 300}));
  Submit(1, {.cpu = 100});
  Place(1, "m");
  Submit(2, {.cpu = 301});
  const uint64_t version = cluster_.state().version();
  EXPECT_TRUE(Search().placed.empty());
  EXPECT_EQ(cluster_.state().version(), version);
}

// What spreads is dear to look at in a large cluster.
TEST_F(TierSearchTest, CountsTheMachinesThatItLooksAt) {
  for (int m = 0; m < 100; ++m) {
    cluster_.Apply(Added(StrCat("tiny", m), {.cpu = 1}));
  }
  cluster_.Apply(Added("m", {.cpu = 300}));
  const PlacementRules rules = {.spread = {Spread(App("web"), "zone")}};
  Submit(1, {.cpu = 300});
  Place(1, "m");
  for (uint64_t uid = 2; uid <= 4; ++uid) {
    Submit(uid, {.cpu = 100, .labels = {{"app", "web"}}, .rules = rules});
  }
  const int64_t before = budget_;
  Search();
  EXPECT_GE(before - budget_, 3 * 101);
}

// What a class waits for is looked up once, not for each of its tasks.
TEST_F(TierSearchTest, LooksAtALargeClusterOnceAClass) {
  constexpr int64_t kMachines = 5000;
  for (int64_t m = 4; m < kMachines; ++m) {
    cluster_.Apply(Added(StrCat("tiny", m), {.cpu = 1}));
  }
  for (const char* m : {"a", "b", "c", "d"}) {
    cluster_.Apply(Added(m, {.cpu = 2000, .labels = {{"zone", "z"}}}));
  }
  const PlacementRules rules = {.affinity = {{App("web"), "zone"}}};
  for (uint64_t uid = 1; uid <= 60; ++uid) {
    Submit(uid, {.cpu = 50, .labels = {{"app", "web"}}, .rules = rules});
    Place(uid, uid % 2 == 0 ? "a" : "b");
  }
  const int64_t before = budget_;
  Search();
  EXPECT_LT(before - budget_, 60 * kMachines);
  EXPECT_EQ(On(1), "b");
}

TEST_F(TierSearchTest, DoesNothingWithoutABudget) {
  cluster_.Apply(Added("large", {.cpu = 300}));
  cluster_.Apply(Added("small", {.cpu = 100}));
  Submit(1, {.cpu = 100});
  Place(1, "large");
  Submit(2, {.cpu = 300});
  budget_ = 0;
  EXPECT_TRUE(Search().placed.empty());
}

TEST_F(TierSearchTest, MindsTermsInTheOrderOfThePlacements) {
  cluster_.Apply(Added("m", {.cpu = 300}));
  cluster_.Apply(Added("n", {.cpu = 200}));
  Submit(1, {.cpu = 200});
  Place(1, "m");
  Submit(2, {.cpu = 200, .rules = {.affinity = {{App("db"), ""}}}});
  Submit(3, {.cpu = 100, .labels = {{"app", "db"}}});
  EXPECT_EQ(Search().placed, (std::vector<TaskId>{{3}, {2}}));
  EXPECT_EQ(On(1), "n");
  EXPECT_EQ(On(2), "m");
  EXPECT_EQ(On(3), "m");
}

TEST_F(TierSearchTest, LeavesLargeTiersAlone) {
  constexpr uint64_t kMachines = 17;
  for (uint64_t m = 0; m < kMachines; ++m) {
    cluster_.Apply(Added(StrCat("m", m), {.cpu = 100}));
    Submit(m + 1, {.cpu = 50});
    Place(m + 1, StrCat("m", m));
  }
  Submit(100, {.cpu = 100});
  EXPECT_TRUE(Search().placed.empty());
  EXPECT_EQ(On(1), "m0");
}

// More placements than pairs: nothing else need be looked at.
TEST_F(TierSearchTest, LeavesManyPlacementsAloneWithoutALook) {
  cluster_.Apply(Added("m", {.cpu = 300, .pods = 300}));
  for (uint64_t uid = 1; uid <= 257; ++uid) {
    Submit(uid, {.cpu = 1}, kNowMs, 1);
    Place(uid, "m");
  }
  const int64_t before = budget_;
  EXPECT_TRUE(Search().placed.empty());
  EXPECT_EQ(budget_, before);
}

// What fits nowhere makes no tier large.
TEST_F(TierSearchTest, DoesNotLookAtWhatFitsNowhere) {
  cluster_.Apply(Added("large", {.cpu = 300}));
  cluster_.Apply(Added("small", {.cpu = 100}));
  for (uint64_t m = 0; m < 300; ++m) {
    cluster_.Apply(Added(StrCat("tiny", m), {.cpu = 1}));
    Submit(1000 + m, {.cpu = 1000});
  }
  Submit(1, {.cpu = 100});
  Place(1, "large");
  Submit(2, {.cpu = 300});
  EXPECT_EQ(Search().placed, std::vector<TaskId>{{2}});
}

// ---------------------------------------------------------------------------
// Where nothing waits

TEST_F(TierSearchTest, MovesGangsToWhereTheyCostLess) {
  cluster_.Apply(Added("a", {.cpu = 400}));
  cluster_.Apply(Added("b", {.cpu = 400}));
  for (const uint64_t uid : {1, 2}) {
    Submit(uid, {.cpu = 100, .job = "gang"}, kNowMs, Gang::kAllTasks);
    Place(uid, "a");
  }
  const TierSearchOutcome outcome = Search();
  EXPECT_TRUE(outcome.placed.empty());
  EXPECT_EQ(outcome.given_up, 0);
  EXPECT_NE(On(1), On(2));
}

// What passes place by themselves costs the least as it is.
TEST_F(TierSearchTest, TouchesNothingWhereNoTasksDependOnTasks) {
  cluster_.Apply(Added("a", {.cpu = 400}));
  cluster_.Apply(Added("b", {.cpu = 400}));
  for (const uint64_t uid : {1, 2}) {
    Submit(uid, {.cpu = 100});
    Place(uid, "a");
  }
  const uint64_t version = cluster_.state().version();
  Search();
  EXPECT_EQ(cluster_.state().version(), version);
}

TEST_F(TierSearchTest, WeighsPreferencesAgainstLoad) {
  cluster_.Apply(Added("a", {.cpu = 400}));
  cluster_.Apply(Added("b", {.cpu = 400, .labels = {{"disk", "ssd"}}}));
  const PlacementRules rules = {
      .preferred = {
          {.weight = 1, .term = {.labels = {LabelIn("disk", {"ssd"})}}}}};
  for (const uint64_t uid : {1, 2}) {
    Submit(uid, {.cpu = 100, .job = "gang", .rules = rules}, kNowMs,
           Gang::kAllTasks);
  }
  Place(1, "a");
  Place(2, "b");
  Search();
  EXPECT_EQ(On(1), "b");
  EXPECT_EQ(On(2), "b");
}

struct DrawnCase {
  std::string name;
  PlacementRules rules;  // Of tasks of app "web", two on the same machine.
  bool is_weighed = false;
  PlacementRules other = {};  // Of a task of app "db" on that machine.
  bool is_other_told = false;
};

class TierSearchDrawnTest : public TierSearchTest,
                            public testing::WithParamInterface<DrawnCase> {};

// The search would not see that the load of the other machine costs less than
// the distance to tasks that these would be near.
TEST_P(TierSearchDrawnTest, CountsNoLoadWherePeersCountToo) {
  const DrawnCase& param = GetParam();
  cluster_.Apply(Added("a", {.cpu = 400, .labels = {{"zone", "x"}}}));
  cluster_.Apply(Added("b", {.cpu = 400, .labels = {{"zone", "x"}}}));
  Submit(1, {.labels = {{"app", "db"}}, .rules = param.other});
  if (param.is_other_told) {
    Place(1, "a");
    cluster_.Deliver();
  }
  for (const uint64_t uid : {2, 3}) {
    Submit(uid,
           {.cpu = 100,
            .job = "gang",
            .labels = {{"app", "web"}},
            .rules = param.rules},
           kNowMs, Gang::kAllTasks);
    Place(uid, "a");
  }
  if (!param.is_other_told) Place(1, "a");
  Search();
  EXPECT_EQ(On(2) != On(3), param.is_weighed);
}

PlacementRules Near(const std::string& app) {
  return {.preferred_peers = {{.weight = 1, .term = {App(app), ""}}}};
}

PlacementRules SoftSpread() {
  PlacementRules rules = {.spread = {Spread(App("web"), "zone")}};
  rules.spread[0].is_required = false;
  return rules;
}

INSTANTIATE_TEST_SUITE_P(
    All, TierSearchDrawnTest,
    testing::Values(
        DrawnCase{"none", {}, true}, DrawnCase{"preference", Near("web")},
        DrawnCase{"soft_spread", SoftSpread()},
        DrawnCase{
            "required_spread", {.spread = {Spread(App("web"), "zone")}}, true},
        DrawnCase{"preference_of_one_that_runs", {}, false, Near("web"), true},
        DrawnCase{"preference_of_another", {}, false, Near("web")},
        DrawnCase{
            "affinity_of_another", {}, false, {.affinity = {{App("web"), ""}}}},
        DrawnCase{"affinity_to_each_other",
                  {.affinity = {{App("web"), "zone"}}},
                  true}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace sluice
