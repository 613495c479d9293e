#include "round/packing/round_packing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/strings.h"
#include "cost/waiting_cost.h"
#include "util/cluster_builder.h"
#include "util/peer_builder.h"
#include "util/rules_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class RoundPackingTest : public testing::Test {
 protected:
  void Place(uint64_t uid, std::string_view uuid) {
    cluster_.eligibility();  // Learns the rules of what waits.
    cluster_.mutable_state().Place({uid},
                                   cluster_.state().FindMachine(uuid)->id, 0);
  }
  RoundPacking Describe(PackingScope scope = PackingScope::kMovable,
                        int64_t now_ms = 0) {
    context_.emplace(
        RoundContext::Subject{cluster_.mutable_state(), cluster_.policies(),
                              cluster_.constraints(),
                              cluster_.scheduler().eligibility()},
        RoundOptions(), now_ms);
    context_->delta_begin = 0;  // All that is placed is of this round.
    return DescribeRound(scope, &*context_);
  }
  TestScheduler cluster_;
  std::optional<RoundContext> context_;
};

TEST_F(RoundPackingTest, HasEqualMachinesAsOneGroup) {
  ClusterBuilder()
      .Machines("m", 3, {.cpu = 1000})
      .Machine("n", {.cpu = 2000})
      .Tasks(1, 5, {.cpu = 400})
      .ApplyTo(&cluster_);
  const RoundPacking tier = Describe();
  ASSERT_EQ(tier.problem.groups.size(), 2u);
  EXPECT_EQ(tier.problem.groups[0].machines, 3);
  EXPECT_EQ(tier.machines[0].size(), 3u);
  ASSERT_EQ(tier.problem.classes.size(), 1u);
  EXPECT_EQ(tier.problem.classes[0].count(), 5);
  EXPECT_EQ(tier.now.waiting, 5 * WaitingCost(0));
  EXPECT_EQ(tier.least.waiting, 0);
}

TEST_F(RoundPackingTest, CountsWhatThePassesPlacedAsFreeAndAsKnown) {
  ClusterBuilder()
      .Machine("m", {.cpu = 1000})
      .Tasks(1, 2, {.cpu = 400})
      .Task(3, {.cpu = 700})
      .ApplyTo(&cluster_);
  Place(1, "m");
  Place(2, "m");
  const RoundPacking tier = Describe();
  ASSERT_EQ(tier.problem.groups.size(), 1u);
  EXPECT_EQ(tier.problem.groups[0].free[0], 1000);
  EXPECT_EQ(tier.placed.size(), 2u);
  ASSERT_EQ(tier.problem.former.size(), 1u);
  const Pattern& known = tier.problem.former[0];
  EXPECT_EQ(known.machines, 1);
  ASSERT_EQ(known.tasks.size(), 1u);
  EXPECT_EQ(tier.classes[known.tasks[0].first].request[kCpu], 400);
  EXPECT_EQ(known.tasks[0].second, 2);
  EXPECT_EQ(tier.now.waiting, WaitingCost(0));
}

TEST_F(RoundPackingTest, LeavesOutWhatFitsNowhereAndMachinesOfNoUse) {
  ClusterBuilder()
      .Machine("m", {.cpu = 1000})
      .Machine("tiny", {.cpu = 100})
      .Task(1, {.cpu = 500})
      .Task(2, {.cpu = 5000})
      .ApplyTo(&cluster_);
  const RoundPacking tier = Describe();
  EXPECT_EQ(tier.problem.classes.size(), 1u);
  EXPECT_EQ(tier.problem.groups.size(), 1u);
  EXPECT_EQ(tier.misfits, WaitingCost(0));
  EXPECT_EQ(tier.least.waiting, WaitingCost(0));
  EXPECT_EQ(tier.now.waiting, 2 * WaitingCost(0));
}

