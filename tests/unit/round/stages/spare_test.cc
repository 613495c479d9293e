#include "round/stages/spare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "round/context/round_context.h"
#include "util/cluster_builder.h"
#include "util/peer_builder.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SpareNeedlessTest : public ::testing::Test {
 protected:
  SpareNeedlessTest() {
    cluster_.Apply(Added("m", {.cpu = 2000, .labels = {{"zone", "z"}}}));
    cluster_.Apply(Added("n", {.cpu = 2000, .labels = {{"zone", "z"}}}));
  }
  void TearDown() override {
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
  }

  // A task that runs, and that its client knows of.
  void Run(uint64_t uid, const std::string& machine, const TaskOptions& task,
           const PeerOptions& peers = {}) {
    cluster_.Apply(Submitted(uid, task, peers));
    ClusterState& state = cluster_.mutable_state();
    state.SyncPeers();
    state.Place({uid}, IdOf(machine), 0);
    cluster_.Deliver();
  }
  void Nominate(uint64_t uid, const std::string& machine,
                const TaskOptions& task) {
    cluster_.Apply(Submitted(uid, task, PeerOptions()));
    cluster_.eligibility();  // Learns its rules.
    cluster_.mutable_state().Nominate({uid}, IdOf(machine));
  }
  // Returns those of the victims that still have to leave.
  std::vector<uint64_t> Spare(
      std::initializer_list<uint64_t> victims,
      NewcomersInTheWay newcomers = NewcomersInTheWay::kStay) {
    RoundContext context(
        {cluster_.mutable_state(), cluster_.policies(), cluster_.constraints(),
         cluster_.scheduler().eligibility()},
        {}, 0);
    context.delta_begin = 0;
    RoundStats stats;
    context.stats = &stats;
    for (const uint64_t victim : victims) {
      if (!cluster_.TaskOf(victim).is_evicted) {
        cluster_.mutable_state().Preempt({victim});
      }
      context.agenda.known.victims.push_back({victim});
      ++stats.preempted;
    }
    SpareNeedless(newcomers, &context);
    std::vector<uint64_t> left;
    for (const uint64_t victim : victims) {
      if (cluster_.TaskOf(victim).is_evicted) left.push_back(victim);
    }
    EXPECT_EQ(stats.preempted, std::ssize(left));
    EXPECT_EQ(context.agenda.known.victims.size(), left.size());
    return left;
  }
  MachineId IdOf(const std::string& name) {
    return cluster_.state().FindMachine(name)->id;
  }

  TestScheduler cluster_;
};

TEST_F(SpareNeedlessTest, SparesTheMostUrgentThatThereIsRoomFor) {
  Run(1, "m", {.cpu = 1000, .priority = 1});
  Run(2, "m", {.cpu = 1000, .priority = 2});
  Nominate(3, "m", {.cpu = 1000, .priority = 9});
  EXPECT_THAT(Spare({1, 2}), ElementsAre(1));
}

// Room is kept for all who are to come, but nobody is stopped for one that is
// less urgent.
TEST_F(SpareNeedlessTest, KeepsNoRoomForWhoIsLessUrgentThanAVictim) {
  Run(1, "m", {.cpu = 500, .priority = 5});
  Nominate(2, "m", {.cpu = 1000, .priority = 9});
  Nominate(3, "m", {.cpu = 500, .priority = 5});
  Nominate(4, "m", {.cpu = 500});
  EXPECT_THAT(Spare({1}), ElementsAre(1));
  EXPECT_THAT(Spare({1}, NewcomersInTheWay::kLoseRoom), IsEmpty());
  EXPECT_TRUE(cluster_.state().nominations().Contains({2}));
  EXPECT_TRUE(cluster_.state().nominations().Contains({3}));
  EXPECT_FALSE(cluster_.state().nominations().Contains({4}));
}

TEST_F(SpareNeedlessTest, SparesNobodyWhoseHostPortIsKept) {
  PlacementRules rules;
  rules.host_ports = {{"TCP", "0.0.0.0", 80}};
  Run(1, "m", {.cpu = 500, .rules = rules});
  Nominate(2, "m", {.cpu = 500, .priority = 9, .rules = rules});
  EXPECT_THAT(Spare({1}), ElementsAre(1));
}

TEST_F(SpareNeedlessTest, SparesNobodyWhomOneThatIsToComeKeepsAwayFrom) {
  PlacementRules rules;
  rules.anti_affinity = {{App("low"), "zone"}};
  Run(1, "m", {.cpu = 500, .labels = {{"app", "low"}}});
  Run(2, "m", {.cpu = 500, .labels = {{"app", "none"}}});
  Nominate(3, "n", {.cpu = 500, .priority = 9, .rules = rules});
  EXPECT_THAT(Spare({1, 2}), ElementsAre(1));
}

