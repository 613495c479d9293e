// kube-scheduler's cases of room that is kept for a pod while others leave for
// it (tests/unit/round/kube_preemption_test.cc says how they are written).

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "unit/round/kube_preemption_cases.h"
#include "util/peer_builder.h"

namespace sluice {
namespace {

const std::vector<KubePod> kFourOfNode = {{"v1", 100, kLow, "n1", 1},
                                          {"v2", 100, kLow, "n1", 2},
                                          {"v3", 100, kLow, "n1", 3},
                                          {"v4", 100, kLow, "n1", 4}};
const std::vector<KubeNode> kTwoNodes = {
    {.name = "n1", .labels = {{"gpu", ""}}}, {.name = "n2"}};
const std::vector<KubePod> kLowAndMid = {{"v1", 1000, kLow, "n1"},
                                         {"v2", 1000, kMid, "n2"}};

INSTANTIATE_TEST_SUITE_P(
    NominatedNode, KubePreemption,
    testing::Values(
        KubeRow{.name = "GoesToTheMoreUrgentWhoStopsOneMore",
                .nodes = {{"n1", 500}},
                .running = kFourOfNode,
                .waiting = {{"mid", 300, kMid}},
                .outcomes = {{"stop v3", "stop v4", "keep n1 for mid"}},
                .later = {{.waiting = {{"high", 400, kHigh}},
                           .outcomes = {{"stop v2", "keep n1 for high"}}},
                          {.victims_end = true,
                           .outcomes = {{"start high on n1"}}}}},
        KubeRow{.name = "GoesToTheMoreUrgentWhoFitsAtOnce",
                .nodes = {{"n1", 200}},
                .running = {{"low", 100, kLow, "n1"}},
                .waiting = {{"mid", 200, kMid}},
                .outcomes = {{"stop low", "keep n1 for mid"}},
                .later = {{.waiting = {{"high", 100, kHigh}},
                           .outcomes = {{"start high on n1"}}},
                          {.victims_end = true, .outcomes = {kNothing}}}},
        KubeRow{.name = "EndsWithItsNode",
                .nodes = {{"n1"}},
                .running = {{"low", 1000, kLow, "n1"}},
                .waiting = {{"mid", 1000, kMid}},
                .outcomes = {{"stop low", "keep n1 for mid"}},
                .later = {{.nodes_gone = {"n1"}, .outcomes = {kNothing}}}},
        KubeRow{.name = "DoesNotMoveToANodeThatIsRuledOut",
                .nodes = {{"n1"},
                          {.name = "taint", .taints = {NoSchedule("gone")}}},
                .running = {{"low", 1000, kLow, "n1"}},
                .waiting = {{"mid", 1000, kMid}},
                .outcomes = {{"stop low", "keep n1 for mid"}},
                .later = {{.nodes_gone = {"n1"}, .outcomes = {kNothing}}}},
        KubeRow{
            .name = "IsWhereThePodStarts",
            .nodes = kTwoNodes,
            .running = kLowAndMid,
            .waiting = {{"p", 1000, kHigh}},
            .outcomes = {{"stop v1", "keep n1 for p"}},
            .later = {{.victims_end = true, .outcomes = {{"start p on n1"}}}}},
        KubeRow{
            .name = "IsGivenUpForANodeThatHasRoomFirst",
            .nodes = {{"n1"}},
            .running = {{"v1", 800, kLow, "n1"}},
            .waiting = {{"p", 1000, kHigh}},
            .outcomes = {{"stop v1", "keep n1 for p"}},
            .later = {{.nodes = {{"n2"}}, .outcomes = {{"start p on n2"}}}}},
        KubeRow{.name = "IsAnotherWhereTheMoreUrgentTakeIt",
                .nodes = kTwoNodes,
                .running = kLowAndMid,
                .waiting = {{"p", 1000, kHigh}},
                .outcomes = {{"stop v1", "keep n1 for p"}},
                .later = {{.waiting = {{.name = "top",
                                        .cpu = 1000,
                                        .priority = kTop,
                                        .rules = OnlyOn("gpu")}},
                           .outcomes = {{"stop v2", "keep n1 for top",
                                         "keep n2 for p"}}}}}),
    testing::PrintToStringParamName());

INSTANTIATE_TEST_SUITE_P(
    PodEligibleToPreemptOthers, KubePreemption,
    testing::Values(
        KubeRow{.name = "OnceTheKeptNodeIsRuledOut",
                .nodes = kTwoNodes,
                .running = kLowAndMid,
                .waiting = {{"p", 1000, kHigh}},
                .outcomes = {{"stop v1", "keep n1 for p"}},
                .later = {{.nodes_changed = {{.name = "n1",
                                              .taints = {NoSchedule("gone")}}},
                           .outcomes = {{"stop v2", "keep n2 for p"}}}}},
        KubeRow{.name = "NotWhileItsVictimsLeave",
                .nodes = kTwoNodes,
                .running = kLowAndMid,
                .waiting = {{"p", 1000, kHigh}},
                .outcomes = {{"stop v1", "keep n1 for p"}},
                // Something has changed, but not for it.
                .later = {{.nodes = {{"small", 100}},
                           .outcomes = {{"keep n1 for p"}}}}},
        KubeRow{
            .name = "NotWhereAnotherLeavesAnyway",
            .nodes = kTwoNodes,
            .running = {{.name = "ending",
                         .cpu = 1000,
                         .node = "n1",
                         .is_ending = true},
                        {"v2", 1000, kBelow, "n2"}},
            .waiting = {{"p", 1000, kHigh}},
            .outcomes = {{"keep n1 for p"}},
            .later = {{.victims_end = true, .outcomes = {{"start p on n1"}}}},
            .kubes = {{"stop v2", "keep n2 for p"}},
            .why = "To kube-scheduler a pod that ends for another reason "
                   "still runs, and the less urgent victim is on n2. Here "
                   "what leaves n1 anyway makes room, and nobody is "
                   "stopped."}),
    testing::PrintToStringParamName());

std::vector<KubePod> Copies(int count, const KubePod& pod) {
  return std::vector<KubePod>(static_cast<size_t>(count), pod);
}
std::vector<KubePod> With(std::vector<KubePod> pods, const KubePod& another) {
  pods.push_back(another);
  return pods;
}
// They fill the node, each started after those before.
std::vector<KubePod> TenOfNode() {
  std::vector<KubePod> pods;
  for (int i = 0; i < 10; ++i) {
    pods.push_back({StrCat("v", i), 100, kLow, "n1", i});
  }
  return pods;
}

INSTANTIATE_TEST_SUITE_P(
    PreemptionRaces, KubePreemption,
    testing::Values(
        KubeRow{
            .name = "TheLessUrgentDoNotStarveIt",
            .nodes = {{"n1"}},
            .running = TenOfNode(),
            .waiting = With(Copies(5, {"less", 100, kLow}), {"p", 600, kHigh}),
            .outcomes = {{"stop v4", "stop v5", "stop v6", "stop v7", "stop v8",
                          "stop v9", "keep n1 for p"}},
            .later = {{.victims_end = true, .outcomes = {{"start p on n1"}}}}},
        KubeRow{
            .name = "WhoComesLaterDoesNotTakeItsRoom",
            .nodes = {{"n1", 5000}},
            .running = {{"v1", 200, kLow, "n1"}, {"v2", 200, kLow, "n1"}},
            .waiting = {{"p", 4900, kHigh}},
            .outcomes = {{"stop v1", "stop v2", "keep n1 for p"}},
            .later = {{.waiting = Copies(20, {"less", 200, kLow}),
                       .outcomes = {{"keep n1 for p"}}},
                      {.victims_end = true, .outcomes = {{"start p on n1"}}}}}),
    testing::PrintToStringParamName());

INSTANTIATE_TEST_SUITE_P(
    AsyncPreemption, KubePreemption,
    testing::Values(
        KubeRow{.name = "KeepsThePlaceFromTheLessUrgent",
                .nodes = {{"n1", 400}},
                .running = {{"v", 400, kLow, "n1"}},
                .waiting = {{"high", 400, kHigh}},
                .outcomes = {{"stop v", "keep n1 for high"}},
                .later = {{.waiting = {{"mid", 400, kMid}},
                           .outcomes = {{"keep n1 for high"}}},
                          {.victims_end = true,
                           .outcomes = {{"start high on n1"}}}}},
        KubeRow{.name = "GivesThePlaceAndItsVictimsToTheMoreUrgent",
                .nodes = {{"n1", 400}},
                .running = {{"v", 400, kLow, "n1"}},
                .waiting = {{"high", 400, kHigh}},
                .outcomes = {{"stop v", "keep n1 for high"}},
                .later = {{.waiting = {{"top", 400, kTop}},
                           .outcomes = {{"keep n1 for top"}}},
                          {.victims_end = true,
                           .outcomes = {{"start top on n1"}}}}},
        KubeRow{
            .name = "StopsOthersOfTheNodeForTheLessUrgent",
            .nodes = {{"n1", 400}},
            .running = kFourOfNode,
            .waiting = {{"high", 200, kHigh}},
            .outcomes = {{"stop v3", "stop v4", "keep n1 for high"}},
            .later = {{.waiting = {{"mid", 200, kMid}},
                       .outcomes = {{"stop v1", "stop v2", "keep n1 for high",
                                     "keep n1 for mid"}}},
                      {.victims_end = true,
                       .outcomes = {{"start high on n1", "start mid on n1"}}}}},
        KubeRow{.name = "StopsOthersElsewhereWhereTheMoreUrgentTakesWhatIsFree",
                .nodes = kTwoNodes,
                .running = {{"v1", 500, kLow, "n1"},
                            {"v2", 500, kLow, "n1"},
                            {"v3", 1000, kMid - 1, "n2"}},
                .waiting = {{"mid", 1000, kMid}},
                .outcomes = {{"stop v1", "stop v2", "keep n1 for mid"}},
                .later = {{.ended = {"v1"},
                           .waiting = {{"high", 500, kHigh}},
                           .outcomes = {{"start high on n1", "stop v3",
                                         "keep n2 for mid"}}},
                          {.victims_end = true,
                           .outcomes = {{"start mid on n2"}}}}}),
    testing::PrintToStringParamName());

// Pods that start together or not at all.
std::vector<KubePod> GangOf(int count, uint64_t minimum) {
  return Copies(count, {.name = "g",
                        .cpu = 500,
                        .priority = kHigh,
                        .job = "gang",
                        .gang = {.minimum = minimum}});
}
std::vector<KubePod> MeekGang() {
  std::vector<KubePod> gang = GangOf(2, 2);
  for (KubePod& pod : gang) pod.rules = Meek();
  return gang;
}
const std::vector<KubeNode> kFourHalves = {
    {"n1", 500}, {"n2", 500}, {"n3", 500}, {"n4", 500}};

INSTANTIATE_TEST_SUITE_P(
    PodGroupPreemption, KubePreemption,
    testing::Values(
        KubeRow{.name = "StopsForAGroupOfOne",
                .nodes = {{"n1", 500}},
                .running = {{"v", 500, kLow, "n1"}},
                .waiting = GangOf(1, 1),
                .outcomes = {{"stop v", "keep n1 for g"}}},
        KubeRow{.name = "StopsTheLessUrgent",
                .nodes = {{"n1"}},
                .running = {{"low", 500, kLow, "n1"}, {"mid", 500, kMid, "n1"}},
                .waiting = GangOf(1, 1),
                .outcomes = {{"stop low", "keep n1 for g"}}},
        KubeRow{.name = "StopsNoMoreThanItNeeds",
                .nodes = {{"n1", 2000}},
                .running = {{"v1", 500, kLow, "n1", 1},
                            {"v2", 500, kLow, "n1", 2},
                            {"v3", 500, kLow, "n1", 3},
                            {"v4", 500, kLow, "n1", 4}},
                .waiting = GangOf(2, 2),
                .outcomes = {{"stop v3", "stop v4", "keep n1 for g",
                              "keep n1 for g"}},
                .later = {{.victims_end = true,
                           .outcomes = {{"start g on n1", "start g on n1"}}}}},
        KubeRow{.name = "StopsNobodyOfItsPriority",
                .nodes = {{"n1", 500}},
                .running = {{"v", 500, kHigh, "n1"}},
                .waiting = GangOf(1, 1),
                .outcomes = {kNothing}},
        KubeRow{.name = "StopsNobodyForAGroupThatSaysNever",
                .nodes = {{"n1"}},
                .running = {{"v", 1000, kLow, "n1"}},
                .waiting = MeekGang(),
                .outcomes = {kNothing}},
        KubeRow{.name = "StopsForAsManyAsCanBe",
                .nodes = kFourHalves,
                .running = {{"v1", 500, kLow, "n1"},
                            {"v2", 500, kLow, "n2"},
                            {"v3", 500, kHigh, "n3"},
                            {"v4", 500, kHigh, "n4"}},
                .waiting = GangOf(3, 1),
                .outcomes = {{"stop v1", "stop v2", "keep n1 for g",
                              "keep n2 for g"}}},
        KubeRow{.name = "StopsNobodyWhereTooFewCouldStart",
                .nodes = kFourHalves,
                .running = {{"v1", 500, kLow, "n1"},
                            {"v2", 500, kLow, "n2"},
                            {"v3", 500, kHigh, "n3"},
                            {"v4", 500, kHigh, "n4"}},
                .waiting = GangOf(3, 3),
                .outcomes = {kNothing}}),
    testing::PrintToStringParamName());

}  // namespace
}  // namespace sluice