TEST_F(RoundPackingTest, ChargesPreferencesAndSoftTaints) {
  PlacementRules rules;
  rules.preferred = {{10, {{LabelIn("disk", {"ssd"})}, {}}}};
  ClusterBuilder()
      .Machine("ssd", {.cpu = 1000,
                       .labels = {{"disk", "ssd"}},
                       .taints = {{"old", "", TaintEffect::kPreferNoSchedule}}})
      .Machine("hdd", {.cpu = 1000})
      .Machine("bad",
               {.cpu = 1000, .taints = {{"x", "", TaintEffect::kNoSchedule}}})
      .Task(1, {.cpu = 100, .rules = rules})
      .ApplyTo(&cluster_);
  Place(1, "ssd");
  const RoundPacking tier = Describe();
  EXPECT_EQ(tier.now.placed, 450000);
  EXPECT_EQ(tier.least.placed, 30000);
  EXPECT_EQ(tier.problem.groups.size(), 2u) << "none for the third machine";
}

TEST_F(RoundPackingTest, KnowsHostPortsThatOthersUse) {
  PlacementRules rules;
  rules.host_ports = {{.port = 80}};
  ClusterBuilder()
      .Machines("m", 2, {.cpu = 1000})
      .Tasks(1, 3, {.cpu = 100, .rules = rules})
      .ApplyTo(&cluster_);
  Place(1, "m0");
  cluster_.Deliver();
  const RoundPacking told = Describe();
  ASSERT_EQ(told.problem.groups.size(), 1u);
  EXPECT_EQ(told.machines[0][0], cluster_.state().FindMachine("m1")->id);
  EXPECT_EQ(told.problem.classes[0].per_machine_max, 1);
  Place(2, "m1");
  EXPECT_EQ(Describe().problem.groups[0].machines, 1)
      << "what was placed just now is placed anew";
}

TEST_F(RoundPackingTest, TakesAPortThatSeveralListenOnForAResource) {
  const auto on = [](const std::string& address, int32_t port) {
    PlacementRules rules;
    rules.host_ports = {{.address = address, .port = port}};
    return rules;
  };
  ClusterBuilder()
      .Machines("m", 2, {.cpu = 1000, .memory = 0})
      .Task(1, {.cpu = 100, .memory = 0, .rules = on("::", 80)})
      .Task(2, {.cpu = 200, .memory = 0, .rules = on("10.0.0.1", 80)})
      .Task(3, {.cpu = 300, .memory = 0, .rules = on("10.0.0.2", 80)})
      .Task(4, {.cpu = 400, .memory = 0, .rules = on("0.0.0.0", 81)})
      .ApplyTo(&cluster_);
  const RoundPacking tier = Describe();
  std::map<int64_t, std::vector<int64_t>> ports;  // By cpu.
  for (const PackingClass& one : tier.problem.classes) {
    ports[one.request[0]] = {one.request.end() - 2, one.request.end()};
  }
  // The first is in the way of the next two, and these are not of each other.
  EXPECT_THAT(ports, UnorderedElementsAre(Pair(100, ElementsAre(1, 1)),
                                          Pair(200, ElementsAre(1, 0)),
                                          Pair(300, ElementsAre(0, 1)),
                                          Pair(400, ElementsAre(0, 0))));
  ASSERT_EQ(tier.problem.groups.size(), 1u);
  EXPECT_THAT(std::vector<int64_t>(tier.problem.groups[0].free.end() - 2,
                                   tier.problem.groups[0].free.end()),
              ElementsAre(1, 1));
}

TEST_F(RoundPackingTest, TellsAgesOfAClassApart) {
  cluster_.Apply(Added("m", {.cpu = 1000}), 0);
  cluster_.Apply(Submitted(1, {.cpu = 100}), 0);
  cluster_.Apply(Submitted(2, {.cpu = 100}), 60000);
  const RoundPacking tier = Describe(PackingScope::kMovable, 60000);
  const std::vector<WaitingStep>& steps = tier.problem.classes[0].waiting;
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].cost, WaitingCost(0));
  EXPECT_EQ(steps[1].cost, WaitingCost(60000));
}

