#include "round/packing/movability.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "constraints/constraint_set.h"
#include "cost/policy_set.h"
#include "network/eligibility.h"
#include "unit/state/state_fixture.h"
#include "util/peer_builder.h"

namespace sluice {
namespace {

constexpr int64_t kMinRunMs = 300'000;
constexpr char kHost[] = "host";

class MovabilityTest : public StateTest {
 protected:
  MovabilityTest() {
    Do(Added("m", {.cpu = 1000, .labels = {{kHost, "m"}, {"disk", "ssd"}}}));
    Do(Added("n", {.cpu = 1000, .labels = {{kHost, "n"}}}));
  }

  static TaskOptions Owned(PlacementRules rules = {}) {
    return {
        .cpu = 100, .rules = std::move(rules), .owner = {"ReplicaSet", "r"}};
  }
  void RunTask(uint64_t uid, const TaskOptions& options,
               const PeerOptions& peers = {}) {
    Do(Submitted(uid, options, peers));
    Run(uid, "m");
  }
  Movability MakeMovability(int64_t now_ms = kMinRunMs) {
    state_.SyncPeers();
    eligibility_.Refresh(&state_);
    return {state_, constraints_, options_, now_ms, &eligibility_};
  }
  bool MayMove(uint64_t uid, int64_t now_ms = kMinRunMs) {
    return MakeMovability(now_ms).MayMove(TaskOf(uid));
  }

  const MoveOptions options_ = {.min_run_ms = kMinRunMs};
  const ConstraintSet constraints_;
  const PolicySet policies_ = *PolicySet::FromNames(kDefaultCostModels);
  Eligibility eligibility_{constraints_, policies_};
};

TEST_F(MovabilityTest, MovesWhatHasAnOwnerOnceItHasRunLongEnough) {
  RunTask(1, Owned());
  EXPECT_FALSE(MayMove(1, kMinRunMs - 1));
  EXPECT_TRUE(MayMove(1, kMinRunMs));
  RunTask(2, {.cpu = 100});
  EXPECT_FALSE(MayMove(2)) << "nobody would make a successor";
}

TEST_F(MovabilityTest, LeavesWhatCannotBeStopped) {
  RunTask(1, Owned());
  RunTask(2, Owned());
  state_.Preempt({2});
  EXPECT_FALSE(MayMove(2)) << "it leaves already";
  Do(Submitted(3, Owned()));
  Place(3, "m");
  EXPECT_FALSE(MayMove(3)) << "nobody knows of it";
}

TEST_F(MovabilityTest, LeavesGangsAndWhoListensOnPorts) {
  RunTask(1, Owned(), {.gang = {.minimum = 1}});
  EXPECT_FALSE(MayMove(1));
  TaskOptions listening = Owned({.host_ports = {{.port = 80}}});
  listening.job = "another";
  RunTask(2, listening);
  EXPECT_FALSE(MayMove(2));
}

TEST_F(MovabilityTest, LeavesWhatStandsWhereItMayNotAnyMore) {
  RunTask(1, Owned({.selectors = {LabelIn("disk", {"ssd"})}}));
  EXPECT_TRUE(MayMove(1));
  Do(Updated("m", {.cpu = 1000, .labels = {{kHost, "m"}}}));
  EXPECT_FALSE(MayMove(1));
}

// Wishes are no bar: most pods have some.
TEST_F(MovabilityTest, LeavesThoseWithRequiredTermsAndWhomTheseMean) {
  TaskOptions web = Owned({.anti_affinity = {{App("db"), kHost}}});
  web.labels = {{"app", "web"}};
  RunTask(1, web);
  EXPECT_FALSE(MayMove(1)) << "it keeps away from others";
  TaskOptions db = Owned();
  db.labels = {{"app", "db"}};
  Do(Submitted(2, db, {}));
  Run(2, "n");
  EXPECT_FALSE(MayMove(2)) << "others keep away from it";
  TaskOptions spread = Owned({.spread = {Spread(App("log"), kHost)}});
  RunTask(3, spread);
  EXPECT_FALSE(MayMove(3));
  SpreadConstraint wish = Spread(App("cache"), kHost);
  wish.is_required = false;
  TaskOptions cache = Owned({.spread = {wish}});
  cache.labels = {{"app", "cache"}};
  RunTask(4, cache);
  EXPECT_TRUE(MayMove(4));
}

TEST_F(MovabilityTest, LeavesWhomTheRulesOfSuccessorsToComeMean) {
  TaskOptions web = Owned({.anti_affinity = {{App("db"), kHost}}});
  RunTask(1, web);
  TaskOptions db = Owned();
  db.labels = {{"app", "db"}};
  Do(Submitted(2, db, {}));
  Run(2, "n");
  Do(Added("o", {.cpu = 1000, .labels = {{kHost, "o"}}}));
  state_.SyncPeers();
  state_.Migrate({1}, MachineOf("o").id);
  DeliverAll();
  Do(Removed(1));
  EXPECT_FALSE(MayMove(2));
  state_.EndSuccessions(0);
  state_.EndSuccessions(kSuccessorWaitMs);
  state_.CollectRules();
  EXPECT_TRUE(MayMove(2));
}

TEST_F(MovabilityTest, TellsRulesApartByTheMachinesThatTheyAllow) {
  RunTask(1, Owned({.selectors = {LabelIn("disk", {"ssd"})}}));
  RunTask(2, Owned({.selectors = {LabelIn(kHost, {"m"})}}));
  RunTask(3, Owned());
  Movability movability = MakeMovability();
  const auto shape_of = [&](uint64_t uid) {
    return movability.ShapeOf(*TaskOf(uid).class_key.rules);
  };
  EXPECT_EQ(shape_of(1), shape_of(2)) << "both allow the first machine alone";
  EXPECT_NE(shape_of(1), shape_of(3));
}

}  // namespace
}  // namespace sluice
