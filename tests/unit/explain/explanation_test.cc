#include "explain/explanation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "util/cluster_builder.h"
#include "util/peer_builder.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class ExplanationTest : public testing::Test {
 protected:
  Explanation ExplainTask(uint64_t uid, int64_t now_ms = 0) {
    return Explain(cluster_.TaskOf(uid), cluster_.scheduler(), now_ms);
  }
  // "<machine>: <what it lacks>" of the nearest.
  std::vector<std::string> NearestOf(const Explanation& explanation) {
    std::vector<std::string> nearest;
    for (const Explanation::NearMiss& miss : explanation.nearest) {
      nearest.push_back(StrCat(cluster_.state().FindMachine(miss.machine)->uuid,
                               ": ", miss.lacks));
    }
    return nearest;
  }
  TestScheduler cluster_;
};

// Of two machines, "near" has a GiB that tasks read, and is full.
class HeldExplanationTest : public testing::Test {
 protected:
  HeldExplanationTest() {
    ClusterBuilder()
        .Machine("near", {.cpu = 100, .labels = {{"disk", "ssd"}}})
        .Machine("far", {.cpu = 1000, .labels = {{"disk", "hdd"}}})
        .ApplyTo(&cluster_);
  }
  static PlacementRules Reads() {
    constexpr int64_t kGib = int64_t{1} << 30;
    PlacementRules rules;
    rules.data = {.bytes = kGib, .on_machines = {{"near", kGib}}};
    return rules;
  }
  void Submit(uint64_t uid, const PlacementRules& rules, int64_t now_ms) {
    cluster_.mutable_state().Apply(Submitted(uid, {.cpu = 500, .rules = rules}),
                                   now_ms);
  }
  std::string SummaryOf(uint64_t uid, int64_t now_ms) {
    return Explain(cluster_.TaskOf(uid), cluster_.scheduler(), now_ms).summary;
  }

  TestScheduler cluster_{RoundOptions(), "quincy,taint"};
};

TEST_F(HeldExplanationTest, SaysHowFarATaskGoesFromItsData) {
  Submit(1, Reads(), 0);
  EXPECT_THAT(SummaryOf(1, 1000),
              HasSubstr("near its data: so far a machine may cost at most 1500 "
                        "points more than the nearest"));
  EXPECT_THAT(SummaryOf(1, 4000), Not(HasSubstr("near its data")));
}

TEST_F(HeldExplanationTest, GoesByTheTaskThatHasWaitedTheLongest) {
  Submit(1, Reads(), 0);
  Submit(2, Reads(), 4000);
  EXPECT_THAT(SummaryOf(2, 4000), Not(HasSubstr("near its data")));
}

TEST_F(HeldExplanationTest, LooksOnlyWhereTheRulesAllow) {
  PlacementRules rules = Reads();
  rules.selectors = {LabelIn("disk", {"hdd"})};
  Submit(1, rules, 0);
  EXPECT_THAT(SummaryOf(1, 0), Not(HasSubstr("near its data")));
}

TEST_F(ExplanationTest, CountsEachMachineUnderItsFirstConstraint) {
  ClusterBuilder()
      .Machines("tainted", 3, {.taints = {NoSchedule("dedicated", "ml")}})
      .Machines("slow", 4, {.labels = {{"disk", "hdd"}}})
      .Machines("full", 5, {.memory = 1000, .labels = {{"disk", "ssd"}}})
      .Machine("gone", {.labels = {{"disk", "ssd"}}})
      .Task(1, {.cpu = 100,
                .memory = 2000,
                .rules = {.selectors = {LabelIn("disk", {"ssd"})}}})
      .ApplyTo(&cluster_);
  cluster_.Apply(Removed("gone"));
  const Explanation explanation = ExplainTask(1);
  EXPECT_EQ(explanation.summary,
            "0/12 machines: 5 insufficient cpu, 5 insufficient memory, 4 "
            "node(s) didn't match the selector disk=ssd, 3 had the taint "
            "dedicated=ml:NoSchedule");
}

TEST_F(ExplanationTest, CountsDrainingMachines) {
  ClusterBuilder()
      .Machines("full", 2, {})
      .Machine("free", {.cpu = 100})
      .Task(1, {.cpu = 100})
      .ApplyTo(&cluster_);
  cluster_.Apply(SetDraining{"free"});
  const Explanation explanation = ExplainTask(1);
  EXPECT_EQ(explanation.summary,
            "0/3 machines: 2 insufficient cpu, 1 draining");
  EXPECT_EQ(explanation.feasible_machines, 0);
}

