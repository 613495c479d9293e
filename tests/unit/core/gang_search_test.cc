#include "core/gang_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "util/peer_builder.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::IsEmpty;

constexpr uint64_t kAll = std::numeric_limits<uint64_t>::max();

class GangSearchTest : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
  }
  void AddMachine(std::string_view uuid, int64_t cpu) {
    cluster_.Apply(Added(uuid, {.cpu = cpu}));
  }
  // The next task of the gang.
  void Submit(int64_t cpu, const std::string& app = "gang",
              const PlacementRules& rules = {}) {
    cluster_.Apply(Submitted(
        ++last_uid_, {.cpu = cpu, .labels = {{"app", app}}, .rules = rules},
        {.gang = {.minimum = Gang::kAllTasks}}));
  }
  // Returns how many it placed.
  size_t Search(int64_t minimum, uint64_t sequence_end = kAll) {
    cluster_.mutable_state().SyncPeers();
    Gangs::Waiting gang;
    gang.job = cluster_.TaskOf(1).job;
    gang.minimum = minimum;
    for (const auto& [key, tasks] : cluster_.state().pending()) {
      gang.classes.push_back(key);
    }
    const std::vector<TaskId> placed =
        SearchForGang(gang, sequence_end, cluster_.constraints(), 0,
                      &cluster_.mutable_state(), &budget_);
    EXPECT_EQ(cluster_.state().outbox().size(), placed.size());
    for (const TaskId id : placed) {
      EXPECT_NE(cluster_.MachineOf(id.value), "");
    }
    return placed.size();
  }
  TestScheduler cluster_;
  int64_t budget_ = 10000;

 private:
  uint64_t last_uid_ = 0;
};

// The largest first, on the first machine, would leave one without a place.
TEST_F(GangSearchTest, TakesBackWhatLeavesNoRoomForTheRest) {
  AddMachine("a", 600);
  AddMachine("b", 400);
  Submit(300);
  Submit(300);
  Submit(400);
  EXPECT_EQ(Search(3), 3u);
  EXPECT_EQ(cluster_.MachineOf(1), "a");
  EXPECT_EQ(cluster_.MachineOf(3), "b");
}

TEST_F(GangSearchTest, LeavesNothingWhereItFindsNothing) {
  AddMachine("a", 500);
  AddMachine("b", 500);
  for (int i = 0; i < 3; ++i) Submit(300);
  EXPECT_EQ(Search(3), 0u);
  EXPECT_EQ(cluster_.state().pending_count(), 3);
}

TEST_F(GangSearchTest, PlacesNoMoreThanMust) {
  AddMachine("a", 1000);
  for (int i = 0; i < 3; ++i) Submit(100);
  EXPECT_EQ(Search(2), 2u);
  EXPECT_EQ(cluster_.MachineOf(3), "") << "the youngest";
}

// The large one fits nowhere, and the others are enough.
TEST_F(GangSearchTest, LeavesOutWhatFitsNowhere) {
  AddMachine("a", 300);
  Submit(400);
  Submit(100);
  Submit(200);
  EXPECT_EQ(Search(3), 0u);
  EXPECT_EQ(Search(2), 2u);
  EXPECT_EQ(cluster_.MachineOf(1), "");
}

TEST_F(GangSearchTest, LeavesOutWhatCameAfterTheRoundBegan) {
  AddMachine("a", 300);
  for (int i = 0; i < 3; ++i) Submit(100);
  EXPECT_EQ(Search(3, cluster_.TaskOf(3).sequence), 0u);
  EXPECT_EQ(Search(2, cluster_.TaskOf(3).sequence), 2u);
  EXPECT_EQ(cluster_.MachineOf(3), "");
}

TEST_F(GangSearchTest, MeetsTheTermsOfEachByWhereTheOthersAre) {
  AddMachine("a", 300);
  AddMachine("b", 600);
  const PeerTerm leader = {App("leader"), ""};
  Submit(300, "leader", {.anti_affinity = {{App("shy"), ""}}});
  Submit(200, "gang", {.affinity = {leader}});
  Submit(100, "shy");
  EXPECT_EQ(Search(3), 3u);
  EXPECT_EQ(cluster_.MachineOf(1), "b");
  EXPECT_EQ(cluster_.MachineOf(2), "b");
  EXPECT_EQ(cluster_.MachineOf(3), "a");
}

TEST_F(GangSearchTest, CountsTheMachinesThatItLooksAt) {
  AddMachine("a", 100);
  AddMachine("b", 100);
  Submit(100);
  Submit(100);
  EXPECT_EQ(Search(2), 2u);
  EXPECT_EQ(budget_, 10000 - 3 * 2);
}

// The small one would go first where only the large one fits.
TEST_F(GangSearchTest, BeginsWithWhatHasTheLeastChoice) {
  AddMachine("a", 500);
  AddMachine("b", 100);
  Submit(100);
  Submit(500);
  budget_ = 4 * 2 + 1;  // Enough for no second thoughts.
  EXPECT_EQ(Search(2), 2u);
}

TEST_F(GangSearchTest, StopsWhenItsBudgetIsSpent) {
  for (int i = 0; i < 6; ++i) AddMachine(StrCat("m", i), 500);
  for (int i = 0; i < 4; ++i) Submit(200 + i);
  for (int i = 0; i < 4; ++i) Submit(300 + i);
  Submit(300);
  budget_ = 50;
  EXPECT_EQ(Search(9), 0u);
  EXPECT_LE(budget_, 0);
  EXPECT_GT(budget_, -6 * 9) << "each on its way out looks once more";
  EXPECT_THAT(cluster_.state().outbox(), IsEmpty());
}

TEST(GangSearch, IsTheLastResortOfARound) {
  TestScheduler cluster;
  ClusterBuilder()
      .Machine("a", {.cpu = 600})
      .Machine("b", {.cpu = 400})
      .ApplyTo(&cluster);
  for (uint64_t uid = 1; uid <= 3; ++uid) {
    cluster.Apply(Submitted(uid, {.cpu = uid == 3 ? 400 : 300},
                            {.gang = {.minimum = 3}}));
  }
  const RoundStats& stats = cluster.Round();
  EXPECT_EQ(stats.placed, 3);
  EXPECT_EQ(stats.pending, 0);
  EXPECT_EQ(cluster.Deliver().deltas.size(), 3u);
}

}  // namespace
}  // namespace sluice
