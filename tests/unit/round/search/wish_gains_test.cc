#include "round/search/wish_gains.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

#include "unit/state/state_fixture.h"
#include "util/peer_builder.h"

namespace sluice {
namespace {

class WishGainsTest : public StateTest {
 protected:
  WishGainsTest() {
    for (const char* uuid : {"a", "b", "c"}) {
      Do(Added(uuid, {.cpu = 1000, .labels = {{"host", uuid}}}));
    }
  }
  // Tasks that would rather be on different hosts.
  void RunApart(uint64_t uid, std::string_view uuid) {
    SpreadConstraint spread = Spread(App("web"), "host");
    spread.is_required = false;
    TaskOptions options{.cpu = 100, .rules = {.spread = {spread}}};
    options.labels = {{"app", "web"}};
    Do(Submitted(uid, options, {}));
    Run(uid, uuid);
  }
  MachineId IdOf(std::string_view uuid) const { return MachineOf(uuid).id; }
  WishGains MakeGains() {
    state_.SyncPeers();
    return {state_, constraints_, policies_};
  }

  const ConstraintSet constraints_;
  const PolicySet policies_ = *PolicySet::FromNames(kDefaultCostModels);
};

TEST_F(WishGainsTest, AreNothingWithoutWishes) {
  Do(Submitted(1, {.cpu = 100}));
  Run(1, "a");
  EXPECT_EQ(MakeGains().Move(TaskOf(1), IdOf("b")), 0);
}

TEST_F(WishGainsTest, ArePositiveWhereATaskLeavesACrowd) {
  RunApart(1, "a");
  RunApart(2, "a");
  EXPECT_GT(MakeGains().Move(TaskOf(1), IdOf("b")), 0);
  EXPECT_EQ(MakeGains().Move(TaskOf(1), IdOf("a")), 0);
}

TEST_F(WishGainsTest, AreNegativeWhereItJoinsOne) {
  RunApart(1, "a");
  RunApart(2, "b");
  EXPECT_LT(MakeGains().Move(TaskOf(1), IdOf("b")), 0);
}

// Each would rather be alone, and minds the others as they mind it.
TEST_F(WishGainsTest, CountTermsOfBothSidesButNotItself) {
  for (uint64_t uid = 1; uid <= 2; ++uid) {
    TaskOptions options{.cpu = 100, .job = "shy"};
    options.rules.preferred_peers = {
        {.weight = -100, .term = {App("shy"), "host"}}};
    options.labels = {{"app", "shy"}};
    Do(Submitted(uid, options, {}));
    Run(uid, uid == 1 ? "a" : "b");
  }
  WishGains gains = MakeGains();
  EXPECT_EQ(gains.Move(TaskOf(1), IdOf("c")), 0);
  const int64_t together = gains.Move(TaskOf(2), IdOf("c"));
  EXPECT_EQ(together, -2 * 100 * 3000) << "for both";
}

TEST_F(WishGainsTest, CountTheMovesBefore) {
  RunApart(1, "a");
  RunApart(2, "b");
  WishGains gains = MakeGains();
  EXPECT_EQ(gains.Move(TaskOf(1), IdOf("c")), 0);
  EXPECT_LT(gains.Move(TaskOf(2), IdOf("c")), 0) << "the first is there";
  WishGains other = MakeGains();
  EXPECT_EQ(other.Move(TaskOf(1), IdOf("c")), 0);
  EXPECT_EQ(other.Move(TaskOf(2), IdOf("a")), 0) << "the first has left";
}

}  // namespace
}  // namespace sluice
