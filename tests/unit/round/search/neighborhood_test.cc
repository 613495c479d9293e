#include "round/search/neighborhood.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "unit/round/neighborhood_fixture.h"

namespace sluice {
namespace {

// They may depend on each other, and their order is what clients are told.
TEST_F(NeighborhoodTest, LeavesAloneWhatCameWithTasksOfOtherPriorities) {
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

TEST_F(NeighborhoodTest, TouchesNothingWhereWhatWaitsFitsNowhere) {
  cluster_.Apply(Added("m", {.cpu = 300}));
  Submit(1, {.cpu = 100});
  Place(1, "m");
  Submit(2, {.cpu = 301});
  const uint64_t version = cluster_.state().version();
  EXPECT_TRUE(Search().placed.empty());
  EXPECT_EQ(cluster_.state().version(), version);
}

// What spreads is dear to look at in a large cluster.
TEST_F(NeighborhoodTest, CountsTheMachinesThatItLooksAt) {
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
TEST_F(NeighborhoodTest, LooksAtALargeClusterOnceAClass) {
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

TEST_F(NeighborhoodTest, LeavesLargeTiersAlone) {
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
TEST_F(NeighborhoodTest, LeavesManyPlacementsAloneWithoutALook) {
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
TEST_F(NeighborhoodTest, DoesNotLookAtWhatFitsNowhere) {
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

// What passes place by themselves costs the least as it is.
TEST_F(NeighborhoodTest, TouchesNothingWhereNoTasksDependOnTasks) {
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

}  // namespace
}  // namespace sluice
