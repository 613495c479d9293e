#include "round/search/neighborhood_search.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "unit/round/neighborhood_fixture.h"

namespace sluice {
namespace {

TEST_F(NeighborhoodTest, MovesWhatIsInTheWay) {
  cluster_.Apply(Added("large", {.cpu = 300}));
  cluster_.Apply(Added("small", {.cpu = 100}));
  Submit(1, {.cpu = 100});
  Place(1, "large");
  Submit(2, {.cpu = 300});
  const Transaction::Outcome outcome = Search();
  EXPECT_EQ(outcome.placed, std::vector<TaskId>{{2}});
  EXPECT_EQ(outcome.given_up, 0);
  EXPECT_EQ(On(1), "small");
  EXPECT_EQ(On(2), "large");
}

TEST_F(NeighborhoodTest, GivesUpWhatIsCheaperToLeaveWaiting) {
  cluster_.Apply(Added("m", {.cpu = 300}));
  Submit(1, {.cpu = 300});
  Place(1, "m");
  Submit(2, {.cpu = 150});
  Submit(3, {.cpu = 150});
  const Transaction::Outcome outcome = Search();
  EXPECT_EQ(outcome.placed.size(), 2u);
  EXPECT_EQ(outcome.given_up, 1);
}

TEST_F(NeighborhoodTest, LeavesAllAsItIsWhereNothingIsGained) {
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

TEST_F(NeighborhoodTest, WeighsGangsAsAWhole) {
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

TEST_F(NeighborhoodTest, DoesNotStartAPartOfAGang) {
  cluster_.Apply(Added("m", {.cpu = 300}));
  Submit(1, {.cpu = 200});
  Place(1, "m");
  for (uint64_t uid = 11; uid <= 14; ++uid) {
    Submit(uid, {.cpu = 100, .job = "gang"}, kNowMs, Gang::kAllTasks);
  }
  EXPECT_TRUE(Search().placed.empty());
  EXPECT_EQ(On(1), "m");
}

class NeighborhoodAgeTest : public NeighborhoodTest,
                            public testing::WithParamInterface<bool> {};

// Whatever the price.
TEST_P(NeighborhoodAgeTest, KeepsAGangForAYoungerOne) {
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

INSTANTIATE_TEST_SUITE_P(All, NeighborhoodAgeTest, testing::Bool());

TEST_F(NeighborhoodTest, KeepsWhatWasHealed) {
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
TEST_F(NeighborhoodTest, KeepsWhatWasHealedWhereMoreOfItWaits) {
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
TEST_F(NeighborhoodTest, StartsAGangForEveryMachineOnAllOfThem) {
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

TEST_F(NeighborhoodTest, StopsWhenItsBudgetIsSpent) {
  cluster_.Apply(Added("large", {.cpu = 300}));
  cluster_.Apply(Added("small", {.cpu = 100}));
  Submit(1, {.cpu = 100});
  Place(1, "large");
  Submit(2, {.cpu = 300});
  budget_ = 0;
  EXPECT_TRUE(Search().placed.empty());
}

TEST_F(NeighborhoodTest, MindsTermsInTheOrderOfThePlacements) {
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

TEST_F(NeighborhoodTest, MovesGangsToWhereTheyCostLess) {
  cluster_.Apply(Added("a", {.cpu = 400}));
  cluster_.Apply(Added("b", {.cpu = 400}));
  for (const uint64_t uid : {1, 2}) {
    Submit(uid, {.cpu = 100, .job = "gang"}, kNowMs, Gang::kAllTasks);
    Place(uid, "a");
  }
  const Transaction::Outcome outcome = Search();
  EXPECT_TRUE(outcome.placed.empty());
  EXPECT_EQ(outcome.given_up, 0);
  EXPECT_NE(On(1), On(2));
}

TEST_F(NeighborhoodTest, WeighsPreferencesAgainstLoad) {
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
  bool moves_apart = false;
  PlacementRules other = {};  // Of a task of app "db" on that machine.
  bool is_other_told = false;
};

class NeighborhoodDrawnTest : public NeighborhoodTest,
                              public testing::WithParamInterface<DrawnCase> {};

// The load of the other machine costs less, but not if that is away from tasks
// that these would be near.
TEST_P(NeighborhoodDrawnTest, WeighsPeersAgainstLoad) {
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
  EXPECT_EQ(On(2) != On(3), param.moves_apart);
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
    All, NeighborhoodDrawnTest,
    testing::Values(
        DrawnCase{"none", {}, true}, DrawnCase{"preference", Near("web")},
        DrawnCase{"soft_spread", SoftSpread(), true},
        DrawnCase{
            "required_spread", {.spread = {Spread(App("web"), "zone")}}, true},
        DrawnCase{"preference_of_one_that_runs", {}, false, Near("web"), true},
        DrawnCase{"preference_of_another", {}, false, Near("web")},
        // One of them is enough.
        DrawnCase{
            "affinity_of_another", {}, true, {.affinity = {{App("web"), ""}}}},
        DrawnCase{"affinity_to_each_other",
                  {.affinity = {{App("web"), "zone"}}},
                  true}),
    [](const auto& test) { return test.param.name; });

// Of tasks that are just the same only one order is tried, but of what is
// spread the second may go where the first may not.
TEST_F(NeighborhoodTest, TriesBothOrdersOfTasksThatAreSpread) {
  cluster_.Apply(Added("m", {.cpu = 300}));
  cluster_.Apply(Added("n", {.cpu = 100}));
  const TaskOptions web = {.cpu = 100,
                           .labels = {{"app", "web"}},
                           .rules = {.spread = {Spread(App("web"), "")}}};
  Submit(1, web);
  Place(1, "m");
  cluster_.Deliver();
  Submit(2, web);
  Submit(3, web);
  Submit(4, {.cpu = 100});
  Place(4, "m");
  Search();
  EXPECT_EQ(On(2), "n");
  EXPECT_EQ(On(3), "m");
}

TEST_F(NeighborhoodTest, TriesTasksThatAreTheSameInOneOrder) {
  for (const char* uuid : {"a", "b", "c", "d", "e", "f"}) {
    cluster_.Apply(Added(uuid, {.cpu = 100}));
  }
  for (uint64_t uid = 1; uid <= 7; ++uid) {
    Submit(uid, {.cpu = 100, .rules = {.affinity = {}}});
  }
  Place(1, "a");
  const int64_t before = budget_;
  EXPECT_EQ(Search().placed.size(), 5u);
  EXPECT_LT(before - budget_, 2000);
}

}  // namespace
}  // namespace sluice
