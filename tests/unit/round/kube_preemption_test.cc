// kube-scheduler's cases of preemption: whom it stops, and on which node. Those
// about budgets and rules between pods are in
// tests/unit/round/kube_preemption_terms_test.cc, those about room that is kept
// in tests/unit/round/kube_nomination_test.cc.
//
// They are those of its test tables and of its documentation, in clusters of
// our own.  A suite is named after the test whose cases it restates.  Where
// ours chooses better its row says so: `kubes` is what kube-scheduler does, and
// `why` why that is worse.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "state/feed.h"
#include "unit/round/kube_preemption_cases.h"
#include "util/state_invariants.h"
#include "util/test_scheduler.h"

namespace sluice {
namespace {

MachineOptions OptionsOf(const KubeNode& node) {
  return {.cpu = node.cpu,
          .memory = node.memory,
          .pods = node.pods,
          .labels = node.labels,
          .taints = node.taints};
}

// A cluster to which what a row says happens.
class KubeCluster {
 public:
  explicit KubeCluster(const KubeRow& row)
      : cluster_({.preemption = {.mode = row.may_preempt ? Preemption::kPriority
                                                         : Preemption::kOff,
                                 .breaks_budgets = row.breaks_budgets}}) {
    for (const KubeNode& node : row.nodes) Add(node);
    for (const KubePod& pod : row.running) Run(pod);
    cluster_.Deliver();
    State(row.budgets);
    for (const KubePod& pod : row.waiting) Submit(pod);
  }

  void Happens(const KubeStep& step) {
    for (const uint64_t uid : Ended(step)) cluster_.Apply(Removed(uid));
    for (const std::string& name : step.nodes_gone) {
      cluster_.Apply(Removed(std::string_view(name)));
    }
    for (const KubeNode& node : step.nodes_changed) {
      cluster_.Apply(Updated(node.name, OptionsOf(node)));
    }
    for (const KubeNode& node : step.nodes) Add(node);
    for (const KubePod& pod : step.waiting) Submit(pod);
  }

  // What comes of a round, with all the room that is kept.
  Outcome Round() {
    Outcome outcome;
    cluster_.Round(++now_ms_);
    for (const auto& entry : cluster_.Deliver().deltas) {
      const std::string& pod = names_.at(entry.uid.value);
      outcome.insert(entry.type == DeltaType::kPreempt
                         ? StrCat("stop ", pod)
                         : StrCat("start ", pod, " on ", entry.resource_id));
    }
    for (const auto& [task, machine] :
         cluster_.state().nominations().machines()) {
      outcome.insert(StrCat("keep ",
                            cluster_.state().FindMachine(machine)->uuid,
                            " for ", names_.at(task.value)));
    }
    EXPECT_EQ(FindContradiction(cluster_.state()), "");
    return outcome;
  }

 private:
  std::vector<uint64_t> Ended(const KubeStep& step) const {
    std::vector<uint64_t> uids;
    for (const auto& [uid, name] : names_) {
      const Task* task = cluster_.state().FindTask({uid});
      if (task == nullptr) continue;
      if ((step.victims_end && task->is_evicted) ||
          std::ranges::count(step.ended, name) > 0) {
        uids.push_back(uid);
      }
    }
    return uids;
  }
  void Add(const KubeNode& node) {
    cluster_.Apply(Added(node.name, OptionsOf(node)));
  }
  uint64_t Submit(const KubePod& pod) {
    const uint64_t uid = names_.size() + 1;
    names_[uid] = pod.name;
    // The bridge moves priorities up likewise.
    const auto priority =
        static_cast<uint32_t>(pod.priority + (int64_t{1} << 31));
    EXPECT_EQ(cluster_.Apply(Submitted(uid,
                                       {.cpu = pod.cpu,
                                        .memory = pod.memory,
                                        .priority = priority,
                                        .job = pod.job,
                                        .labels = pod.labels,
                                        .rules = pod.rules},
                                       {.gang = pod.gang})),
              Ack::kOk);
    return uid;
  }
  void Run(const KubePod& pod) {
    const TaskId task = {Submit(pod)};
    const MachineId machine = cluster_.state().FindMachine(pod.node)->id;
    cluster_.mutable_state().Place(task, machine, pod.started);
    if (!pod.is_ending) return;
    cluster_.Deliver();
    cluster_.mutable_state().Preempt(task);
  }
  void State(const std::vector<KubeBudget>& budgets) {
    const FeedId feed = cluster_.mutable_state().OpenFeed("kube");
    cluster_.mutable_state().Apply(feed, SnapshotBegan(), 0);
    for (const KubeBudget& budget : budgets) {
      cluster_.mutable_state().Apply(
          feed,
          BudgetStated{StrCat("budget-", ++budget_count_),
                       {.tasks = budget.pods,
                        .limit = budget.limit,
                        .amount = budget.amount}},
          0);
    }
    cluster_.mutable_state().Apply(feed, SnapshotEnded(), 0);
  }