TEST_F(RoundPackingTest, TakesTasksWithTermsOnlyForABound) {
  PlacementRules rules;
  rules.anti_affinity = {{TasksOfJob("other"), "zone"}};
  ClusterBuilder()
      .Machine("m", {.cpu = 1000})
      .Task(1, {.cpu = 100, .rules = rules})
      .Task(2, {.cpu = 100, .job = "other"})
      .ApplyTo(&cluster_);
  EXPECT_TRUE(Describe().problem.classes.empty());
  EXPECT_TRUE(Describe().leaves_out);
  EXPECT_EQ(Describe(PackingScope::kAll).problem.classes.size(), 2u);
  EXPECT_FALSE(Describe(PackingScope::kAll).leaves_out);
}

TEST_F(RoundPackingTest, TakesTasksWithTermsThatMeanNobody) {
  PlacementRules rules;
  rules.anti_affinity = {{TasksOfJob("other"), "zone"}};
  ClusterBuilder()
      .Machine("m", {.cpu = 1000})
      .Task(1, {.cpu = 100, .rules = rules})
      .ApplyTo(&cluster_);
  EXPECT_EQ(Describe().problem.classes.size(), 1u);
  EXPECT_FALSE(Describe().leaves_out);
}

TEST_F(RoundPackingTest, KeepsApartWhatMayShareNoMachine) {
  PlacementRules alone;
  alone.anti_affinity = {{TasksOfJob("web"), "host"}};
  PlacementRules shy;
  shy.anti_affinity = {{TasksOfJob("batch"), "host"}};
  ClusterBuilder()
      .Machine("m0", {.cpu = 1000, .labels = {{"host", "m0"}}})
      .Machine("m1", {.cpu = 1000, .labels = {{"host", "m1"}}})
      .Machine("m2", {.cpu = 1000, .labels = {{"host", "m2"}}})
      .Task(1, {.cpu = 100, .job = "web", .rules = alone})
      .Task(2, {.cpu = 200, .job = "shy", .rules = shy})
      .Task(3, {.cpu = 300, .job = "batch"})
      .Task(4, {.cpu = 300, .job = "batch"})
      .ApplyTo(&cluster_);
  Place(3, "m0");
  cluster_.Deliver();
  Place(4, "m1");
  const RoundPacking round = Describe();
  EXPECT_FALSE(round.leaves_out);
  ASSERT_EQ(round.problem.classes.size(), 3u);
  EXPECT_EQ(round.problem.classes[0].request[0], 100);
  EXPECT_EQ(round.problem.classes[0].per_machine_max, 1);
  EXPECT_THAT(round.problem.classes[0].apart_from, IsEmpty());
  EXPECT_THAT(round.problem.classes[1].apart_from, ElementsAre(2));
  EXPECT_THAT(round.problem.classes[2].apart_from, ElementsAre(1));
  // One of the others stays: there alone the second class may not go.
  for (size_t g = 0; g < round.machines.size(); ++g) {
    for (const MachineId machine : round.machines[g]) {
      const bool is_first = cluster_.state().FindMachine(machine)->uuid == "m0";
      EXPECT_EQ(
          round.problem.costs[round.problem.groups[g].kind][1] == kNotAllowed,
          is_first);
    }
  }
}

TEST_F(RoundPackingTest, KnowsWhereThoseWhoNeedCompanyHaveIt) {
  PlacementRules rules;
  rules.affinity = {{TasksOfJob("led"), "host"}};
  ClusterBuilder()
      .Machine("m0", {.cpu = 1000, .labels = {{"host", "m0"}}})
      .Machine("m1", {.cpu = 1000, .labels = {{"host", "m1"}}})
      .Task(1, {.cpu = 100, .job = "follower", .rules = rules})
      .Tasks(2, 2, {.cpu = 200, .job = "led"})
      .ApplyTo(&cluster_);
  Place(2, "m0");
  cluster_.Deliver();
  Place(3, "m1");
  const RoundPacking round = Describe();
  EXPECT_FALSE(round.leaves_out);
  ASSERT_EQ(round.problem.classes.size(), 2u);
  EXPECT_TRUE(round.problem.classes[0].needs_company);
  EXPECT_THAT(round.problem.classes[0].company, ElementsAre(1));
  ASSERT_EQ(round.problem.groups.size(), 2u);
  for (size_t g = 0; g < 2; ++g) {
    const bool stays =
        cluster_.state().FindMachine(round.machines[g][0])->uuid == "m0";
    EXPECT_EQ(round.problem.NeedsCompany(0, round.problem.groups[g].kind),
              !stays);
  }
}

