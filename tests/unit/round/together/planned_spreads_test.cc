#include "round/together/planned_spreads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

#include "constraints/constraint_set.h"
#include "unit/state/state_fixture.h"
#include "util/peer_builder.h"

namespace sluice {
namespace {

using testing::Optional;

class PlannedSpreadsTest : public StateTest {
 protected:
  PlannedSpreadsTest() {
    for (const std::string name : {"a1", "a2", "b1"}) {
      Do(Added(name, {.cpu = 1000, .labels = {{"zone", name.substr(0, 1)}}}));
    }
    for (const uint64_t uid : {1, 2}) {
      Submit(uid, 0, "a2");
      Submit(uid + 2, 0, "b1");
    }
  }
  void Submit(uint64_t uid, uint32_t priority, const std::string& uuid = "") {
    Do(Submitted(uid,
                 {.cpu = 100,
                  .priority = priority,
                  .job = "job",
                  .labels = {{"app", "web"}},
                  .rules = {.spread = {Spread(App("web"), "zone")}}},
                 PeerOptions()));
    if (!uuid.empty()) state_.Place({uid}, MachineOf(uuid).id, 0);
  }
  const Task& TaskOf(uint64_t uid) { return *state_.FindTask({uid}); }
  MachineId On(const std::string& uuid) { return MachineOf(uuid).id; }
  // As two of them come to a1.
  PlannedSpreads TwoCome() {
    Submit(11, 9);
    state_.SyncPeers();
    PlannedSpreads spreads(state_, constraints_);
    const ClassKey& key = TaskOf(11).class_key;
    spreads.Watch(key);
    EXPECT_TRUE(spreads.Watches(key));
    spreads.Come(key, On("a1"), 2);
    return spreads;
  }
  const ConstraintSet constraints_;
};

TEST_F(PlannedSpreadsTest, LooksAtThoseThatComeOnceAllHaveLeft) {
  PlannedSpreads spreads = TwoCome();
  const ClassKey& key = TaskOf(11).class_key;
  EXPECT_FALSE(spreads.Allow(key, On("a1"))) << "four, and two in b";
  spreads.Leave(TaskOf(1));
  EXPECT_TRUE(spreads.Allow(key, On("a1")));
  spreads.Leave(TaskOf(3));
  EXPECT_FALSE(spreads.Allow(key, On("a1"))) << "b holds one less";
  spreads.Come(key, On("b1"));
  EXPECT_TRUE(spreads.Allow(key, On("a1")));
  spreads.Reset();
  EXPECT_TRUE(spreads.Allow(key, On("a1")));
}

TEST_F(PlannedSpreadsTest, LooksAtSpreadsThatCountOthersAlone) {
  Do(Submitted(11,
               {.cpu = 100,
                .labels = {{"app", "other"}},
                .rules = {.spread = {Spread(App("web"), "zone")}}},
               PeerOptions()));
  state_.SyncPeers();
  PlannedSpreads spreads(state_, constraints_);
  const ClassKey& key = TaskOf(11).class_key;
  spreads.Watch(key);
  spreads.Come(key, On("a1"), 2);
  spreads.Leave(TaskOf(3));
  EXPECT_TRUE(spreads.Allow(key, On("a1"))) << "two, and one in b";
  spreads.Leave(TaskOf(4));
  EXPECT_FALSE(spreads.Allow(key, On("a1"))) << "two, and none in b";
}

TEST_F(PlannedSpreadsTest, KnowsForWhomSomebodyHasToLeave) {
  PlannedSpreads spreads = TwoCome();
  spreads.Leave(TaskOf(1));
  EXPECT_THAT(spreads.HighestAgainst(TaskOf(1)), Optional(9u));
  EXPECT_EQ(spreads.HighestAgainst(TaskOf(3)), std::nullopt)
      << "nobody comes there";
  spreads.Leave(TaskOf(2));
  EXPECT_EQ(spreads.HighestAgainst(TaskOf(1)), std::nullopt)
      << "one of the two is enough";
  spreads.Leave(TaskOf(2), -1);
  EXPECT_THAT(spreads.HighestAgainst(TaskOf(1)), Optional(9u));
}

TEST_F(PlannedSpreadsTest, LeavesOutWhatThePackingPlacesAnew) {
  PlannedSpreads spreads = TwoCome();
  spreads.Withdraw(TaskOf(1));
  EXPECT_TRUE(spreads.Allow(TaskOf(11).class_key, On("a1")));
}

}  // namespace
}  // namespace sluice
