// kube-scheduler's cases of rules over domains of several nodes that nobody but
// a pod's own victims keeps it away by, and more of the kind
// (tests/unit/round/kube_preemption_test.cc says how they are written).

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "unit/round/kube_preemption_cases.h"
#include "util/peer_builder.h"

namespace sluice {
namespace {

constexpr char kHostLabel[] = "kubernetes.io/hostname";

KubeNode Host(std::string name, std::string zone) {
  const std::string host = name;
  return {.name = std::move(name),
          .labels = {{kHostLabel, host}, {"zone", std::move(zone)}}};
}
KubePod Web(std::string name, std::string node, int32_t priority,
            int64_t cpu = 0) {
  return {.name = std::move(name),
          .cpu = cpu,
          .priority = priority,
          .node = std::move(node),
          .labels = {{"app", "web"}}};
}
KubePod NewWeb(PlacementRules rules, int64_t cpu = 0) {
  return {.name = "p",
          .cpu = cpu,
          .priority = kHigh,
          .labels = {{"app", "web"}},
          .rules = std::move(rules)};
}
KubePod With(KubePod pod, PlacementRules rules) {
  pod.rules = std::move(rules);
  return pod;
}
// Over zones, and over nodes.
PlacementRules SpreadTwice() {
  return {
      .spread = {Spread(App("web"), "zone"), Spread(App("web"), kHostLabel)}};
}
PlacementRules ApartInZone(std::string app = "web") {
  return {.anti_affinity = {{App(std::move(app)), "zone"}}};
}
const std::vector<KubeNode> kTwoAndOne = {Host("a", "1"), Host("b", "1"),
                                          Host("x", "2")};

// Who is told to leave counts no more for a spread: the newcomer comes at once
// where there is room.
INSTANTIATE_TEST_SUITE_P(
    SpreadInPreemption, KubePreemption,
    testing::Values(
        KubeRow{.name = "StopsWhoIsCountedWhereTheNewcomerGoes",
                .nodes = kTwoAndOne,
                .running = {Web("a1", "a", kMid), Web("a2", "a", kLow),
                            Web("b1", "b", kLow), Web("x1", "x", kHigh),
                            Web("x2", "x", kHigh)},
                .waiting = {NewWeb(SpreadTwice())},
                .outcomes = {{"stop a2", "keep a for p"},
                             {"stop b1", "keep b for p"}},
                .next = {{"start p on a"}, {"start p on b"}}},
        KubeRow{.name = "StopsTheOnlyOneThatIsLessUrgent",
                .nodes = kTwoAndOne,
                .running = {Web("a1", "a", kHigh), Web("a2", "a", kHigh),
                            Web("b1", "b", kLow), Web("x1", "x", kHigh),
                            Web("x2", "x", kHigh)},
                .waiting = {NewWeb(SpreadTwice())},
                .outcomes = {{"stop b1", "keep b for p"}},
                .next = {{"start p on b"}}},
        KubeRow{
            .name = "WaitsForTheRoomOfTheOneThatIsCounted",
            .nodes = kTwoAndOne,
            .running = {Web("a1", "a", kHigh, 500), Web("a2", "a", kHigh, 500),
                        Web("b1", "b", kLow, 600), Web("x1", "x", kHigh, 500),
                        Web("x2", "x", kHigh, 500)},
            .waiting = {NewWeb(SpreadTwice(), 600)},
            .outcomes = {{"stop b1", "keep b for p"}},
            .later = {{.victims_end = true, .outcomes = {{"start p on b"}}}}},
        KubeRow{.name = "StopsNobodyWhereThatIsNotEnoughForTheSpread",
                .nodes = kTwoAndOne,
                .running = {Web("a1", "a", kHigh), Web("a2", "a", kHigh),
                            Web("a3", "a", kHigh), Web("b1", "b", kLow),
                            Web("x1", "x", kHigh)},
                .waiting = {NewWeb({.spread = {Spread(App("web"), "zone")}})},
                .outcomes = {{"start p on x"}}},
        KubeRow{
            .name = "StopsForSeveralInOneRound",
            .nodes = {Host("a", "1"), Host("x", "2")},
            .running = {Web("v", "a", kLow, 500), Web("v", "a", kLow, 500),
                        Web("x1", "x", kHigh, 1000)},
            .waiting = {NewWeb({.spread = {Spread(App("web"), "zone")}}, 500),
                        NewWeb({.spread = {Spread(App("web"), "zone")}}, 500)},
            .outcomes = {{"stop v", "keep a for p", "stop v", "keep a for p"}},
            .later = {{.victims_end = true,
                       .outcomes = {{"start p on a", "start p on a"}}}}}),
    testing::PrintToStringParamName());

INSTANTIATE_TEST_SUITE_P(
    ApartInDomains, KubePreemption,
    testing::Values(
        KubeRow{
            .name = "StopsTheOneThatItKeepsAwayFromInTheZone",
            .nodes = {Host("a", "1"), Host("b", "1")},
            .running = {Web("web", "a", kLow, 200), {"top", 900, kTop, "b"}},
            .waiting = {{.name = "p",
                         .cpu = 500,
                         .priority = kHigh,
                         .rules = ApartInZone()}},
            .outcomes = {{"stop web", "keep a for p"}},
            .later = {{.victims_end = true, .outcomes = {{"start p on a"}}}}},
        KubeRow{
            .name = "StopsTheOneThatKeepsItAwayFromTheZone",
            .nodes = {Host("a", "1"), Host("b", "1")},
            .running = {With({"shy", 200, kLow, "a"}, ApartInZone()),
                        {"top", 900, kTop, "b"}},
            .waiting = {NewWeb({}, 500)},
            .outcomes = {{"stop shy", "keep a for p"}},
            .later = {{.victims_end = true, .outcomes = {{"start p on a"}}}}},
        KubeRow{
            .name = "StopsOneOfItsOwnKindThatIsLessUrgent",
            .nodes = {Host("a", "1"), Host("b", "1"), Host("x", "2")},
            .running = {With(Web("low", "a", kLow, 200), ApartInZone()),
                        With(Web("mid", "x", kMid, 200), ApartInZone())},
            .waiting = {NewWeb(ApartInZone(), 500)},
            .outcomes = {{"stop low", "keep b for p"}},
            .later = {{.victims_end = true, .outcomes = {{"start p on b"}}}},
            .kubes = {{"stop low", "keep a for p"}},
            .why =
                "The zone is what matters, and b is the emptier node of it."},
        KubeRow{.name = "TakesTheZoneWhereNobodyMustLeave",
                .nodes = {Host("a", "1"), Host("x", "2")},
                .running = {Web("web", "a", kLow, 200)},
                .waiting = {{.name = "p",
                             .cpu = 500,
                             .priority = kHigh,
                             .rules = ApartInZone()}},
                .outcomes = {{"start p on x"}}},
        KubeRow{
            .name = "StopsNobodyForAZoneWhereOneStaysThatItKeepsAwayFrom",
            .nodes = {Host("a", "1"), Host("b", "1")},
            .running = {Web("low", "a", kLow, 200), Web("top", "b", kTop, 200)},
            .waiting = {{.name = "p",
                         .cpu = 500,
                         .priority = kHigh,
                         .rules = ApartInZone()}},
            .outcomes = {kNothing}},
        KubeRow{.name = "StopsNobodyThatItsBudgetProtectsInTheZone",
                .nodes = {Host("a", "1")},
                .running = {Web("web", "a", kLow, 200)},
                .budgets = {{.pods = App("web"), .amount = 1}},
                .waiting = {{.name = "p",
                             .cpu = 500,
                             .priority = kHigh,
                             .rules = ApartInZone()}},
                .outcomes = {kNothing},
                .kubes = {{"stop web", "keep a for p"}},
                .why = "To kube-scheduler a budget is a wish.  Here it holds "
                       "unless the option says otherwise."},
        KubeRow{
            .name = "StopsThoseOnOneNodeForAnother",
            .nodes = {Host("a", "1"), Host("b", "1")},
            .running = {Web("w1", "a", kLow, 200), Web("w2", "b", kLow, 200)},
            .waiting = {{.name = "p",
                         .cpu = 500,
                         .priority = kHigh,
                         .rules = ApartInZone()}},
            .outcomes = {{"stop w1", "stop w2", "keep a for p"},
                         {"stop w1", "stop w2", "keep b for p"}},
            .later = {{.victims_end = true,
                       .outcomes = {{"start p on a"}, {"start p on b"}}}},
            .kubes = {kNothing},
            .why = "kube-scheduler looks for victims on the node that the pod "
                   "is to go to alone, so that it waits for good."}),
    testing::PrintToStringParamName());

}  // namespace
}  // namespace sluice