  TestScheduler cluster_;
  std::map<uint64_t, std::string> names_;  // By uid.
  int budget_count_ = 0;
  int64_t now_ms_ = 1000;
};

void ExpectOneOf(const std::vector<Outcome>& outcomes,
                 const std::vector<Outcome>& next, const KubeRow& row,
                 KubeCluster* cluster) {
  const Outcome outcome = cluster->Round();
  EXPECT_THAT(outcomes, testing::Contains(outcome)) << row.why;
  Outcome kept;
  for (const std::string& text : outcome) {
    if (text.starts_with("keep ")) kept.insert(text);
  }
  EXPECT_THAT(next.empty() ? std::vector{kept} : next,
              testing::Contains(cluster->Round()))
      << "though nothing has happened";
}

TEST_P(KubePreemption, ComesToWhatItSays) {
  const KubeRow& row = GetParam();
  KubeCluster cluster(row);
  ExpectOneOf(row.outcomes, row.next, row, &cluster);
  for (size_t i = 0; i < row.later.size(); ++i) {
    SCOPED_TRACE(StrCat("later ", i));
    cluster.Happens(row.later[i]);
    ExpectOneOf(row.later[i].outcomes, {}, row, &cluster);
  }
}

TEST_P(KubePreemption, SaysWhyItDiffers) {
  const KubeRow& row = GetParam();
  EXPECT_EQ(row.kubes.empty(), std::string_view(row.why).empty());
  for (const Outcome& outcome : row.kubes) {
    EXPECT_THAT(row.outcomes, testing::Not(testing::Contains(outcome)));
  }
}

INSTANTIATE_TEST_SUITE_P(
    PostFilter, KubePreemption,
    testing::Values(
        KubeRow{
            .name = "FreesThePlaceOfOnePod",
            .nodes = {{.name = "n1", .pods = 1}},
            .running = {{"v", 0, kLow, "n1"}},
            .waiting = {{"p", 0, kHigh}},
            .outcomes = {{"stop v", "keep n1 for p"}},
            .later = {{.victims_end = true, .outcomes = {{"start p on n1"}}}}},
        KubeRow{.name = "StopsNoneOfTheSamePriority",
                .nodes = {{.name = "n1", .pods = 1}},
                .running = {{"v", 0, kLow, "n1"}},
                .waiting = {{"p", 0, kLow}},
                .outcomes = {kNothing}},
        KubeRow{.name = "StopsNobodyOnANodeThatIsRuledOut",
                .nodes = {{.name = "n1", .pods = 1}},
                .running = {{"v", 0, kLow, "n1"}},
                .waiting =
                    {{.name = "p", .priority = kHigh, .rules = OnlyOn("gpu")}},
                .outcomes = {kNothing}},
        KubeRow{.name = "TakesTheNodeWhoseCpuIsLessUrgent",
                .nodes = {{.name = "n1", .pods = 1}, {.name = "n2", .pods = 1}},
                .running = {{"v1", 0, kHigh, "n1"}, {"v2", 0, kLow, "n2"}},
                .waiting = {{"p", 0, kMid}},
                .outcomes = {{"stop v2", "keep n2 for p"}}},
        // An extender knows of one node only: here the pod's rules do.
        KubeRow{.name = "TakesTheOnlyNodeThatIsAllowed",
                .nodes = {{.name = "n1", .pods = 1, .labels = {{"gpu", ""}}},
                          {.name = "n2", .pods = 1}},
                .running = {{"v1", 0, kLow, "n1"}, {"v2", 0, kBelow, "n2"}},
                .waiting =
                    {{.name = "p", .priority = kHigh, .rules = OnlyOn("gpu")}},
                .outcomes = {{"stop v1", "keep n1 for p"}}},
        KubeRow{.name = "StopsNobodyWhereThatIsNotEnough",
                .nodes = {{"n1", 500}, {"n2", 500}},
                .running = {{"v1", 500, kLow, "n1"}, {"v2", 500, kLow, "n2"}},
                .waiting = {{"p", 600, kHigh}},
                .outcomes = {kNothing}},
        KubeRow{
            .name = "StopsNobodyForMemoryThatIsNotThere",
            .nodes = {{.name = "n1", .cpu = 1000, .memory = 500}},
            .running =
                {{.name = "v", .cpu = 1000, .node = "n1", .memory = 500}},
            .waiting =
                {{.name = "p", .cpu = 100, .priority = kHigh, .memory = 600}},
            .outcomes = {kNothing}},
        KubeRow{.name = "StopsNobodyWhereEachNodeHasAReasonOfItsOwn",
                .nodes = {{.name = "urgent1", .pods = 1},
                          {"small", 500},
                          {.name = "urgent2", .pods = 1}},
                .running = {{"v1", 0, kHigh, "urgent1"},
                            {"v2", 500, kLow, "small"},
                            {"v3", 0, kHigh, "urgent2"}},
                .waiting = {{"p", 600, kHigh}},
                .outcomes = {kNothing}},
        KubeRow{.name = "StopsNobodyWhereTheLargeNodesAreTainted",
                .nodes = {{"small1", 500},
                          {"small2", 500},
                          {.name = "taint1", .taints = {NoSchedule("gone")}},
                          {.name = "taint2", .taints = {NoSchedule("gone")}}},
                .running = {{"v1", 100, kLow, "small1"},
                            {"v2", 100, kLow, "small2"},
                            {"v3", 900, kLow, "taint1"},
                            {"v4", 900, kLow, "taint2"}},
                .waiting = {{"p", 600, kHigh}},
                .outcomes = {kNothing}},
        KubeRow{
            .name = "DoesNotMindAnotherNodeThatFails",
            .nodes = {{.name = "n1", .taints = {NoSchedule("error")}}, {"n2"}},
            .running = {{"v1", 500, kLow, "n1"}, {"v2", 500, kLow, "n2"}},
            .waiting = {{"p", 600, kHigh}},
            .outcomes = {{"stop v2", "keep n2 for p"}}}),
    testing::PrintToStringParamName());

INSTANTIATE_TEST_SUITE_P(
    DryRunPreemption, KubePreemption,
    testing::Values(
        KubeRow{.name = "FitsNowhereWhateverLeaves",
                .nodes = {{.name = "n1", .taints = {NoSchedule("gone")}},
                          {.name = "n2", .taints = {NoSchedule("gone")}}},
                .running = {{"v1", 900, kMid, "n1"}, {"v2", 900, kMid, "n2"}},
                .waiting = {{"p", 500, kHigh}},
                .outcomes = {kNothing}},
        KubeRow{.name = "FitsWithoutAnybodyLeaving",
                .nodes = {{"n1"}, {"n2"}},
                .running = {{"v1", 500, kMid, "n1"}, {"v2", 500, kMid, "n2"}},
                .waiting = {{"p", 500, kHigh}},
                .outcomes = {{"start p on n1"}, {"start p on n2"}}},
        KubeRow{.name = "FitsOnOneNodeWithoutAnybodyLeaving",
                .nodes = {{"n1"}, {"n2"}},
                .running = {{"v1", 500, kMid, "n1"}, {"v2", 900, kBelow, "n2"}},
                .waiting = {{"p", 500, kHigh}},
                .outcomes = {{"start p on n1"}}},
        KubeRow{.name = "FitsOnEitherNodeOnceOneLeaves",
                .nodes = {{"n1"}, {"n2"}},
                .running = {{"v1", 600, kMid, "n1"}, {"v2", 600, kMid, "n2"}},
                .waiting = {{"p", 600, kHigh}},
                .outcomes = {{"stop v1", "keep n1 for p"},
                             {"stop v2", "keep n2 for p"}}},
        KubeRow{.name = "StopsNobodyWhoIsMoreUrgent",
                .nodes = {{"n1"}, {"n2"}},
                .running = {{"v1", 600, kMid, "n1"}, {"v2", 600, kMid, "n2"}},
                .waiting = {{"p", 600, kLow}},
                .outcomes = {kNothing}},
        KubeRow{.name = "SparesTheLessUrgentWhoIsTooSmallToHelp",
                .nodes = {{"n1"}, {"n2"}},
                .running = {{"small", 200, kLow, "n1"},
                            {"large", 600, kMid, "n1"},
                            {"v2", 600, kMid, "n2"}},
                .waiting = {{"p", 600, kHigh}},
                .outcomes = {{"stop large", "keep n1 for p"},
                             {"stop v2", "keep n2 for p"}}},
        KubeRow{.name = "StopsSomeOfEachPriority",
                .nodes = {{"n1"}, {"n2"}},
                .running = {{"mid1", 200, kMid, "n1"},
                            {"low", 200, kLow, "n1"},
                            {"mid2", 400, kMid, "n1"},
                            {"high", 200, kHigh, "n1"},
                            {"v2", 600, kHigh, "n2"}},
                .waiting = {{"p", 600, kHigh}},
                .outcomes = {{"stop low", "stop mid2", "keep n1 for p"}}},
        KubeRow{.name = "StopsTheOneThatStartedLast",
                .nodes = {{"n1"}, {"n2"}},
                .running = {{"later", 200, kLow, "n1", 5},
                            {"earlier", 200, kLow, "n1", 4},
                            {"mid", 400, kMid, "n1", 3},
                            {"high", 200, kHigh, "n1", 2},
                            {"v2", 600, kHigh, "n2", 1}},
                .waiting = {{"p", 600, kHigh}},
                .outcomes = {{"stop later", "stop mid", "keep n1 for p"}}},
        KubeRow{.name = "LooksAtEveryNode",
                .nodes = {{"n1"}, {"n2"}, {"n3"}, {"n4"}, {"n5"}},
                .running = {{"v1", 600, kMid, "n1"},
                            {"v2", 600, kMid, "n2"},
                            {"v3", 600, kLow, "n3"},
                            {"v4", 600, kMid, "n4"},
                            {"v5", 600, kMid, "n5"}},
                .waiting = {{"p", 600, kHigh}},
                .outcomes = {{"stop v3", "keep n3 for p"}},
                .kubes = {{"stop v1", "keep n1 for p"},
                          {"stop v5", "keep n5 for p"}},
                .why = "With two candidates of five kube-scheduler may begin "
                       "at n5, see n5 and n1, and stop a pod of priority 500. "
                       "A round sees all nodes, and on n3 one of priority 0."},
        KubeRow{.name = "LooksAtEveryNodeForEachOfSeveral",
                .nodes = {{"n1"}, {"n2"}, {"n3"}, {"n4"}, {"n5"}},
                .running = {{"v1", 600, kLow, "n1"},
                            {"v2", 600, kMid, "n2"},
                            {"v3", 600, kLow, "n3"},
                            {"v4", 600, kMid, "n4"},
                            {"v5", 600, kLow, "n5"}},
                .waiting = {{"p", 600, kHigh},
                            {"p", 600, kHigh},
                            {"p", 600, kHigh}},
                .outcomes = {{"stop v1", "stop v3", "stop v5", "keep n1 for p",
                              "keep n3 for p", "keep n5 for p"}}}),
    testing::PrintToStringParamName());

constexpr char kAgeIsNoPrice[] =
    "Of nodes whose victims are as urgent and as many kube-scheduler takes the "
    "one whose most urgent victim started last.  To a packing, nodes that run "
    "the same are alike, and start times would tell all of them apart.  They "
    "count on one node: of equals there the one goes that started last.";

INSTANTIATE_TEST_SUITE_P(
    SelectBestCandidate, KubePreemption,
    testing::Values(
        KubeRow{.name = "TheLeastUrgentOfTheMostUrgent",
                .nodes = {{"n1"}, {"n2"}, {"n3"}},
                .running = {{"v1a", 400, kMid, "n1"},
                            {"v1b", 600, kMid, "n1"},
                            {"v2a", 400, kMid, "n2"},
                            {"v2b", 400, kLow, "n2"},
                            {"v3a", 400, kLow, "n3"},
                            {"v3b", 400, kLow, "n3"}},
                .waiting = {{"p", 1000, kHigh}},
                .outcomes = {{"stop v3a", "stop v3b", "keep n3 for p"}}},
        KubeRow{.name = "ThenTheLeastUrgentOfTheOthers",
                .nodes = {{"n1"}, {"n2"}, {"n3"}},
                .running = {{"v1a", 400, kMid, "n1"},
                            {"v1b", 600, kMid, "n1"},
                            {"v2a", 600, kMid, "n2"},
                            {"v2b", 400, kLow, "n2"},
                            {"v3a", 400, kMid, "n3"},
                            {"v3b", 400, kMid, "n3"}},
                .waiting = {{"p", 1000, kHigh}},
                .outcomes = {{"stop v2a", "stop v2b", "keep n2 for p"}}},
        KubeRow{.name = "ThenTheFewest",
                .nodes = {{"n1"}, {"n2"}, {"n3"}},
                .running = {{"v1a", 200, kMid, "n1"},
                            {"v1b", 200, kBelow, "n1"},
                            {"v1c", 200, kMid, "n1"},
                            {"v1d", 200, kBelow, "n1"},
                            {"v2a", 600, kMid, "n2"},
                            {"v2b", 400, kBelow, "n2"},
                            {"v3a", 400, kMid, "n3"},
                            {"v3b", 200, kBelow, "n3"},
                            {"v3c", 200, kLow, "n3"}},
                .waiting = {{"p", 1000, kHigh}},
                .outcomes = {{"stop v2a", "stop v2b", "keep n2 for p"}}},
        // A priority below 0 is a price all the same.
        KubeRow{.name = "TheFewestBelowZero",
                .nodes = {{"n1"}, {"n2"}, {"n3"}},
                .running = {{"v1a", 200, kMid, "n1"},
                            {"v1b", 200, kBelow, "n1"},
                            {"v1c", 200, kBelow, "n1"},
                            {"v2a", 600, kMid, "n2"},
                            {"v2b", 400, kBelow, "n2"},
                            {"v3a", 400, kMid, "n3"},
                            {"v3b", 200, kBelow, "n3"},
                            {"v3c", 200, kLow, "n3"}},
                .waiting = {{"p", 1000, kHigh}},
                .outcomes = {{"stop v2a", "stop v2b", "keep n2 for p"}}},
        KubeRow{.name = "EachInItsTurn",
                .nodes = {{"n1"}, {"n2"}, {"n3"}, {"n4"}},
                .running = {{"v1a", 200, kMid, "n1"},
                            {"v1b", 200, kLow, "n1"},
                            {"v1c", 200, kLow, "n1"},
                            {"v2a", 600, kHigh, "n2"},
                            {"v3a", 400, kMid, "n3"},
                            {"v3b", 200, kLow, "n3"},
                            {"v3c", 100, kLow, "n3"},
                            {"v3d", 300, kLow, "n3"},
                            {"v4a", 400, kMid, "n4"},
                            {"v4b", 200, kMid, "n4"},
                            {"v4c", 200, kMid, "n4"},
                            {"v4d", 200, kBelow, "n4"}},
                .waiting = {{"p", 1000, kTop}},
                .outcomes = {{"stop v1a", "stop v1b", "stop v1c",
                              "keep n1 for p"}}},
        KubeRow{
            .name = "NoMoreOfThePriorityThanMustBe",
            .nodes = {{"n1"}, {"n2"}},
            .running = {{"v1a", 500, kMid, "n1"},
                        {"v1b", 500, kMid, "n1"},
                        {"v2a", 500, kMid, "n2"},
                        {"v2b", 250, kLow, "n2"},
                        {"v2c", 250, kLow, "n2"}},
            .waiting = {{"p", 1000, kHigh}},
            .outcomes = {{"stop v2a", "stop v2b", "stop v2c", "keep n2 for p"}},
            .kubes = {{"stop v1a", "stop v1b", "keep n1 for p"}},
            .why = "kube-scheduler adds 2^31 to each priority before it "
                   "sums them up, so that after the highest one it is the "
                   "number of victims that counts: it stops two pods of "
                   "priority 500. One of them and two of priority 0 do as "
                   "well, and no pod is worth more urgent ones."},
        KubeRow{.name = "TheFewestOnANode",
                .nodes = {{"n1", 1200}},
                .running = {{"a", 200, kMid, "n1", 1},
                            {"b", 400, kMid, "n1", 2},
                            {"c", 300, kMid, "n1", 3},
                            {"d", 300, kMid, "n1", 4}},
                .waiting = {{"p", 400, kHigh}},
                .outcomes = {{"stop b", "keep n1 for p"}},
                .kubes = {{"stop c", "stop d", "keep n1 for p"}},
                .why = "kube-scheduler lets pods stay one after the other, the "
                       "oldest first, while the newcomer fits beside them: a "
                       "and b do, and then neither c nor d. Without b alone "
                       "there is room, too."},
        KubeRow{.name = "WhateverTheirAge",
                .nodes = {{"n1"}, {"n2"}, {"n3"}},
                .running = {{"v1a", 500, kMid, "n1", 2},
                            {"v1b", 500, kMid, "n1", 2},
                            {"v2a", 500, kMid, "n2", 3},
                            {"v2b", 500, kMid, "n2", 3},
                            {"v3a", 500, kMid, "n3", 1},
                            {"v3b", 500, kMid, "n3", 1}},
                .waiting = {{"p", 1000, kHigh}},
                .outcomes = {{"stop v1a", "stop v1b", "keep n1 for p"},
                             {"stop v3a", "stop v3b", "keep n3 for p"}},
                .kubes = {{"stop v2a", "stop v2b", "keep n2 for p"}},
                .why = kAgeIsNoPrice},
        KubeRow{.name = "WhateverTheAgeOfTheYoungest",
                .nodes = {{"n1"}, {"n2"}, {"n3"}},
                .running = {{"v1a", 500, kMid, "n1", 4},
                            {"v1b", 500, kMid, "n1", 2},
                            {"v2a", 500, kMid, "n2", 3},
                            {"v2b", 500, kMid, "n2", 6},
                            {"v3a", 500, kMid, "n3", 5},
                            {"v3b", 500, kMid, "n3", 1}},
                .waiting = {{"p", 1000, kHigh}},
                .outcomes = {{"stop v1a", "stop v1b", "keep n1 for p"},
                             {"stop v3a", "stop v3b", "keep n3 for p"}},
                .kubes = {{"stop v2a", "stop v2b", "keep n2 for p"}},
                .why = kAgeIsNoPrice},
        KubeRow{.name = "WhateverTheAgeOfTheMostUrgent",
                .nodes = {{"n1"}, {"n2"}, {"n3"}},
                .running = {{"v1a", 500, kLow, "n1", 4},
                            {"v1b", 500, kMid, "n1", 2},
                            {"v2a", 500, kMid, "n2", 6},
                            {"v2b", 500, kLow, "n2", 1},
                            {"v3a", 500, kLow, "n3", 3},
                            {"v3b", 500, kMid, "n3", 5}},
                .waiting = {{"p", 1000, kHigh}},
                .outcomes = {{"stop v1a", "stop v1b", "keep n1 for p"},
                             {"stop v3a", "stop v3b", "keep n3 for p"}},
                .kubes = {{"stop v2a", "stop v2b", "keep n2 for p"}},
                .why = kAgeIsNoPrice}),
    testing::PrintToStringParamName());

const std::vector<KubePod> kOneNodeOfEachPriority = {{"v1a", 200, kLow, "n1"},
                                                     {"v1b", 200, kLow, "n1"},
                                                     {"v2", 600, kHigh, "n2"},
                                                     {"v3", 400, kMid, "n3"}};
const std::vector<KubePod> kMixedAndMid = {{"v1a", 200, kMid, "n1"},
                                           {"v1b", 200, kLow, "n1"},
                                           {"v2", 600, kMid, "n2"}};

INSTANTIATE_TEST_SUITE_P(
    Preempt, KubePreemption,
    testing::Values(
        KubeRow{
            .name = "TheNodeOfTheLeastUrgent",
            .nodes = {{"n1"}, {"n2"}, {"n3"}},
            .running = kOneNodeOfEachPriority,
            .waiting = {{"p", 1000, kHigh}},
            .outcomes = {{"stop v1a", "stop v1b", "keep n1 for p"}},
            .later = {{.victims_end = true, .outcomes = {{"start p on n1"}}}}},
        KubeRow{.name = "TheOnlyNodeThatIsAllowedThoughAnotherIsLessUrgent",
                .nodes = {{.name = "n1", .labels = {{"gpu", ""}}}, {"n2"}},
                .running = kMixedAndMid,
                .waiting = {{.name = "p",
                             .cpu = 1000,
                             .priority = kHigh,
                             .rules = OnlyOn("gpu")}},
                .outcomes = {{"stop v1a", "stop v1b", "keep n1 for p"}}},
        KubeRow{.name = "NoNodeWhereNoneIsAllowed",
                .nodes = {{"n1"}, {"n2"}},
                .running = kMixedAndMid,
                .waiting = {{.name = "p",
                             .cpu = 1000,
                             .priority = kHigh,
                             .rules = OnlyOn("gpu")}},
                .outcomes = {kNothing}},
        KubeRow{.name = "TheNodeOfOneMidRatherThanOfOneMidAndOneLow",
                .nodes = {{"n1"}, {"n2"}},
                .running = kMixedAndMid,
                .waiting = {{"p", 1000, kHigh}},
                .outcomes = {{"stop v2", "keep n2 for p"}}}),
    testing::PrintToStringParamName());

INSTANTIATE_TEST_SUITE_P(
    PodPriorityPreemptionPage, KubePreemption,
    testing::Values(
        KubeRow{.name = "PlacesTheMoreUrgentFirst",
                .nodes = {{"n1"}},
                .waiting = {{"low", 1000, kLow}, {"high", 1000, kHigh}},
                .outcomes = {{"start high on n1"}}},
        KubeRow{.name = "GoesOnWithTheLessUrgentWhereTheMoreUrgentFitsNowhere",
                .nodes = {{"n1"}},
                .running = {{"v", 200, kHigh, "n1"}},
                .waiting = {{"low", 500, kLow}, {"high", 1000, kHigh}},
                .outcomes = {{"start low on n1"}}},
        KubeRow{.name = "StopsNobodyWhereNobodyWaits",
                .nodes = {{"n1"}},
                .running = {{"v1", 500, kLow, "n1"}, {"v2", 500, kHigh, "n1"}},
                .waiting = {},
                .outcomes = {kNothing}},
        KubeRow{
            .name = "StopsNobodyWhoIsAsUrgentAsWhatWaits",
            .nodes = {{"n1"}, {"n2"}},
            .running = {{"v1", 1000, kMid, "n1"}, {"v2", 1000, kHigh, "n2"}},
            .waiting = {{"p", 500, kMid}},
            .outcomes = {kNothing}},
        KubeRow{.name = "StopsAPartOfTheLessUrgentWhereThatIsEnough",
                .nodes = {{"n1"}},
                .running = {{"v1", 300, kLow, "n1", 1},
                            {"v2", 300, kLow, "n1", 2},
                            {"v3", 300, kLow, "n1", 3}},
                .waiting = {{"p", 400, kHigh}},
                .outcomes = {{"stop v3", "keep n1 for p"}}},
        KubeRow{.name = "StopsTheMoreUrgentWhereTheLeastUrgentDoNotHelp",
                .nodes = {{"small", 400}, {"large"}},
                .running = {{"low", 400, kLow, "small"},
                            {"mid", 900, kMid, "large"}},
                .waiting = {{"p", 500, kHigh}},
                .outcomes = {{"stop mid", "keep large for p"}}},
        KubeRow{.name = "StopsTheMoreUrgentOfANodeOnlyBesideTheLessUrgent",
                .nodes = {{"n1"}},
                .running = {{"low", 300, kLow, "n1"}, {"mid", 600, kMid, "n1"}},
                .waiting = {{"p", 400, kHigh}},
                .outcomes = {{"stop low", "keep n1 for p"}}}),
    testing::PrintToStringParamName());

// What kube-scheduler decides on pod after pod.
INSTANTIATE_TEST_SUITE_P(
    Several, KubePreemption,
    testing::Values(
        KubeRow{
            .name = "StopsOneForTwo",
            .nodes = {{"n1", 1200}, {"n2", 600}, {"n3", 600}},
            .running = {{"v1", 1200, kLow, "n1", 1},
                        {"v2", 600, kLow, "n2", 2},
                        {"v3", 600, kLow, "n3", 3}},
            .waiting = {{"p", 600, kHigh}, {"p", 600, kHigh}},
            .outcomes = {{"stop v1", "keep n1 for p", "keep n1 for p"}},
            .kubes = {{"stop v2", "stop v3", "keep n2 for p", "keep n3 for p"}},
            .why = "For each of the two kube-scheduler takes the node "
                   "whose victim started last: n3, then n2. Together they "
                   "have room on n1 once a single pod has left."},
        KubeRow{.name = "LeavesTheOnlyNodeToTheOneThatNeedsIt",
                .nodes = {{.name = "n1", .labels = {{"gpu", ""}}}, {"n2"}},
                .running = {{"v1", 1000, kLow, "n1", 2},
                            {"v2", 1000, kLow, "n2", 1}},
                .waiting = {{"high", 1000, kHigh},
                            {.name = "mid",
                             .cpu = 1000,
                             .priority = kMid,
                             .rules = OnlyOn("gpu")}},
                .outcomes = {{"stop v1", "stop v2", "keep n1 for mid",
                              "keep n2 for high"}},
                .kubes = {{"stop v1", "keep n1 for high"}},
                .why = "To the more urgent pod both nodes are alike, and "
                       "kube-scheduler takes the one whose victim started "
                       "last. The other one may only be there, and waits for "
                       "good."},
        KubeRow{
            .name = "GivesTheFreeRoomToTheMoreUrgentThoughTheOtherStopsNobody",
            .nodes = {{"n1", 500}, {"n2", 500}},
            .running = {{"v", 500, kLow, "n1"}},
            .waiting = {{"high", 500, kHigh},
                        {.name = "meek",
                         .cpu = 500,
                         .priority = kMid,
                         .rules = Meek()}},
            .outcomes = {{"start high on n2"}}}),
    testing::PrintToStringParamName());

}  // namespace
}  // namespace sluice