TEST_F(ExplanationTest, NamesEverythingThatTheNearestMachinesLack) {
  ClusterBuilder()
      .Machine("all", {.pods = 0, .taints = {NoExecute("k")}})
      .Machine("two", {.cpu = 100})
      .Machine("busy", {.cpu = 900, .memory = 4000, .pods = 0})
      .Machine("idle", {.cpu = 900, .memory = 4000, .pods = 0})
      .Task(1, {.cpu = 500, .memory = 2000})
      .ApplyTo(&cluster_);
  cluster_.Apply(ForeignPod("p", "busy", {{"cpu", 300}}));
  // Fewest first, then the least loaded.
  EXPECT_THAT(NearestOf(ExplainTask(1)),
              ElementsAre("idle: lacks 1 pods", "busy: lacks 2 pods",
                          "two: lacks 400m cpu, lacks 2 bytes memory"));
}

TEST_F(ExplanationTest, TakesTheFirstOfEquallyNearMachines) {
  ClusterBuilder().Machines("m", 9, {}).Task(1, {.cpu = 5}).ApplyTo(&cluster_);
  EXPECT_THAT(
      NearestOf(ExplainTask(1)),
      ElementsAre("m0: lacks 5m cpu", "m1: lacks 5m cpu", "m2: lacks 5m cpu"));
}

TEST_F(ExplanationTest, SumsUpTheRarerReasons) {
  ClusterBuilder builder;
  for (int taint = 0; taint < 13; ++taint) {
    builder.Machines(StrCat("m", taint, "-"), 13 - taint,
                     {.taints = {NoSchedule(StrCat("k", taint))}});
  }
  builder.Task(1).ApplyTo(&cluster_);
  const Explanation explanation = ExplainTask(1);
  ASSERT_THAT(explanation.reasons, SizeIs(11));
  EXPECT_EQ(explanation.reasons[0].machines, 13);
  EXPECT_EQ(explanation.reasons[9].text, "had the taint k9:NoSchedule");
  EXPECT_EQ(explanation.reasons[10].code, "other");
  EXPECT_EQ(explanation.reasons[10].machines, 3 + 2 + 1);
  EXPECT_THAT(explanation.summary, HasSubstr(", 6 for other reasons"));
}

TEST_F(ExplanationTest, SaysThatATaskFitsOrThatThereIsNoMachine) {
  cluster_.Apply(Submitted(1));
  EXPECT_EQ(ExplainTask(1).summary, "0/0 machines: no machine is usable");
  cluster_.Apply(Added("m", {}));
  const Explanation explanation = ExplainTask(1);
  EXPECT_EQ(explanation.summary,
            "1/1 machines: it fits, and waits for the next round");
  EXPECT_EQ(explanation.feasible_machines, 1);
  EXPECT_THAT(explanation.nearest, IsEmpty());
  cluster_.Apply(Added("full", {.pods = 0}));
  EXPECT_EQ(ExplainTask(1).summary,
            "1/2 machines: 1 too many pods; it fits, and waits for the next "
            "round");
}

TEST_F(ExplanationTest, SaysThatATaskOfAFeedWaitsForARoundToo) {
  cluster_.Apply(Added("m", {.cpu = 1000}));
  ClusterState& state = cluster_.mutable_state();
  const FeedId feed = state.OpenFeed("shop");
  state.Apply(feed, SnapshotBegan(), 0);
  state.Apply(feed,
              TaskStated{.id = "web-0",
                         .job_uuid = "job",
                         .job_name = "job",
                         .gang = {},
                         .spec = TaskSpecOf(0, {.cpu = 100}),
                         .machine_uuid = ""},
              0);
  state.Apply(feed, SnapshotEnded(), 0);
  state.SyncPeers();
  const TaskId task = state.feeds().at(feed).tasks.at("web-0");
  EXPECT_EQ(ExplainTask(task.value).summary,
            "1/1 machines: it fits, and waits for the next round");
}

TEST_F(ExplanationTest, NamesATaskOfTheGangByTheIdOfItsFeed) {
  cluster_.Apply(Added("m", {.cpu = 1000}));
  ClusterState& state = cluster_.mutable_state();
  const FeedId feed = state.OpenFeed("shop");
  state.Apply(feed, SnapshotBegan(), 0);
  for (const char* id : {"small", "large"}) {
    state.Apply(
        feed,
        TaskStated{.id = id,
                   .job_uuid = "job",
                   .job_name = "job",
                   .gang = {.minimum = Gang::kAllTasks},
                   .spec = TaskSpecOf(
                       0, {.cpu = id[0] == 's' ? 100 : 64000, .name = "web"}),
                   .machine_uuid = ""},
        0);
  }
  state.Apply(feed, SnapshotEnded(), 0);
  state.SyncPeers();
  const TaskId task = state.feeds().at(feed).tasks.at("small");
  EXPECT_THAT(ExplainTask(task.value).summary,
              HasSubstr("; no machine has what its task large web needs"));
}

