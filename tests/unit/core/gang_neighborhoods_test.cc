#include "core/gang_neighborhoods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "unit/core/neighborhood_fixture.h"

namespace sluice {
namespace {

using testing::IsEmpty;

class GangAloneTest : public NeighborhoodTest {
 protected:
  GangAloneTest() { budget_ = 10000; }
  void AddMachine(std::string_view uuid, int64_t cpu) {
    cluster_.Apply(Added(uuid, {.cpu = cpu, .pods = 20000}));
  }
  // The next task of the gang.
  void Submit(int64_t cpu, const std::string& app = "gang",
              const PlacementRules& rules = {}) {
    cluster_.Apply(Submitted(
        ++last_uid_, {.cpu = cpu, .labels = {{"app", app}}, .rules = rules},
        {.gang = {.minimum = Gang::kAllTasks}}));
  }
  // Returns how many it placed.
  size_t Search(int64_t minimum) {
    cluster_.mutable_state().SyncPeers();
    Gangs::Waiting gang;
    gang.job = cluster_.TaskOf(1).job;
    gang.minimum = minimum;
    for (const auto& [key, tasks] : cluster_.state().pending()) {
      gang.classes.push_back(key);
    }
    const auto outcome =
        InRound([&](RoundContext* context, Transaction* transaction) {
          return PlaceBetter(GangAlone(gang, context), context, transaction);
        });
    EXPECT_EQ(cluster_.state().outbox().size(), outcome.placed.size());
    for (const TaskId id : outcome.placed) EXPECT_NE(On(id.value), "");
    return outcome.placed.size();
  }

