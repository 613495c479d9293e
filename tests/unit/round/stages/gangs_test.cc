#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "round/context/round_context.h"
#include "round/stages/stage.h"
#include "util/cluster_builder.h"
#include "util/peer_builder.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

constexpr int64_t kHourMs = 3600 * 1000;

class StartGangsTest : public testing::Test {
 protected:
  void SetUp() override {
    cluster_.Apply(Added("m", {.cpu = 200}));
    SubmitTwo(1, "old", 0);
    SubmitTwo(3, "new", kHourMs);
  }
  void TearDown() override {
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
  }
  // A gang that takes all of the machine.
  void SubmitTwo(uint64_t uid, const std::string& job, int64_t now_ms) {
    for (const uint64_t one : {uid, uid + 1}) {
      cluster_.Apply(
          Submitted(one, {.cpu = 100, .job = job}, {.gang = {.minimum = 2}}),
          now_ms);
    }
  }
  // Begins a round in which the task has lost the place that was kept for it.
  void BeginAfterPromising(uint64_t uid) {
    ClusterState& state = cluster_.mutable_state();
    state.Nominate({uid}, state.FindMachine("m")->id);
    Begin();
    state.EndNomination({uid});
  }
  void Begin() {
    context_.emplace(
        RoundContext::Subject{cluster_.mutable_state(), cluster_.policies(),
                              cluster_.constraints(),
                              cluster_.scheduler().eligibility()},
        RoundOptions(), kHourMs);
    context_->stats = &stats_;
  }
  void StartGangs() {
    Tier tier;
    const std::unique_ptr<Stage> stage = MakeStartGangs(&*context_, tier);
    while (const std::optional<RoundWork> work = stage->Next()) {
      stage->Finish(cluster_.Solve(*work));
    }
    stage->End();
  }

  TestScheduler cluster_;
  RoundStats stats_;
  std::optional<RoundContext> context_;
};

TEST_F(StartGangsTest, BeginsWithTheOldest) {
  Begin();
  StartGangs();
  EXPECT_EQ(cluster_.MachineOf(1), "m");
  EXPECT_EQ(cluster_.MachineOf(2), "m");
  EXPECT_EQ(cluster_.MachineOf(3), "");
}

TEST_F(StartGangsTest, BeginsWithOneThatWasPromisedAPlace) {
  BeginAfterPromising(4);
  StartGangs();
  EXPECT_EQ(cluster_.MachineOf(1), "");
  EXPECT_EQ(cluster_.MachineOf(3), "m");
  EXPECT_EQ(cluster_.MachineOf(4), "m");
}

TEST_F(StartGangsTest, PlacesATaskThatWasPromisedAPlaceFirst) {
  cluster_.Apply(Submitted(5, {.cpu = 150, .job = "alone"}), kHourMs);
  BeginAfterPromising(5);
  StartGangs();
  EXPECT_EQ(cluster_.MachineOf(5), "m");
  EXPECT_EQ(cluster_.MachineOf(1), "");
}

// The first task of the gang that must be near its like would go where the
// other one alone can be.  Nothing else is placed in the round.
TEST(Gangs, StartWhereTheirTasksAreInEachOthersWay) {
  TestScheduler cluster;
  cluster.Apply(
      Added("m4", {.cpu = 2000, .labels = {{"disk", "ssd"}, {"zone", "a"}}}));
  cluster.Apply(Added("m5", {.cpu = 4000, .labels = {{"zone", "a"}}}));
  const PeerOptions of_gang = {.gang = {.minimum = 2}};
  TaskOptions near = {.cpu = 2000, .job = "job", .labels = {{"app", "near"}}};
  near.rules.affinity = {{App("near"), "zone"}};
  cluster.Apply(Submitted(16, near, of_gang));
  TaskOptions picky = {.cpu = 1000, .job = "job"};
  picky.rules.selectors = {LabelIn("disk", {"ssd"})};
  cluster.Apply(Submitted(18, picky, of_gang));
  cluster.Round();
  EXPECT_EQ(cluster.MachineOf(16), "m5");
  EXPECT_EQ(cluster.MachineOf(18), "m4");
}

// All three racks but one have two of its like then.
TEST(Gangs, StartWhereTheirSpreadsHold) {
  TestScheduler cluster;
  const auto add = [&](const std::string& uuid, int64_t memory,
                       const std::string& zone, const std::string& rack) {
    MachineOptions machine = {.cpu = 8000, .memory = memory};
    machine.labels = {{"rack", rack}};
    if (!zone.empty()) machine.labels.push_back({"zone", zone});
    cluster.Apply(Added(uuid, machine));
  };
  add("m1", 4, "", "r1");
  add("m2", 8, "z0", "r2");
  add("m3", 8, "z1", "r2");
  add("m4", 8, "z0", "r0");
  add("m5", 4, "z1", "r1");
  add("m6", 8, "z0", "r3");
  add("m7", 8, "z1", "r3");
  add("m8", 8, "z0", "r0");
  add("m9", 8, "z1", "r1");
  add("m10", 8, "z0", "r2");
  add("m11", 8, "z1", "r3");
  const auto submit = [&](uint64_t uid, const std::string& job) {
    TaskOptions task = {.cpu = 2000, .memory = 3, .job = job};
    task.labels = {{"app", "a3"}};
    task.rules.anti_affinity = {{App("a3"), ""}};
    task.rules.spread = {Spread(App("a3"), "rack"), Spread(App("a3"), "zone")};
    task.rules.spread[1].max_skew = 2;
    cluster.Apply(Submitted(uid, task, {.gang = {.minimum = 3}}));
  };
  uint64_t uid = 0;
  for (const char* machine : {"m3", "m4", "m7", "m8", "m9"}) {
    submit(++uid, "running");
    cluster.mutable_state().SyncPeers();
    cluster.mutable_state().Place({uid},
                                  cluster.state().FindMachine(machine)->id, 0);
  }
  cluster.Deliver();
  cluster.Apply(Submitted(20, {.cpu = 2000, .memory = 1}));
  cluster.mutable_state().Place({20}, cluster.state().FindMachine("m5")->id, 0);
  cluster.Deliver();
  for (const uint64_t one : {11, 12, 13}) submit(one, "first");
  for (const uint64_t one : {14, 15, 16}) submit(one, "second");
  cluster.Round();
  std::map<std::string, int> racks = {
      {"r0", 0}, {"r1", 0}, {"r2", 0}, {"r3", 0}};
  for (const auto& [id, task] : cluster.state().tasks()) {
    if (task->state != TaskState::kRunning || id.value == 20) continue;
    ++racks[*cluster.state().FindMachine(task->machine)->FindLabel("rack")];
  }
  for (const auto& [rack, count] : racks) {
    for (const auto& [other, fewer] : racks) {
      EXPECT_LE(count - fewer, 1) << rack << " beside " << other;
    }
  }
}

}  // namespace
}  // namespace sluice