TEST(ExplanationOfNominated, NamesWhoHasToLeaveFirst) {
  TestScheduler cluster({.preemption = {.mode = Preemption::kPriority}});
  cluster.Apply(Added("m", {.cpu = 1000}));
  for (uint64_t uid = 1; uid <= 5; ++uid) {
    cluster.Apply(Submitted(uid, {.cpu = 200, .name = StrCat("low-", uid)}));
  }
  cluster.Reply(1);
  const auto begin_of = [&](uint64_t uid) {
    const std::string summary =
        Explain(cluster.TaskOf(uid), cluster.scheduler(), 0).summary;
    return summary.substr(0, summary.find(';'));
  };
  cluster.Apply(Submitted(11, {.cpu = 1000, .priority = 9}));
  cluster.Reply(2);
  EXPECT_EQ(begin_of(11),
            "room is kept for it on machine 'm' until 5 tasks have left: "
            "low-1, low-2, "
            "low-3, ...");
  for (uint64_t uid = 1; uid <= 4; ++uid) cluster.Apply(Removed(uid));
  EXPECT_EQ(begin_of(11),
            "room is kept for it on machine 'm' until 1 task has left: low-5");
}

TEST_F(ExplanationTest, SaysWhatWaitingCosts) {
  cluster_.Apply(Submitted(1));
  const int64_t at_first = ExplainTask(1).waiting_cost;
  EXPECT_EQ(ExplainTask(1, 60000).waiting_cost, 2 * at_first);
}

TEST_F(ExplanationTest, NamesATaskOfTheGangThatNoMachineHasRoomFor) {
  const PeerOptions gang = {.gang = {.minimum = Gang::kAllTasks}};
  ClusterBuilder().Machines("m", 3, {.cpu = 4000}).ApplyTo(&cluster_);
  cluster_.Apply(Submitted(1, {.cpu = 1000, .job = "ring"}, gang));
  cluster_.Apply(Submitted(2, {.cpu = 2000, .job = "ring"}, gang));
  cluster_.Apply(
      Submitted(3, {.cpu = 64000, .job = "ring", .name = "big"}, gang));
  cluster_.Round();
  EXPECT_EQ(
      ExplainTask(1).summary,
      "3/3 machines: it fits, and waits until its gang fits as a whole: "
      "all 3 start together, and 3 wait; no machine has what its task 3 big "
      "needs");
  EXPECT_EQ(ExplainTask(3).summary, "0/3 machines: 3 insufficient cpu");
}

// A round is as good as can be only by what its policies count.
TEST_F(ExplanationTest, SaysOfAPreferenceWhetherAnyPolicyCountsIt) {
  PlacementRules rules;
  rules.preferred = {{20, {.labels = {LabelIn("disk", {"ssd"})}}}};
  ClusterBuilder()
      .Machine("m", {})
      .Task(1, {.rules = rules})
      .ApplyTo(&cluster_);
  RoundStats round;
  round.is_bound_known = true;
  const auto text_with = [&](const char* policies) {
    return PlacementText(cluster_.TaskOf(1), *cluster_.state().FindMachine("m"),
                         *PolicySet::FromNames(policies), round);
  };
  EXPECT_EQ(text_with("cpu_memory,node_affinity"),
            ", 20 weight short of what it prefers; the newest round is as good "
            "as can be");
  EXPECT_EQ(text_with("cpu_memory"),
            ", 20 weight short of what it prefers, which counts for nothing "
            "without node_affinity in --cost_model");
}

TEST_F(ExplanationTest, SaysOfATaintWhetherAnyPolicyCountsIt) {
  ClusterBuilder()
      .Machine("m", {.taints = {PreferNoSchedule("old")}})
      .Task(1, {})
      .ApplyTo(&cluster_);
  RoundStats round;
  round.is_bound_known = true;
  const auto text_with = [&](const char* policies) {
    return PlacementText(cluster_.TaskOf(1), *cluster_.state().FindMachine("m"),
                         *PolicySet::FromNames(policies), round);
  };
  EXPECT_EQ(text_with("cpu_memory,taint"),
            ", in spite of 1 PreferNoSchedule taint; the newest round is as "
            "good as can be");
  EXPECT_EQ(text_with("cpu_memory"),
            ", in spite of 1 PreferNoSchedule taint, which counts for nothing "
            "without taint in --cost_model");
}

}  // namespace
}  // namespace sluice