 private:
  uint64_t last_uid_ = 0;
};

// The largest first, on the first machine, would leave one without a place.
TEST_F(GangAloneTest, TakesBackWhatLeavesNoRoomForTheRest) {
  AddMachine("a", 600);
  AddMachine("b", 400);
  Submit(300);
  Submit(300);
  Submit(400);
  EXPECT_EQ(Search(3), 3u);
  EXPECT_EQ(cluster_.MachineOf(1), "a");
  EXPECT_EQ(cluster_.MachineOf(3), "b");
}

TEST_F(GangAloneTest, LeavesNothingWhereItFindsNothing) {
  AddMachine("a", 500);
  AddMachine("b", 500);
  for (int i = 0; i < 3; ++i) Submit(300);
  EXPECT_EQ(Search(3), 0u);
  EXPECT_EQ(cluster_.state().pending_count(), 3);
}

TEST_F(GangAloneTest, PlacesNoMoreThanMust) {
  AddMachine("a", 1000);
  for (int i = 0; i < 3; ++i) Submit(100);
  EXPECT_EQ(Search(2), 2u);
  EXPECT_EQ(cluster_.MachineOf(3), "") << "the youngest";
}

// The large one fits nowhere, and the others are enough.
TEST_F(GangAloneTest, LeavesOutWhatFitsNowhere) {
  AddMachine("a", 300);
  Submit(400);
  Submit(100);
  Submit(200);
  EXPECT_EQ(Search(3), 0u);
  EXPECT_EQ(Search(2), 2u);
  EXPECT_EQ(cluster_.MachineOf(1), "");
}

TEST_F(GangAloneTest, LeavesOutWhatCameAfterTheRoundBegan) {
  AddMachine("a", 300);
  for (int i = 0; i < 2; ++i) Submit(100);
  BeginRound();
  Submit(100);
  EXPECT_EQ(Search(2), 2u);
  EXPECT_EQ(cluster_.MachineOf(3), "");
}

TEST_F(GangAloneTest, MeetsTheTermsOfEachByWhereTheOthersAre) {
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

TEST_F(GangAloneTest, CountsTheMachinesThatItLooksAt) {
  AddMachine("a", 100);
  AddMachine("b", 100);
  Submit(100);
  Submit(100);
  EXPECT_EQ(Search(2), 2u);
  EXPECT_EQ(budget_, 10000 - (2 + 1 + 2));
}

// The small one would go first where only the large one fits.
TEST_F(GangAloneTest, BeginsWithWhatHasTheLeastChoice) {
  AddMachine("a", 500);
  AddMachine("b", 100);
  Submit(100);
  Submit(500);
  budget_ = 2 * 2 + 3;  // Enough for no second thoughts.
  EXPECT_EQ(Search(2), 2u);
}

TEST_F(GangAloneTest, StopsWhenItsBudgetIsSpent) {
  for (int i = 0; i < 6; ++i) AddMachine(StrCat("m", i), 500);
  for (int i = 0; i < 4; ++i) Submit(200 + i);
  for (int i = 0; i < 4; ++i) Submit(300 + i);
  Submit(300);
  budget_ = 100;
  EXPECT_EQ(Search(9), 0u);
  EXPECT_LE(budget_, 0);
  EXPECT_GE(budget_, -6);
  EXPECT_THAT(cluster_.state().outbox(), IsEmpty());
}

// However many choices there are at once, and on machines that each of them
// looks at.
TEST_F(GangAloneTest, PlacesLargeGangs) {
  for (int m = 0; m < 100; ++m) AddMachine(StrCat("m", m), 1000);
  for (int i = 0; i < 10000; ++i) Submit(10);
  budget_ = 100000;
  EXPECT_EQ(Search(10000), 10000u);
  EXPECT_GT(budget_, 0);
}

TEST(GangAlone, IsTheLastResortOfARound) {
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

// ---------------------------------------------------------------------------
// Among others

class GangAmongOthersTest : public NeighborhoodTest {
 protected:
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
  Transaction::Outcome Search() {
    cluster_.mutable_state().SyncPeers();
    const Gangs gangs(&cluster_.mutable_state(), &cluster_.eligibility(),
                      cluster_.state().counters().next_task_sequence, kNowMs);
    for (const Gangs::Waiting& gang : gangs.FindWaiting(0)) {
      if (gang.job == cluster_.TaskOf(101).job) return SearchFor(gang);
    }
    ADD_FAILURE() << "the gang does not wait";
    return {};
  }

 private:
  Transaction::Outcome SearchFor(const Gangs::Waiting& gang) {
    return InRound([&](RoundContext* context, Transaction* transaction) {
      GangAmongOthers neighborhoods(gang, tier(), context, transaction);
      while (const auto one = neighborhoods.Next()) {
        if (PlaceBetter(*one, context, transaction)) return true;
      }
      return false;
    });
  }
};

TEST_F(GangAmongOthersTest, TakesTheRoomOfWhatIsCheaper) {
  cluster_.Apply(Added("m", {.cpu = 300}));
  SubmitGang(2, 100);
  Run(1, "m", {.cpu = 300});
  const Transaction::Outcome outcome = Search();
  EXPECT_EQ(outcome.placed.size(), 2u);
  EXPECT_EQ(outcome.given_up, 1);
  EXPECT_EQ(On(1), "");
  EXPECT_EQ(On(101), "m");
}

TEST_F(GangAmongOthersTest, LeavesAloneWhatIsNotCheaper) {
  cluster_.Apply(Added("m", {.cpu = 200}));
  SubmitGang(2, 100);
  Run(1, "m", {.cpu = 100});
  Run(2, "m", {.cpu = 100});
  EXPECT_TRUE(Search().placed.empty());
  EXPECT_EQ(On(1), "m");
  EXPECT_EQ(On(2), "m");
  EXPECT_EQ(cluster_.state().outbox().size(), 2u);
}

TEST_F(GangAmongOthersTest, PutsBackWhatStillFits) {
  cluster_.Apply(Added("m", {.cpu = 300}));
  cluster_.Apply(Added("n", {.cpu = 300}));
  SubmitGang(2, 200);
  Run(1, "m", {.cpu = 100});
  Run(2, "m", {.cpu = 100});
  Run(3, "n", {.cpu = 100});
  Run(4, "n", {.cpu = 100});
  // Two of the four give way for two, which is no gain.
  EXPECT_TRUE(Search().placed.empty());
  cluster_.Apply(Added("o", {.cpu = 200}));
  const Transaction::Outcome outcome = Search();
  EXPECT_EQ(outcome.placed.size(), 2u);
  EXPECT_EQ(outcome.given_up, 1);
}

TEST_F(GangAmongOthersTest, TakesTheRoomOnTheCheapestMachines) {
  for (const char* uuid : {"dear", "cheap"}) {
    cluster_.Apply(Added(uuid, {.cpu = 300}));
  }
  SubmitGang(3, 100);
  Run(1, "dear", {.cpu = 300}, /*submitted_ms=*/0);
  Run(2, "cheap", {.cpu = 300});
  EXPECT_EQ(Search().given_up, 1);
  EXPECT_EQ(On(1), "dear");
  EXPECT_EQ(On(101), "cheap");
}

TEST_F(GangAmongOthersTest, TakesBackGangsOnlyAsAWhole) {
  cluster_.Apply(Added("m", {.cpu = 300}));
  cluster_.Apply(Added("n", {.cpu = 100}));
  SubmitGang(3, 100);
  SubmitJob(1, 2, 100, "other", kNowMs);
  Place(1, "m");
  Place(2, "n");
  EXPECT_EQ(Search().placed.size(), 3u);
  EXPECT_EQ(On(1), "");
  EXPECT_EQ(On(2), "");
}

TEST_F(GangAmongOthersTest, LeavesOlderGangsAlone) {
  cluster_.Apply(Added("m", {.cpu = 300}));
  SubmitGang(3, 100);
  SubmitJob(1, 2, 100, "older", kNowMs - 1);
  Place(1, "m");
  Place(2, "m");
  EXPECT_TRUE(Search().placed.empty());
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

class VictimTest : public GangAmongOthersTest,
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
  EXPECT_EQ(Search().placed.size(), GetParam().placed);
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

TEST_F(GangAmongOthersTest, MindsTheRulesOfTheGang) {
  cluster_.Apply(Added("m", {.cpu = 300}));
  cluster_.Apply(Added("n", {.cpu = 300}));
  SubmitGang(2, 100, {.anti_affinity = {{App("gang"), ""}}});
  Run(1, "m", {.cpu = 300});
  EXPECT_EQ(Search().placed.size(), 2u);
  EXPECT_NE(On(101), On(102));
}

TEST_F(GangAmongOthersTest, StopsWhenItsBudgetIsSpent) {
  cluster_.Apply(Added("m", {.cpu = 300}));
  SubmitGang(2, 100);
  Run(1, "m", {.cpu = 300});
  budget_ = 1;
  EXPECT_TRUE(Search().placed.empty());
  EXPECT_EQ(On(1), "m");
}

}  // namespace
}  // namespace sluice
