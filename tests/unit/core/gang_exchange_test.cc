#include "core/gang_exchange.h"

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

class GangExchangeTest : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
  }
  // The gang whose room is looked for: tasks 101, 102, ...
  void SubmitGang(int64_t count, int64_t cpu,
                  const PlacementRules& rules = {}) {
    SubmitJob(101, count, cpu, "gang", kNowMs, rules);
  }
  // A gang that runs or none of it.
  void SubmitJob(uint64_t first_uid, int64_t count, int64_t cpu,
                 const std::string& job, int64_t now_ms,
                 const PlacementRules& rules = {}) {
    for (int64_t i = 0; i < count; ++i) {
      cluster_.Apply(Submitted(first_uid + static_cast<uint64_t>(i),
                               {.cpu = cpu,
                                .job = job,
                                .labels = {{"app", job}},
                                .rules = rules},
                               {.gang = {.minimum = Gang::kAllTasks}}),
                     now_ms);
    }
  }
  // A task on its own, on the machine.
  void Run(uint64_t uid, std::string_view uuid, const TaskOptions& options,
           int64_t submitted_ms = kNowMs) {
    cluster_.Apply(Submitted(uid, options, PeerOptions()), submitted_ms);
    Place(uid, uuid);
  }
  void Place(uint64_t uid, std::string_view uuid) {
    cluster_.mutable_state().Place(
        {uid}, cluster_.state().FindMachine(uuid)->id, kNowMs);
  }
  GangExchangeOutcome Exchange() {
    cluster_.mutable_state().SyncPeers();
    cluster_.eligibility().Refresh(&cluster_.mutable_state());
    const Gangs gangs(&cluster_.mutable_state(), &cluster_.eligibility(), kAll,
                      kNowMs);
    for (const Gangs::Waiting& gang : gangs.FindWaiting(0)) {
      if (gang.job != cluster_.TaskOf(101).job) continue;
      return ExchangeForGang(gang, delta_begin_, kAll, cluster_.constraints(),
                             &cluster_.eligibility(), kNowMs,
                             &cluster_.mutable_state(), &budget_);
    }
    ADD_FAILURE() << "the gang does not wait";
    return {};
  }
  std::string On(uint64_t uid) { return cluster_.MachineOf(uid); }
  TestScheduler cluster_;
  uint64_t delta_begin_ = 0;
  int64_t budget_ = 100000;
};

TEST_F(GangExchangeTest, TakesTheRoomOfWhatIsCheaper) {
  cluster_.Apply(Added("m", {.cpu = 300}));
  SubmitGang(2, 100);
  Run(1, "m", {.cpu = 300});
  const GangExchangeOutcome outcome = Exchange();
  EXPECT_EQ(outcome.placed.size(), 2u);
  EXPECT_EQ(outcome.given_up, 1);
  EXPECT_EQ(On(1), "");
  EXPECT_EQ(On(101), "m");
}

TEST_F(GangExchangeTest, LeavesAloneWhatIsNotCheaper) {
  cluster_.Apply(Added("m", {.cpu = 200}));
  SubmitGang(2, 100);
  Run(1, "m", {.cpu = 100});
  Run(2, "m", {.cpu = 100});
  EXPECT_TRUE(Exchange().placed.empty());
  EXPECT_EQ(On(1), "m");
  EXPECT_EQ(On(2), "m");
  EXPECT_EQ(cluster_.state().outbox().size(), 2u);
}

TEST_F(GangExchangeTest, PutsBackWhatStillFits) {
  cluster_.Apply(Added("m", {.cpu = 300}));
  cluster_.Apply(Added("n", {.cpu = 300}));
  SubmitGang(2, 200);
  Run(1, "m", {.cpu = 100});
  Run(2, "m", {.cpu = 100});
  Run(3, "n", {.cpu = 100});
  Run(4, "n", {.cpu = 100});
  // Two of the four give way for two, which is no gain.
  EXPECT_TRUE(Exchange().placed.empty());
  cluster_.Apply(Added("o", {.cpu = 200}));
  const GangExchangeOutcome outcome = Exchange();
  EXPECT_EQ(outcome.placed.size(), 2u);
  EXPECT_EQ(outcome.given_up, 1);
}

