#include "round/packing/turn_choice.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>

#include "constraints/constraint_set.h"
#include "cost/policy_set.h"
#include "unit/state/state_fixture.h"
#include "util/peer_builder.h"

namespace sluice {
namespace {

PlacementRules Apart(const std::string& app, const std::string& topology) {
  return {.anti_affinity = {{App(app), topology}}};
}
PlacementRules SpreadOver(const std::string& topology) {
  return {.spread = {Spread(App("web"), topology)}};
}

class TurnChoiceTest : public StateTest {
 protected:
  TurnChoiceTest() {
    for (const std::string name : {"a", "b"}) {
      Do(Added(name, {.cpu = 1000,
                      .labels = {{"host", name}, {"zone", "z" + name}}}));
    }
  }
  void Submit(uint64_t uid, uint32_t priority, const std::string& app,
              const PlacementRules& rules = {}, const Gang& gang = {}) {
    Do(Submitted(uid,
                 {.cpu = 500,
                  .priority = priority,
                  .job = gang.minimum > 0 ? "gang" : "job",
                  .labels = {{"app", app}},
                  .rules = rules},
                 {.gang = gang}));
  }
  void Run(uint64_t uid, const std::string& uuid, const std::string& app,
           uint32_t priority = 0) {
    Submit(uid, priority, app);
    state_.Place({uid}, MachineOf(uuid).id, 0);
    DeliverAll();
  }
  // The first task of the class, or 0.
  uint64_t Choice(uint64_t turn = 0, const PreemptionOptions& options = {}) {
    state_.SyncPeers();
    PackingPeers peers(state_, constraints_, {}, {});
    Eligibility eligibility(constraints_, policies_);
    eligibility.Refresh(&state_);
    RoundContext context({state_, policies_, constraints_, eligibility},
                         {.preemption = options}, 0);
    RoundStats stats;
    stats.number = turn;
    context.stats = &stats;
    const std::optional<ClassKey> key = ChooseTurn(&context, &peers).key;
    return key.has_value() ? state_.pending().at(*key).begin()->second->id.value
                           : 0;
  }
  const ConstraintSet constraints_;
  const PolicySet policies_ = *PolicySet::FromNames(kDefaultCostModels);
};

TEST_F(TurnChoiceTest, TakesThoseWhoseRulesAreNotHeededInTurn) {
  Do(Added("c", {.cpu = 1000, .labels = {{"host", "c"}, {"zone", "za"}}}));
  Submit(1, 9, "plain");
  Submit(2, 9, "shy", Apart("plain", "zone"));
  EXPECT_EQ((std::set{Choice(0), Choice(1)}), (std::set<uint64_t>{1, 2}));
}

TEST_F(TurnChoiceTest, TakesOneThatIsKeptAwayFromEverywhereByWhomItMayStop) {
  Run(1, "a", "web");
  Run(2, "b", "web");
  Submit(3, 9, "web", Apart("web", "zone"));
  EXPECT_EQ(Choice(), 0) << "each zone is a machine, which a packing heeds";
  Do(Added("c", {.cpu = 1000, .labels = {{"host", "c"}, {"zone", "za"}}}));
  EXPECT_EQ(Choice(), 0) << "a packing knows who may leave the zone";
  Submit(4, 9, "me", Apart("web", "zone"));
  EXPECT_NE(Choice(), 0) << "others may share a zone with its kind";
}

TEST_F(TurnChoiceTest, TakesOneThatItsSpreadKeepsAwayFromWhereThereIsRoom) {
  Run(1, "a", "web");
  Run(2, "a", "web");
  Submit(3, 9, "web", SpreadOver("zone"));
  EXPECT_EQ(Choice(), 0) << "b lets it in";
  Run(4, "b", "other", 10);
  Run(5, "b", "other", 10);
  EXPECT_EQ(Choice(), 3);
  Submit(6, 10, "web", SpreadOver("zone"));
  EXPECT_EQ(Choice(), 6) << "it is more urgent, and its spread counts both";
}

TEST_F(TurnChoiceTest, TakesOneThatOthersElsewhereKeepAwayFromItsCompany) {
  Do(Added("c", {.cpu = 1000, .labels = {{"host", "c"}, {"zone", "za"}}}));
  Run(1, "a", "web", 10);
  PlacementRules rules = Apart("low", "zone");
  rules.affinity = {{App("web"), "host"}};
  Submit(2, 9, "me", rules);
  EXPECT_EQ(Choice(), 0) << "it has room beside its company";
  Run(3, "c", "low");
  EXPECT_EQ(Choice(), 2);
}

TEST_F(TurnChoiceTest, LeavesOutOneThatItsOnlyCompanyKeepsAway) {
  Do(Added("c", {.cpu = 1000, .labels = {{"host", "c"}, {"zone", "za"}}}));
  Run(1, "a", "web");
  PlacementRules rules = Apart("web", "zone");
  rules.affinity = {{App("web"), "host"}};
  Submit(2, 9, "me", rules);
  EXPECT_EQ(Choice(), 0);
}

TEST_F(TurnChoiceTest, LeavesOutThoseWhoseSpreadHoldsAsThingsAre) {
  Run(1, "a", "web");
  Run(2, "a", "other", 10);
  Run(3, "b", "other", 10);
  Run(4, "b", "other", 10);
  Submit(5, 9, "web", SpreadOver("zone"));
  EXPECT_EQ(Choice(), 0) << "a packing knows who may leave the zone";
}

TEST_F(TurnChoiceTest, LeavesOutThoseForWhomStopsDoNotHelp) {
  Run(1, "a", "web", 9);
  Run(2, "a", "web", 9);
  Run(3, "b", "other", 10);
  Run(4, "b", "other", 10);
  Submit(5, 9, "web", SpreadOver("zone"));
  EXPECT_EQ(Choice(), 0);
}

TEST_F(TurnChoiceTest, LeavesOutGangsAndWhatDisplacesNobody) {
  Run(1, "a", "web");
  Run(2, "a", "web");
  Run(3, "b", "other", 10);
  Run(4, "b", "other", 10);
  PlacementRules meek = SpreadOver("zone");
  meek.never_preempts = true;
  Submit(5, 9, "web", meek);
  Submit(6, 9, "other", SpreadOver("zone"), {.minimum = 2});
  EXPECT_EQ(Choice(), 0);
}

TEST_F(TurnChoiceTest, LeavesOutThoseWhomOnlyTheProtectedKeepAway) {
  Run(1, "a", "web");
  Run(2, "a", "web");
  Run(3, "b", "other", 10);
  Run(4, "b", "other", 10);
  const FeedId feed = state_.OpenFeed("kube");
  state_.Apply(feed, SnapshotBegan(), 0);
  state_.Apply(feed, BudgetStated{"budget", {.tasks = App("web"), .amount = 2}},
               0);
  state_.Apply(feed, SnapshotEnded(), 0);
  Submit(5, 9, "web", SpreadOver("zone"));
  EXPECT_EQ(Choice(), 0);
  EXPECT_EQ(Choice(0, {.breaks_budgets = true}), 5);
}

}  // namespace
}  // namespace sluice