TEST_F(RoundPackingTest, TakesAGangThatNobodyKnowsOfAsAWhole) {
  cluster_.Apply(Added("m", {.cpu = 1000}));
  for (const uint64_t uid : {1, 2}) {
    cluster_.Apply(Submitted(uid, {.cpu = 100}, {.gang = {.minimum = 2}}));
  }
  const RoundPacking waiting = Describe();
  ASSERT_EQ(waiting.problem.gangs.size(), 1u);
  EXPECT_THAT(waiting.problem.gangs[0].classes, ElementsAre(0));
  EXPECT_EQ(waiting.problem.gangs[0].minimum, 2);
  EXPECT_FALSE(waiting.leaves_out);
  EXPECT_TRUE(Describe(PackingScope::kAll).problem.gangs.empty());
  Place(1, "m");
  Place(2, "m");
  cluster_.Apply(Submitted(3, {.cpu = 850, .job = "plain"}));
  EXPECT_EQ(Describe().problem.gangs.size(), 1u) << "it may be taken back";
  cluster_.Deliver();
  cluster_.Apply(Submitted(4, {.cpu = 100}, {.gang = {.minimum = 2}}));
  EXPECT_TRUE(Describe().problem.gangs.empty()) << "it runs";
}

TEST_F(RoundPackingTest, TakesAGangWithTooFewTasksOnlyForABound) {
  cluster_.Apply(Added("m", {.cpu = 1000}));
  cluster_.Apply(Submitted(1, {.cpu = 100}, {.gang = {.minimum = 2}}));
  EXPECT_TRUE(Describe().problem.classes.empty());
  EXPECT_TRUE(Describe().leaves_out);
  EXPECT_EQ(Describe(PackingScope::kAll).problem.classes.size(), 1u);
}

TEST_F(RoundPackingTest, TakesGangsHoweverManyThereAre) {
  cluster_.Apply(Added("m", {.cpu = 1000}));
  for (uint64_t uid = 1; uid <= 400; ++uid) {
    cluster_.Apply(Submitted(uid, {.cpu = 100, .job = StrCat("gang-", uid)},
                             {.gang = {.minimum = 1}}));
  }
  EXPECT_EQ(Describe().problem.gangs.size(), 400u);
  EXPECT_FALSE(Describe().leaves_out);
}

TEST_F(RoundPackingTest, IsNoProblemWhereNothingThatWaitsFitsAnyKind) {
  cluster_.Apply(Added("m", {.cpu = 1000, .memory = 100}));
  cluster_.Apply(Added("n", {.cpu = 2000, .memory = 100}));
  cluster_.Apply(Submitted(1, {.cpu = 100}));
  Place(1, "n");
  cluster_.Apply(Submitted(2, {.cpu = 2100}));
  RoundPacking tier = Describe();
  EXPECT_TRUE(tier.problem.classes.empty());
  EXPECT_EQ(tier.now, tier.least);
  EXPECT_EQ(tier.misfits, WaitingCost(0));
  cluster_.Apply(Submitted(3, {.cpu = 2000, .memory = 100}));
  tier = Describe();
  EXPECT_EQ(tier.problem.classes.size(), 2u) << "it fits once 1 is taken back";
  EXPECT_EQ(tier.misfits, WaitingCost(0));
}

