// kube-scheduler's cases of what holds preemption back: disruption budgets,
// rules between pods, and pods that stop nobody
// (tests/unit/round/kube_preemption_test.cc says how they are written).

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/round/kube_preemption_cases.h"
#include "util/peer_builder.h"

namespace sluice {
namespace {

constexpr char kHostLabel[] = "kubernetes.io/hostname";

KubeNode Host(std::string name, std::string zone = "a") {
  const std::string host = name;
  return {.name = std::move(name),
          .labels = {{kHostLabel, host}, {"zone", std::move(zone)}}};
}
KubePod Protected(std::string name, int64_t cpu, int32_t priority,
                  std::string node, std::string app = "web") {
  return {.name = std::move(name),
          .cpu = cpu,
          .priority = priority,
          .node = std::move(node),
          .labels = {{"app", std::move(app)}}};
}
KubeBudget AtLeast(int64_t amount, std::string app = "web") {
  return {.pods = App(std::move(app)), .amount = amount};
}
KubeBudget Without(int64_t amount, std::string app = "web") {
  return {.pods = App(std::move(app)),
          .limit = DisruptionBudget::Limit::kMaxUnavailable,
          .amount = amount};
}

// The row with budgets that may be exceeded where nothing else helps.
KubeRow Breaking(KubeRow row, const char* name) {
  row.name = name;
  row.breaks_budgets = true;
  return row;
}
// The row with budgets that hold, where kube-scheduler exceeds them.
KubeRow Keeping(KubeRow row, const char* name,
                std::vector<Outcome> outcomes = {kNothing}) {
  row.name = name;
  row.breaks_budgets = false;
  row.kubes = row.outcomes;
  row.outcomes = std::move(outcomes);
  row.why =
      "To kube-scheduler a budget is a wish.  Here it holds unless the option "
      "says otherwise: the newcomer waits, the service that has the budget "
      "keeps the pods that it needs, and no eviction is asked for that the API "
      "server would refuse.";
  return row;
}

const KubeRow kMoreUrgentButFree = {
    .name = "RatherStopsTheMoreUrgentWhomNoBudgetMeans",
    .nodes = {{"n1"}},
    .running = {Protected("low1", 200, kLow, "n1"),
                Protected("low2", 200, kLow, "n1"),
                {"mid", 200, kMid, "n1"}},
    .budgets = {AtLeast(2)},
    .waiting = {{"p", 600, kHigh}},
    .outcomes = {{"stop mid", "keep n1 for p"}}};

const KubeRow kNodeWithoutBudget = {
    .name = "PrefersTheNodeThatNoBudgetMeans",
    .nodes = {{"n1"}, {"n2"}},
    .running = {Protected("low", 200, kLow, "n1"), {"mid", 200, kMid, "n2"}},
    .budgets = {AtLeast(2)},
    .waiting = {{"p", 1000, kHigh}},
    .outcomes = {{"stop mid", "keep n2 for p"}}};

const KubeRow kFewestBeyond = {
    .name = "PrefersTheNodeWhoseBudgetAllowsIt",
    .nodes = {{"n1"}, {"n2"}, {"n3"}},
    .running = {Protected("low1", 200, kLow, "n1", "db"),
                {"mid1", 200, kMid, "n1"},
                Protected("low2", 200, kLow, "n2"),
                Protected("mid2", 200, kMid, "n2"),
                Protected("low3", 200, kLow, "n3"),
                Protected("low4", 200, kLow, "n3"),
                Protected("low5", 200, kLow, "n3")},
    .budgets = {AtLeast(2, "db"), AtLeast(2)},
    .waiting = {{"p", 1000, kHigh}},
    .outcomes = {{"stop low3", "stop low4", "stop low5", "keep n3 for p"}}};

INSTANTIATE_TEST_SUITE_P(
    PDBInPreemption, KubePreemption,
    testing::Values(
        kMoreUrgentButFree,
        Breaking(kMoreUrgentButFree,
                 "RatherStopsTheMoreUrgentThanBreaksABudget"),
        kNodeWithoutBudget,
        Breaking(kNodeWithoutBudget, "PrefersTheNodeWhereNoBudgetIsBroken"),
        kFewestBeyond,
        Breaking(kFewestBeyond, "PrefersTheNodeWhereTheFewestBreakBudgets")),
    testing::PrintToStringParamName());

const KubeRow kBothOfOneBudget = {
    .name = "StopsTwoWhereTheBudgetAllowsOne",
    .nodes = {{"n1"}},
    .running = {Protected("v1", 400, kMid, "n1"),
                Protected("v2", 400, kMid, "n1")},
    .budgets = {Without(1)},
    .waiting = {{"p", 1000, kHigh}},
    .outcomes = {{"stop v1", "stop v2", "keep n1 for p"}},
    .breaks_budgets = true};

const KubeRow kEachNodeProtected = {
    .name = "StopsTheProtectedOfOneNode",
    .nodes = {{"n1"}, {"n2"}},
    .running = {Protected("v1", 900, kMid, "n1"),
                Protected("v2", 900, kMid, "n2")},
    .budgets = {Without(0)},
    .waiting = {{"p", 500, kHigh}},
    .outcomes = {{"stop v1", "keep n1 for p"}, {"stop v2", "keep n2 for p"}},
    .breaks_budgets = true};

const KubeRow kLeastUrgentBeyond = {
    .name = "StopsTheLeastUrgentWhereEachNodeBreaksOnce",
    .nodes = {{"n1"}, {"n2"}},
    .running = {{"free", 500, kHigh, "n1"},
                Protected("low", 500, kLow, "n1"),
                Protected("mid", 1000, kMid, "n2")},
    .budgets = {Without(0)},
    .waiting = {{"p", 1000, kTop}},
    .outcomes = {{"stop mid", "keep n2 for p"}},
    .breaks_budgets = true};

const KubeRow kLessUrgentProtected = {
    .name = "StopsTheLessUrgentOfTwoProtected",
    .nodes = {{"n1"}},
    .running = {Protected("low", 500, kLow, "n1"),
                Protected("mid", 500, kMid, "n1")},
    .budgets = {Without(0)},
    .waiting = {{"p", 500, kHigh}},
    .outcomes = {{"stop low", "keep n1 for p"}},
    .breaks_budgets = true};

const KubeRow kFewerBeyond = {.name = "BreaksABudgetOnceRatherThanTwice",
                              .nodes = {{"n1"}, {"n2"}},
                              .running = {Protected("low1", 500, kLow, "n1"),
                                          Protected("low2", 500, kLow, "n1"),
                                          Protected("mid", 1000, kMid, "n2")},
                              .budgets = {Without(0)},
                              .waiting = {{"p", 1000, kHigh}},
                              .outcomes = {{"stop mid", "keep n2 for p"}},
                              .breaks_budgets = true};

const KubeRow kPastCandidates = {
    .name = "FindsTheNodeThatNoBudgetMeans",
    .nodes = {{"n1"}, {"n2"}, {"n3"}, {"n4"}, {"n5"}},
    .running = {Protected("v1", 600, kMid, "n1"),
                Protected("v2", 600, kMid, "n2"),
                {"v3", 600, kMid, "n3"},
                {"v4", 600, kMid, "n4"},
                Protected("v5", 600, kMid, "n5")},
    .budgets = {Without(0)},
    .waiting = {{"p", 600, kHigh}},
    .outcomes = {{"stop v3", "keep n3 for p"}, {"stop v4", "keep n4 for p"}}};

const KubeRow kSpareOneOfTwo = {
    .name = "RatherStopsOneOfTheSamePriorityWhomNoBudgetMeans",
    .nodes = {{"n1"}},
    .running = {Protected("kept", 500, kLow, "n1"), {"free", 500, kLow, "n1"}},
    .budgets = {Without(0)},
    .waiting = {{"p", 500, kHigh}},
    .outcomes = {{"stop free", "keep n1 for p"}}};

// The budget allows one more, and no other has to be stopped.
const KubeRow kLeavesAlready = {.name = "DoesNotCountTwiceWhoLeavesAlready",
                                .nodes = {{"n1"}},
                                .running = {Protected("stays", 400, kMid, "n1"),
                                            {.name = "leaves",
                                             .cpu = 400,
                                             .priority = kMid,
                                             .node = "n1",
                                             .labels = {{"app", "web"}},
                                             .is_ending = true}},
                                .budgets = {Without(2)},
                                .waiting = {{"p", 1000, kHigh}},
                                .outcomes = {{"stop stays", "keep n1 for p"}}};

INSTANTIATE_TEST_SUITE_P(
    BudgetsOfDryRunPreemption, KubePreemption,
    testing::Values(
        kBothOfOneBudget,
        Keeping(kBothOfOneBudget, "KeepsBothWhereTheBudgetAllowsOne"),
        kEachNodeProtected,
        Keeping(kEachNodeProtected, "KeepsTheProtectedOfBothNodes"),
        kLeastUrgentBeyond,
        Keeping(kLeastUrgentBeyond, "KeepsTheProtectedOfEachPriority"),
        kLessUrgentProtected,
        Keeping(kLessUrgentProtected, "KeepsBothThatAreProtected"),
        kFewerBeyond, Keeping(kFewerBeyond, "KeepsWhomABudgetMeansOnce"),
        kPastCandidates,
        Breaking(kPastCandidates, "FindsTheNodeWhereNoBudgetIsBroken"),
        kSpareOneOfTwo,
        Breaking(kSpareOneOfTwo, "RatherStopsTheOneThatBreaksNoBudget"),
        kLeavesAlready, Breaking(kLeavesAlready, "CountsOnceWhoLeavesAlready")),
    testing::PrintToStringParamName());

PlacementRules Apart(TaskSelector from, std::string topology = kHostLabel) {
  return {.anti_affinity = {{std::move(from), std::move(topology)}}};
}

INSTANTIATE_TEST_SUITE_P(
    InterPodAffinity, KubePreemption,
    testing::Values(
        KubeRow{
            .name = "StopsWhomItKeepsAwayFromAndWhoKeepsAwayFromIt",
            .nodes = {Host("n1")},
            .running = {Protected("p0", 200, kMid, "n1", "p0"),
                        {.name = "p1",
                         .cpu = 200,
                         .node = "n1",
                         .labels = {{"app", "p1"}},
                         .rules = Apart(App("urgent"))}},
            .waiting = {{.name = "p",
                         .cpu = 200,
                         .priority = kHigh,
                         .labels = {{"app", "urgent"}},
                         .rules = Apart(App("p0"))}},
            .outcomes = {{"stop p0", "stop p1", "keep n1 for p"}},
            .later = {{.victims_end = true, .outcomes = {{"start p on n1"}}}}},
        KubeRow{.name = "StopsNobodyWhereOneThatStaysKeepsAwayFromIt",
                .nodes = {Host("n1")},
                .running = {Protected("p0", 200, kMid, "n1", "p0"),
                            {.name = "p1",
                             .cpu = 200,
                             .priority = kHigh,
                             .node = "n1",
                             .labels = {{"app", "p1"}},
                             .rules = Apart(App("urgent"))}},
                .waiting = {{.name = "p",
                             .cpu = 200,
                             .priority = kHigh,
                             .labels = {{"app", "urgent"}},
                             .rules = Apart(App("p0"))}},
                .outcomes = {kNothing}},
        KubeRow{.name = "StopsTheOneThatKeepsAwayAndNobodyElse",
                .nodes = {Host("n1"), Host("full")},
                .running = {{.name = "apart",
                             .cpu = 200,
                             .node = "n1",
                             .labels = {{"app", "web"}},
                             .rules = Apart(App("web"))},
                            {"mid", 200, kMid, "n1"},
                            {"high", 200, kHigh, "n1"},
                            {"v2", 1000, kHigh, "full"}},
                .waiting = {{.name = "p",
                             .cpu = 200,
                             .priority = kHigh,
                             .labels = {{"app", "web"}}}},
                .outcomes = {{"stop apart", "keep n1 for p"}}},
        // On the node of q there is no room even without it.
        KubeRow{
            .name = "StopsOneOnAnotherNodeOfTheZone",
            .nodes = {Host("n1"),
                      {.name = "small", .cpu = 200, .labels = {{"zone", "a"}}}},
            .running = {Protected("q", 200, kLow, "small")},
            .waiting = {{.name = "p",
                         .cpu = 500,
                         .priority = kHigh,
                         .rules = Apart(App("web"), "zone")}},
            .outcomes = {{"stop q", "keep n1 for p"}},
            .later = {{.victims_end = true, .outcomes = {{"start p on n1"}}}},
            .kubes = {kNothing},
            .why = "kube-scheduler looks for victims on one node (its page on "
                   "preemption has this case), so that p waits for good."},
        KubeRow{.name = "StopsForOneOfAKindInAZoneWithoutItsKind",
                .nodes = {Host("a1"), Host("a2"), Host("b1", "b")},
                .running = {{.name = "other",
                             .cpu = 100,
                             .priority = kTop,
                             .node = "a2",
                             .labels = {{"app", "web"}},
                             .rules = Apart(App("web"), "zone")},
                            {"low", 1000, kLow, "a1"},
                            {"mid", 1000, kMid, "b1"}},
                .waiting = {{.name = "p",
                             .cpu = 500,
                             .priority = kHigh,
                             .labels = {{"app", "web"}},
                             .rules = Apart(App("web"), "zone")}},
                .outcomes = {{"stop mid", "keep b1 for p"}}},
        KubeRow{
            .name = "StopsInTheZoneThatHasTheFewestOfItsKind",
            .nodes = {Host("a1"), Host("b1", "b"), Host("b2", "b")},
            .running = {Protected("other", 100, kTop, "a1"),
                        {"low", 900, kLow, "a1"},
                        {"mid", 1000, kMid, "b1"},
                        {"high", 1000, kHigh, "b2"}},
            .waiting = {{.name = "p",
                         .cpu = 500,
                         .priority = kHigh,
                         .labels = {{"app", "web"}},
                         .rules = {.spread = {Spread(App("web"), "zone")}}}},
            .outcomes = {{"stop mid", "keep b1 for p"}}},
        KubeRow{
            .name = "SparesTheCompanyThatTheNewcomerNeeds",
            .nodes = {Host("n1")},
            .running = {Protected("company", 500, kLow, "n1"),
                        {"other", 500, kMid, "n1"}},
            .waiting = {{.name = "p",
                         .cpu = 400,
                         .priority = kHigh,
                         .rules = {.affinity = {{App("web"), kHostLabel}}}}},
            .outcomes = {{"stop other", "keep n1 for p"}},
            .kubes = {kNothing},
            .why = "kube-scheduler first asks whether the newcomer fits "
                   "where all that is less urgent has left, and there its "
                   "company has left, too: it advises rules about pods of "
                   "the same priority.  Here the company stays and the "
                   "other leaves."},
        KubeRow{
            .name = "StopsNobodyWhereOnlyTheCompanyCouldLeave",
            .nodes = {Host("n1")},
            .running = {Protected("company", 800, kLow, "n1")},
            .waiting = {{.name = "p",
                         .cpu = 400,
                         .priority = kHigh,
                         .rules = {.affinity = {{App("web"), kHostLabel}}}}},
            .outcomes = {kNothing}}),
    testing::PrintToStringParamName());

INSTANTIATE_TEST_SUITE_P(
    NonPreemption, KubePreemption,
    testing::Values(
        KubeRow{.name = "StopsForAPodThatSaysNothing",
                .nodes = {{"n1"}},
                .running = {{"v", 800, kLow, "n1"}},
                .waiting = {{"p", 600, kHigh}},
                .outcomes = {{"stop v", "keep n1 for p"}}},
        KubeRow{
            .name = "StopsNobodyForAPodThatSaysNever",
            .nodes = {{"n1"}},
            .running = {{"v", 800, kLow, "n1"}},
            .waiting =
                {{.name = "p", .cpu = 600, .priority = kHigh, .rules = Meek()}},
            .outcomes = {kNothing}},
        KubeRow{.name = "StopsNobodyOnAnyNodeForAPodThatSaysNever",
                .nodes = {{"n1"}, {"n2"}, {"n3"}},
                .running = {{"v1a", 200, kLow, "n1"},
                            {"v1b", 200, kLow, "n1"},
                            {"v2", 600, kHigh, "n2"},
                            {"v3", 400, kMid, "n3"}},
                .waiting = {{.name = "p",
                             .cpu = 1000,
                             .priority = kHigh,
                             .rules = Meek()}},
                .outcomes = {kNothing}},
        KubeRow{.name = "StopsAPodThatSaysNever",
                .nodes = {{"n1"}},
                .running = {{.name = "v",
                             .cpu = 800,
                             .priority = kMid,
                             .node = "n1",
                             .rules = Meek()}},
                .waiting = {{"p", 600, kHigh}},
                .outcomes = {{"stop v", "keep n1 for p"}}},
        KubeRow{
            .name = "PlacesAPodThatSaysNeverBeforeTheLessUrgent",
            .nodes = {{"n1"}},
            .waiting =
                {{"less", 600, kMid},
                 {.name = "p", .cpu = 600, .priority = kHigh, .rules = Meek()}},
            .outcomes = {{"start p on n1"}}},
        KubeRow{
            .name = "PlacesTheLessUrgentWhereAPodThatSaysNeverDoesNotFit",
            .nodes = {{"n1"}},
            .running = {{"v", 800, kLow, "n1"}},
            .waiting =
                {{"less", 200, kMid},
                 {.name = "p", .cpu = 600, .priority = kHigh, .rules = Meek()}},
            .outcomes = {{"start less on n1"}}},
        KubeRow{.name = "StopsNobodyWherePreemptionIsOff",
                .nodes = {{"n1"}},
                .running = {{"v", 800, kLow, "n1"}},
                .waiting = {{"p", 600, kHigh}},
                .outcomes = {kNothing},
                .may_preempt = false}),
    testing::PrintToStringParamName());

PlacementRules Near(std::vector<TaskSelector> others, std::string topology) {
  PlacementRules rules;
  for (TaskSelector& one : others) {
    rules.affinity.push_back({std::move(one), topology});
  }
  return rules;
}

KubePod Company(std::string name, std::string node, int32_t priority = kTop) {
  return {.name = std::move(name),
          .cpu = 100,
          .priority = priority,
          .node = std::move(node),
          .labels = {{"app", "cache"}}};
}

// Rules that no packing heeds: one that has them takes part at a time.
INSTANTIATE_TEST_SUITE_P(
    RulesOverDomains, KubePreemption,
    testing::Values(
        KubeRow{
            .name = "StopsInTheZoneOfItsCompany",
            .nodes = {Host("n1"), Host("n2"), Host("b1", "b")},
            .running = {{"v", 1000, kLow, "n1"},
                        Company("cache", "n2"),
                        {"mid", 900, kTop, "n2"},
                        {"other", 1000, kLow, "b1"}},
            .waiting = {{.name = "p",
                         .cpu = 500,
                         .priority = kHigh,
                         .rules = Near({App("cache")}, "zone")}},
            .outcomes = {{"stop v", "keep n1 for p"}},
            .later = {{.victims_end = true, .outcomes = {{"start p on n1"}}}}},
        KubeRow{.name = "SparesItsCompanyInTheZone",
                .nodes = {Host("n1")},
                .running = {Company("cache", "n1", kLow),
                            {"mid", 400, kMid, "n1"},
                            {"top", 500, kTop, "n1"}},
                .waiting = {{.name = "p",
                             .cpu = 400,
                             .priority = kHigh,
                             .rules = Near({App("cache")}, "zone")}},
                .outcomes = {{"stop mid", "keep n1 for p"}}},
        KubeRow{.name = "StopsForTheFirstOfItsKind",
                .nodes = {Host("n1")},
                .running = {{"v", 1000, kLow, "n1"}},
                .waiting = {{.name = "p",
                             .cpu = 500,
                             .priority = kHigh,
                             .labels = {{"app", "web"}},
                             .rules = Near({App("web")}, "zone")}},
                .outcomes = {{"stop v", "keep n1 for p"}}},
        KubeRow{.name = "StopsInTheZoneWithoutThoseThatItKeepsAwayFrom",
                .nodes = {Host("a1"), Host("a2"), Host("b1", "b")},
                .running = {{.name = "web",
                             .cpu = 100,
                             .priority = kTop,
                             .node = "a1",
                             .labels = {{"app", "web"}}},
                            {"v", 1000, kMid, "b1"}},
                .waiting = {{.name = "p",
                             .cpu = 500,
                             .priority = kHigh,
                             .rules = Apart(App("web"), "zone")}},
                .outcomes = {{"stop v", "keep b1 for p"}}},
        KubeRow{
            .name = "StopsBesideTheOneThatBothItsTermsMean",
            .nodes = {Host("n1"), Host("n2")},
            .running = {{.name = "both",
                         .cpu = 200,
                         .priority = kTop,
                         .node = "n1",
                         .labels = {{"app", "cache"}, {"role", "db"}}},
                        {"v", 800, kLow, "n1"},
                        {"w", 1000, kLow, "n2"}},
            .waiting = {{.name = "p",
                         .cpu = 500,
                         .priority = kHigh,
                         .rules = Near({App("cache"),
                                        TasksWith({LabelIn("role", {"db"})})},
                                       kHostLabel)}},
            .outcomes = {{"stop v", "keep n1 for p"}}},
        KubeRow{
            .name = "StopsWhereASpreadOfOthersLetsIt",
            .nodes = {Host("a1"), Host("b1", "b")},
            .running = {Company("cache", "a1"),
                        {"v", 900, kLow, "a1"},
                        {"w", 1000, kLow, "b1"}},
            .waiting = {{.name = "p",
                         .cpu = 500,
                         .priority = kHigh,
                         .rules = {.spread = {Spread(App("cache"), "zone")}}}},
            .outcomes = {{"stop w", "keep b1 for p"},
                         {"stop v", "keep a1 for p"}}}),
    testing::PrintToStringParamName());

}  // namespace
}  // namespace sluice
