#include "round/context/minimum_askers.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "util/cluster_builder.h"
#include "util/peer_builder.h"
#include "util/rules_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

class MinimumAskersTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* zone : {"a", "b"}) {
      cluster_.Apply(Added(zone, {.cpu = 8000, .labels = {{"zone", zone}}}));
    }
  }
  // A waiting task, of an app that should have so many in each zone.
  const ClassKey& Submit(uint64_t uid, const std::string& app,
                         int32_t at_least) {
    const PlacementRules rules = {.minimums = {{{App(app), "zone"}, at_least}}};
    cluster_.Apply(Submitted(
        uid, {.cpu = 100, .labels = {{"app", app}}, .rules = rules}, {}));
    cluster_.mutable_state().SyncPeers();
    return cluster_.TaskOf(uid).class_key;
  }
  int64_t Lacking(const MinimumAskers& askers) const {
    return askers.CountLacking(cluster_.state());
  }

  TestScheduler cluster_;
};

TEST_F(MinimumAskersTest, CountOfEachMinimumWhatTheMostDemandingClassAsksFor) {
  MinimumAskers askers;
  EXPECT_EQ(Lacking(askers), 0);
  askers.Add(Submit(1, "web", 3), cluster_.state());
  askers.Add(Submit(2, "web", 1), cluster_.state());
  EXPECT_EQ(Lacking(askers), 3 + 3);
  askers.Add(Submit(3, "store", 1), cluster_.state());
  EXPECT_EQ(Lacking(askers), 3 + 3 + 1 + 1);
}

TEST_F(MinimumAskersTest, AreTheSameHoweverTheyAreAddedUp) {
  MinimumAskers little;
  MinimumAskers much;
  little.Add(Submit(1, "web", 1), cluster_.state());
  much.Add(Submit(2, "web", 4), cluster_.state());
  MinimumAskers first = little;
  first.Add(much);
  MinimumAskers second = much;
  second.Add(little);
  EXPECT_EQ(Lacking(first), 4 + 4);
  EXPECT_EQ(Lacking(second), 4 + 4);
}

}  // namespace
}  // namespace sluice