TEST_F(GangExchangeTest, TakesTheRoomOnTheCheapestMachines) {
  for (const char* uuid : {"dear", "cheap"}) {
    cluster_.Apply(Added(uuid, {.cpu = 300}));
  }
  SubmitGang(3, 100);
  Run(1, "dear", {.cpu = 300}, /*submitted_ms=*/0);
  Run(2, "cheap", {.cpu = 300});
  EXPECT_EQ(Exchange().given_up, 1);
  EXPECT_EQ(On(1), "dear");
  EXPECT_EQ(On(101), "cheap");
}

TEST_F(GangExchangeTest, TakesBackGangsOnlyAsAWhole) {
  cluster_.Apply(Added("m", {.cpu = 300}));
  cluster_.Apply(Added("n", {.cpu = 100}));
  SubmitGang(3, 100);
  SubmitJob(1, 2, 100, "other", kNowMs);
  Place(1, "m");
  Place(2, "n");
  EXPECT_EQ(Exchange().placed.size(), 3u);
  EXPECT_EQ(On(1), "");
  EXPECT_EQ(On(2), "");
}

TEST_F(GangExchangeTest, LeavesOlderGangsAlone) {
  cluster_.Apply(Added("m", {.cpu = 300}));
  SubmitGang(3, 100);
  SubmitJob(1, 2, 100, "older", kNowMs - 1);
  Place(1, "m");
  Place(2, "m");
  EXPECT_TRUE(Exchange().placed.empty());
}

struct Victim {
  std::string name;
  bool is_told = false;
  bool is_meant_by_others = false;
  uint32_t priority = 0;
  bool is_of_an_earlier_tier = false;
  bool is_quarantined = false;
  size_t placed = 0;  // Of the gang.
};

class VictimTest : public GangExchangeTest,
                   public testing::WithParamInterface<Victim> {};

TEST_P(VictimTest, GivesWayWhereItMay) {
  cluster_.Apply(Added("m", {.cpu = 300}));
  SubmitGang(2, 100);
  if (GetParam().is_meant_by_others) {
    const PlacementRules near = {.affinity = {{App("db"), ""}}};
    cluster_.Apply(Submitted(50, {.cpu = 1000, .rules = near}, PeerOptions()));
    cluster_.mutable_state().SyncPeers();
  }
  Run(1, "m",
      {.cpu = 300, .priority = GetParam().priority, .labels = {{"app", "db"}}});
  if (GetParam().is_told) cluster_.Deliver();
  if (GetParam().is_quarantined) {
    cluster_.Apply(Updated(1, {.quarantine_reason = "makes no sense"}));
  }
  if (GetParam().is_of_an_earlier_tier) {
    delta_begin_ = cluster_.state().counters().next_delta_sequence;
  }
  EXPECT_EQ(Exchange().placed.size(), GetParam().placed);
}

INSTANTIATE_TEST_SUITE_P(
    All, VictimTest,
    testing::Values(Victim{.name = "Free", .placed = 2},
                    Victim{.name = "Told", .is_told = true},
                    Victim{.name = "Meant", .is_meant_by_others = true},
                    Victim{.name = "MoreUrgent", .priority = 1},
                    Victim{.name = "Earlier", .is_of_an_earlier_tier = true},
                    Victim{.name = "Quarantined", .is_quarantined = true}),
    [](const auto& row) { return row.param.name; });

TEST_F(GangExchangeTest, MindsTheRulesOfTheGang) {
  cluster_.Apply(Added("m", {.cpu = 300}));
  cluster_.Apply(Added("n", {.cpu = 300}));
  SubmitGang(2, 100, {.anti_affinity = {{App("gang"), ""}}});
  Run(1, "m", {.cpu = 300});
  EXPECT_EQ(Exchange().placed.size(), 2u);
  EXPECT_NE(On(101), On(102));
}

TEST_F(GangExchangeTest, StopsWhenItsBudgetIsSpent) {
  cluster_.Apply(Added("m", {.cpu = 300}));
  SubmitGang(2, 100);
  Run(1, "m", {.cpu = 300});
  budget_ = 1;
  EXPECT_TRUE(Exchange().placed.empty());
  EXPECT_EQ(On(1), "m");
}

}  // namespace
}  // namespace sluice