// Where one of two may stay, and the other would be counted.
TEST_F(SpareNeedlessTest, SparesAsManyAsASpreadAllows) {
  cluster_.Apply(Added("o", {.cpu = 2000, .labels = {{"zone", "y"}}}));
  PlacementRules rules;
  rules.spread = {Spread(App("low"), "zone")};
  for (const uint64_t uid : {1, 2}) {
    Run(uid, "m", {.cpu = 500, .labels = {{"app", "low"}}, .rules = rules});
  }
  Run(4, "o", {.cpu = 500, .labels = {{"app", "low"}}});
  Nominate(
      3, "n",
      {.cpu = 500, .priority = 9, .labels = {{"app", "low"}}, .rules = rules});
  EXPECT_THAT(Spare({1, 2}), ElementsAre(2));
}

// Each of two that are to come might beside the victim, but not both.
TEST_F(SpareNeedlessTest, LetsAllComeThatAreToComeToADomain) {
  cluster_.Apply(Added("o", {.cpu = 100, .labels = {{"zone", "y"}}}));
  PlacementRules rules;
  rules.spread = {Spread(App("low"), "zone", 2)};
  Run(1, "m", {.cpu = 500, .labels = {{"app", "low"}}});
  for (const uint64_t uid : {2, 3}) {
    Nominate(uid, "n",
             {.cpu = 500,
              .priority = 9,
              .labels = {{"app", "low"}},
              .rules = rules});
  }
  EXPECT_THAT(Spare({1}), ElementsAre(1));
  cluster_.mutable_state().EndNomination({3});
  EXPECT_THAT(Spare({1}), IsEmpty());
}

// Beside either of two that are to leave, but not beside a newcomer, too.
TEST_F(SpareNeedlessTest, TakesBackNewcomersThatAreNoMoreUrgent) {
  cluster_.Apply(Added("o", {.cpu = 2000, .labels = {{"zone", "y"}}}));
  PlacementRules rules;
  rules.spread = {Spread(App("low"), "zone", 1)};
  const TaskOptions low = {.cpu = 500, .labels = {{"app", "low"}}};
  for (const uint64_t uid : {1, 2}) Run(uid, "m", low);
  Run(3, "o", low);
  Nominate(
      4, "n",
      {.cpu = 500, .priority = 9, .labels = {{"app", "low"}}, .rules = rules});
  for (const uint64_t uid : {5, 6}) {
    TaskOptions newcomer = low;
    newcomer.priority = uid == 5 ? 1 : 0;
    cluster_.Apply(Submitted(uid, newcomer, PeerOptions()));
  }
  cluster_.mutable_state().SyncPeers();
  cluster_.mutable_state().Place({5}, IdOf("n"), 0);
  EXPECT_THAT(Spare({1, 2}, NewcomersInTheWay::kTakeBack), ElementsAre(1, 2))
      << "the newcomer is more urgent";
  cluster_.mutable_state().Place({6}, IdOf("n"), 0);
  EXPECT_THAT(Spare({1, 2}), ElementsAre(1, 2));
  cluster_.mutable_state().Withdraw({5});
  EXPECT_THAT(Spare({1, 2}), ElementsAre(1, 2));
  EXPECT_THAT(Spare({1, 2}, NewcomersInTheWay::kTakeBack), ElementsAre(2));
  EXPECT_EQ(cluster_.TaskOf(6).state, TaskState::kPending);
}

// Of a gang that was told to leave before this round, but for one.
TEST_F(SpareNeedlessTest, SparesNoPartOfAGangThatIsTooSmall) {
  for (const uint64_t uid : {1, 2}) {
    Run(uid, uid == 1 ? "m" : "n", {.cpu = 1000, .job = "gang"},
        {.gang = {.minimum = 2}});
  }
  cluster_.mutable_state().Preempt({1});
  cluster_.Deliver();
  EXPECT_THAT(Spare({2}), ElementsAre(2));
}

TEST_F(SpareNeedlessTest, SparesAGangAsAWholeOrNotAtAll) {
  for (const uint64_t uid : {1, 2}) {
    Run(uid, uid == 1 ? "m" : "n", {.cpu = 1000, .job = "gang"},
        {.gang = {.minimum = 2}});
  }
  Nominate(3, "m", {.cpu = 1500, .priority = 9});
  EXPECT_THAT(Spare({1, 2}), ElementsAre(1, 2));
  cluster_.mutable_state().EndNomination({3});
  EXPECT_THAT(Spare({1, 2}), IsEmpty());
}

}  // namespace
}  // namespace sluice