// It was placed before the machine was described anew.
TEST_F(RoundPackingTest, HasWhatIsPlacedWhereItMayNotBeAnyMore) {
  cluster_.Apply(Added("m", {.cpu = 1000, .labels = {{"disk", "ssd"}}}));
  PlacementRules rules;
  rules.selectors = {LabelIn("disk", {"ssd"})};
  cluster_.Apply(Submitted(1, {.cpu = 100, .rules = rules}));
  Place(1, "m");
  cluster_.Apply(Submitted(2, {.cpu = 950}));
  cluster_.Apply(Updated("m", {.cpu = 1000, .labels = {{"disk", "hdd"}}}));
  const RoundPacking tier = Describe();
  EXPECT_EQ(tier.placed, std::vector<TaskId>{{1}});
  EXPECT_EQ(tier.misfits, WaitingCost(0)) << "if it is taken back";
  EXPECT_EQ(tier.problem.classes.size(), 1u);
  EXPECT_TRUE(tier.problem.former.empty());
}

TEST_F(RoundPackingTest, IsNoProblemWhereItWouldBeTooLarge) {
  constexpr uint64_t kMachines = 3200;  // And as many kinds and classes.
  for (uint64_t i = 1; i <= kMachines; ++i) {
    cluster_.Apply(
        Added(StrCat("m", i), {.cpu = 1000, .labels = {{"host", StrCat(i)}}}));
    PlacementRules rules;
    rules.selectors = {LabelIn("host", {StrCat(i)})};
    cluster_.Apply(Submitted(i, {.cpu = 100, .rules = rules}));
  }
  const RoundPacking tier = Describe();
  EXPECT_TRUE(tier.is_too_large);
  EXPECT_TRUE(tier.problem.groups.empty());
}

TEST_F(RoundPackingTest, PrioritiesAreLevelsFromTheFirstThatWaits) {
  ClusterBuilder()
      .Machine("m", {.cpu = 1000})
      .Task(1, {.cpu = 100, .priority = 9})
      .Task(2, {.cpu = 100, .priority = 8})
      .Task(3, {.cpu = 900, .priority = 7})
      .Task(4, {.cpu = 100, .priority = 6})
      .Task(5, {.cpu = 100, .priority = 5})
      .ApplyTo(&cluster_);
  for (const uint64_t uid : {1, 2, 4, 5}) Place(uid, "m");
  const RoundPacking packing = Describe();
  EXPECT_THAT(context_->levels->lowest, ElementsAre(8, 7, 6, 5));
  EXPECT_EQ(packing.problem.level_count(), 4u);
  EXPECT_EQ(packing.now.waiting[1], WaitingCost(0));
  EXPECT_EQ(packing.now.waiting.Sum(), WaitingCost(0));
  EXPECT_FALSE(packing.has_placed_below);
}

TEST_F(RoundPackingTest, WhatIsFarBelowMakesRoomAndIsNotDecidedOn) {
  ClusterBuilder cluster;
  cluster.Machine("m", {.cpu = 1000});
  for (uint32_t i = 1; i <= 20; ++i) {
    cluster.Task(i, {.cpu = 100, .priority = 100 - i});
  }
  cluster.ApplyTo(&cluster_);
  for (const uint64_t uid : {1, 20}) Place(uid, "m");
  const RoundPacking packing = Describe();
  EXPECT_EQ(packing.problem.level_count(), 12u);
  EXPECT_EQ(packing.problem.classes.size(), 12u);
  EXPECT_TRUE(packing.has_placed_below);
  EXPECT_THAT(packing.placed, UnorderedElementsAre(TaskId{1}, TaskId{20}));
  EXPECT_EQ(packing.problem.groups[0].free[0], 1000);
  // For a bound all of them are one more.
  const RoundPacking bound = Describe(PackingScope::kAll);
  EXPECT_EQ(bound.problem.level_count(), 13u);
  EXPECT_EQ(bound.now.waiting[12], 7 * WaitingCost(0));
}

}  // namespace
}  // namespace sluice
